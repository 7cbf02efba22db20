#pragma once

#include <memory>
#include <string>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// What MuJoCo makes of two geoms that touch, wherever they are now.
struct GeomPair {
  bool collides = false;
  std::string reason;   // why they do, or do not
  mjContact contact{};  // if they do: friction, dim, solref, solimp, includemargin and geoms
  int pair = -1;        // the <pair> element that they have, if any
};

/// Asks MuJoCo's own collision, of a copy of the model in which both geoms are spheres at one
/// place, so that its filters and rules of combination need not be written down a second time.
class GeomPairProbe {
 public:
  /// @throws Error if MuJoCo raises one, as does probe
  explicit GeomPairProbe(const mjModel* model);
  ~GeomPairProbe();
  GeomPairProbe(const GeomPairProbe&) = delete;
  GeomPairProbe& operator=(const GeomPairProbe&) = delete;

  /// @param geom1, geom2 ids, in any order
  GeomPair probe(int geom1, int geom2);

 private:
  struct Copy;
  const mjModel* model_;
  std::unique_ptr<Copy> copy_;
};

/// The same for one pair.
GeomPair probe_geom_pair(const mjModel* model, int geom1, int geom2);

}  // namespace stiction::plant
