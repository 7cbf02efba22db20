#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/base/words.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/patch_contact.hpp"
#include "stiction/geometry/contact_surface.hpp"
#include "stiction/geometry/quadrature.hpp"
#include "stiction/plant/materials/materials.hpp"
#include "stiction/plant/mocap/mocap_motion.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/plant/patches/geom_body.hpp"
#include "stiction/plant/patches/patch_continuation.hpp"

namespace stiction::plant {

/// The gap between the bounding spheres of two geoms, or between a bounding sphere and a plane.
struct Gap {
  double distance = 0;     // < 0 if they overlap [m]
  math::Vec3 direction;    // unit, from the first towards the second geom
  bool is_behind = false;  // true if one geom is a plane and the other is entirely behind it
};

/// The contact surface of two geoms, for as long as both exist.
struct PatchPair {
  std::array<int, 2> geoms{};  // A, B
  int mujoco_pair = -1;        // the <pair> element of both, or -1
  mjContact contact{};         // MuJoCo's parameters of a contact of the two geoms
  geometry::SurfaceQuery query;

  // The members below describe the current step.
  geometry::ContactSurface surface;
  std::vector<geometry::QuadraturePoint> points;
  int source = -1;         // index of the patch in data->contact; -1: no contact
  int first_contact = -1;  // index of its first point in problem.contacts; -1: no dof moves it
  Gap gap;
  /// True if the geoms approach by more than half a compliant body's thickness within the step.
  bool is_thin = false;
  /// True if the overlap is deeper than the fields cover: the surface passes a medial axis, the
  /// force decreases with the depth, or it has reversed since the step before, which happens when
  /// one body passes the other's middle.
  bool is_deep = false;
  /// True if the overlap is deep and no step before is known, from which the force could go on.
  bool lacks_memory = false;
  /// True if the overlap is deep because the force has turned away from its first direction.
  bool turns = false;
  math::Vec3 normal;  // mean of the faces' normals, weighted by force
  /// The last patch before the force decreased; empty without DeepPatches::extend.
  PatchContinuation continuation;
  PatchPeak peak;                          // empty without DeepPatches::extend
  geometry::ContactSurface other_surface;  // scratch: the surface at a smaller depth
  bool is_continued = false;               // true if the surface is that of the continuation
  bool sleeps = false;                     // true if no body of the pair may move in this step
  bool slept = false;                      // sleeps, and touched when it fell asleep
};

/// Explains why two geoms touch in points although one of them takes part in pressure-field
/// contact, such as "geom 'a' has neither ...". Returns an empty text if they touch in patches, or
/// if neither takes part.
std::string explain_points(const mjModel* model, int geom1, const GeomBody& body1, int geom2,
                           const GeomBody& body2);

/// The pairs of geoms that touch in patches instead of points. The constructor reads the shapes of
/// the geoms from the model. Every step reads poses, friction and surface velocities, and
/// follow_model reads the collision filters.
///
/// In data->contact a patch is one contact of six components at the patch's center. It has the
/// whole wrench, so MuJoCo's sensors, viewer and mj_contactForce see it.
class ContactPatches {
 public:
  /// Makes the bodies of all geoms, and finds the pairs that touch in patches.
  /// @throws Error if the mesh or field of a geom cannot be made; see make_geom_body
  ContactPatches(const mjModel* model, const MaterialTable& materials,
                 const contact::SurfaceOptions& options);

  bool empty() const { return pairs_.empty(); }

  /// Finds the pairs again if MuJoCo's collision filters have changed since the last call; see
  /// PatchModel. Pairs that remain keep their memory. Call it before each step, before other
  /// functions of this class.
  /// @throws Error if the shape of a geom with a mesh has changed
  void follow_model(const mjModel* model);

