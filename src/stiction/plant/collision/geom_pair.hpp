#pragma once

#include <memory>
#include <string>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// The contact that MuJoCo makes when two geoms touch. It does not depend on their present poses.
struct GeomPair {
  bool collides = false;
  std::string reason;   // why they collide, or why they do not
  mjContact contact{};  // if they collide: friction, dim, solref, solimp, includemargin and geoms
  int pair = -1;        // their <pair> element, or -1
};

/// Collides pairs of geoms with MuJoCo's own collision, so that its filters and combination rules
/// are not implemented twice. It uses a copy of the model in which both geoms are spheres at the
/// same place.
class GeomPairProbe {
 public:
  /// Copies the model.
  /// @throws Error if MuJoCo raises an error
  explicit GeomPairProbe(const mjModel* model);
  ~GeomPairProbe();
  GeomPairProbe(const GeomPairProbe&) = delete;
  GeomPairProbe& operator=(const GeomPairProbe&) = delete;

  /// Collides two geoms.
  /// @param geom1, geom2 ids, in any order
  /// @throws Error if MuJoCo raises an error
  GeomPair probe(int geom1, int geom2);

 private:
  struct Copy;
  const mjModel* model_;
  std::unique_ptr<Copy> copy_;
};

/// Collides two geoms once; see GeomPairProbe.
GeomPair probe_geom_pair(const mjModel* model, int geom1, int geom2);

}  // namespace stiction::plant
