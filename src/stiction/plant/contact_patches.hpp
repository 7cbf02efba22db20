#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/surface_options.hpp"
#include "stiction/geometry/contact_surface.hpp"
#include "stiction/geometry/quadrature.hpp"
#include "stiction/plant/geom_body.hpp"
#include "stiction/plant/materials.hpp"
#include "stiction/plant/model.hpp"

namespace stiction::plant {

/// Between the bounding spheres of two geoms, or one and a plane.
struct Gap {
  double distance = 0;     // < 0 where they overlap [m]
  math::Vec3 direction;    // unit, from the first towards the second
  bool is_behind = false;  // the one is wholly behind the other, a plane
};

/// The contact surface of two geoms, for as long as both exist.
struct PatchPair {
  std::array<int, 2> geoms{};  // A, B
  int mujoco_pair = -1;        // the <pair> element of both, or -1
  mjContact contact{};         // what MuJoCo makes of the two geoms
  geometry::SurfaceQuery query;
  // Of the current step.
  geometry::ContactSurface surface;
  std::vector<geometry::QuadraturePoint> points;
  int source = -1;     // of the patch in data->contact; -1: no contact
  int first_row = -1;  // of its points among the problem's contacts; -1: no dof moves it
  Gap gap;
  /// Comes nearer by more than half a compliant body's thickness within the step.
  bool is_thin = false;
  /// The overlap passes a medial axis: by the surface itself, or because the force has turned about
  /// since the step before, as it does when one body has gone through the other's middle.
  bool is_deep = false;
  math::Vec3 normal;  // mean, by force
};

/// Why two geoms, one of which takes part in pressure-field contact, touch in points: "geom 'a' has
/// neither ...". Empty if they touch in patches, or if neither takes part.
std::string explain_points(const mjModel* model, int geom1, const GeomBody& body1, int geom2,
                           const GeomBody& body2);

/// Pairs of geoms that touch in patches in place of points. The geoms' shapes and the filters of
/// collision are those of the model when this is made; poses, friction and surface velocities are
/// read in every step.
///
/// In data->contact a patch is one contact of six components at its center, which carries the whole
/// wrench, so that MuJoCo's sensors, viewer and mj_contactForce see it.
class ContactPatches {
 public:
  /// @throws Error for a geom whose shape cannot be had; see make_geom_body
  ContactPatches(const mjModel* model, const MaterialTable& materials,
                 const contact::SurfaceOptions& options);

  bool empty() const { return pairs_.empty(); }

  /// Computes all surfaces.
  /// @param data after mj_fwdKinematics
  void calc_surfaces(const mjModel* model, const mjData* data);

  /// Puts patches into data->contact in place of these geoms' points.
  /// @param data after mj_collision; see MuJoCoGuard for errors
  void add_to_data(const mjModel* model, mjData* data);

  /// Marks pairs that come nearer by more than half a compliant body's thickness within the step.
  /// @param data after mj_fwdVelocity
  void find_thin(const mjModel* model, const mjData* data);

  /// Appends the patches' points to the problem. Contact::source is the patch's index in
  /// data->contact, Contact::face that of the face in its surface.
  void add_contacts(const mjModel* model, const mjData* data, const Model& plant,
                    const MaterialTable& materials, contact::ContactProblem* problem);

  /// After contacts of lower index left data->contact.
  /// @param index the new index of each contact
  void renumber(std::span<const int> index);

  std::span<const PatchPair> pairs() const { return pairs_; }
  /// Of each geom, 1 if all that it can touch are patches: MuJoCo need not collide it.
  std::span<const std::uint8_t> is_left_to_us() const { return is_left_to_us_; }

  const GeomBody& body(int geom) const { return bodies_[geom]; }

 private:
  void find_pairs(const mjModel* m);
  bool is_pair(int geom1, int geom2) const;
  Gap calc_gap(const mjData* d, int geom1, int geom2) const;
  double calc_closing_speed(const mjModel* m, const mjData* d, const PatchPair& pair) const;
  void remove_points(mjData* d) const;

  contact::SurfaceOptions options_;
  std::vector<GeomBody> bodies_;  // of each geom
  std::vector<PatchPair> pairs_;  // in ascending order of geoms
  std::vector<std::uint8_t> is_left_to_us_;
  double next_time_ = 0;  // of the step after this one, if the simulation goes on
};

}  // namespace stiction::plant
