#pragma once

#include <array>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// Describes an element by its kind and its name or id, such as "geom 'ball'" or "geom 3".
/// @param name may be null or empty
std::string describe(mjtObj type, int id, const char* name);

/// The names of the bodies, joints and geoms of a model, for texts that may be written after the
/// end of the model.
class ElementNames {
 public:
  explicit ElementNames(const mjModel* model);

  /// Does the same as describe(model, type, id) with the model.
  std::string describe(mjtObj type, int id) const;

 private:
  struct Kind {
    mjtObj type;
    std::vector<std::string> names;
  };
  std::array<Kind, 3> kinds_;
};

}  // namespace stiction::plant