  /// Computes all surfaces.
  /// @param data after mj_fwdKinematics
  void calc_surfaces(const mjModel* model, const mjData* data);
  /// Computes the surfaces of all pairs but those that sleep. These keep what they remember.
  /// @param data after mj_fwdKinematics
  /// @param sleep called with the bodies of a pair; true if the pair sleeps
  template <class Sleep>
  void calc_surfaces(const mjModel* model, const mjData* data, Sleep&& sleep) {
    for (PatchPair& pair : pairs_)
      pair.sleeps = sleep(model->geom_bodyid[pair.geoms[0]], model->geom_bodyid[pair.geoms[1]]);
    calc_surfaces(model, data);
  }
  /// Sets is_deep of the pairs whose patches are never continued, and whose force falls with the
  /// depth. Call it after calc_surfaces; it computes some surfaces a second time.
  /// @param data the poses of the surfaces
  void find_deep(const mjData* data);
  /// Sets the time at which the next step begins if it goes on [s]. It is the sum of the time of
  /// the last call of calc_surfaces and the time step, unless this is called.
  void end_at(double time) { next_time_ = time; }
  /// Calls f(bodies) for the pairs that touch, of those that `wants` chooses by their bodies.
  /// @param data after mj_fwdKinematics
  template <class Wants, class F>
  void for_each_touch(const mjModel* model, const mjData* data, Wants&& wants, F&& f) {
    for (PatchPair& pair : pairs_) {
      const std::array<int, 2> bodies = {model->geom_bodyid[pair.geoms[0]],
                                         model->geom_bodyid[pair.geoms[1]]};
      if (wants(bodies[0], bodies[1]) && touch(model, data, &pair)) f(bodies);
    }
  }

  /// Replaces the contact points of these pairs in data->contact by patches.
  /// @param data after mj_collision; see MuJoCoGuard for errors
  void add_to_data(const mjModel* model, mjData* data);

  /// Sets is_thin of all pairs, see PatchPair.
  /// @param data after mj_fwdVelocity
  /// @param mocap velocities of mocap bodies
  void find_thin(const mjModel* model, const mjData* data, const MocapMotion& mocap);

  /// Appends the patches' points to the problem. Contact::source is the index of the patch in
  /// data->contact, and Contact::face is the index of the face in its surface.
  void add_contacts(const mjModel* model, const mjData* data, const Model& plant,
                    const MaterialTable& materials, const MocapMotion& mocap,
                    contact::ContactProblem* problem);

  /// Updates PatchPair::source after contacts were removed from data->contact.
  /// @param index the new index of each contact
  void renumber(std::span<const int> index);

  /// Appends what a step remembers of the one before: the normals of the patches, by which
  /// PatchPair tells that a force has reversed, and their continuations. The words do not say to
  /// which mjData they belong: after read_memory they belong to those of the next step.
  void write_memory(base::WordWriter* words) const;
  /// @throws Error if the words are not those of write_memory
  void read_memory(base::WordReader* words);

  std::span<const PatchPair> pairs() const { return pairs_; }
  /// One flag per geom: 1 if all of its contacts are patches, so that MuJoCo need not collide it.
  std::span<const std::uint8_t> touches_only_in_patches() const { return touches_only_in_patches_; }

  const GeomBody& body(int geom) const { return bodies_[geom]; }

 private:
  bool touch(const mjModel* m, const mjData* d, PatchPair* pair) const;
  PatchContinuation::Pair find_poses(const mjData* d, const PatchPair& pair) const;
  std::vector<PatchPair> find_pairs(const mjModel* m) const;
  void find_patch_geoms(const mjModel* m);
  bool is_pair(int geom1, int geom2) const;
  Gap calc_gap(const mjData* d, int geom1, int geom2) const;
  void calc_surface(const mjData* d, PatchPair* pair);
  void calc_fields(const PatchContinuation::Pair& bodies, geometry::SurfaceQuery* query,
                   geometry::ContactSurface* surface) const;
  void continue_patch(const PatchContinuation::Pair& bodies, PatchPair* pair) const;
  bool falls_with_depth(double force, const PatchContinuation::Pair& bodies, PatchPair* pair) const;
  bool starts_deep(const PatchContinuation& continuation, double force,
                   const PatchContinuation::Pair& bodies, PatchPair* pair) const;
  bool extend_last(double field, const PatchContinuation::Pair& bodies, PatchPair* pair) const;
  double calc_closing_speed(const mjModel* m, const mjData* d, const MocapMotion& mocap,
                            const PatchPair& pair) const;
  void remove_points(mjData* d) const;

  contact::SurfaceOptions options_;
  std::vector<GeomBody> bodies_;  // one per geom
  PatchModel values_;             // values of the model that bodies_ and pairs_ are made from
  std::vector<PatchPair> pairs_;  // in ascending order of geoms
  std::vector<std::uint8_t> touches_only_in_patches_;
  double next_time_ = 0;  // time at which the next step starts if the simulation continues [s]
  const mjData* memory_of_ = nullptr;  // the data of the last step; null: those of the next step
};

}  // namespace stiction::plant
