#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/mocap/body_velocities.hpp"
#include "stiction/plant/repairs/collision_repair.hpp"

namespace stiction::plant {

/// How two geoms meet on their motion through a step.
enum class Meeting {
  kAsListed,   // with the normals of their contacts at the start
  kOtherwise,  // with other normals, see TouchPrediction::contacts
  kNone,       // they pass each other
};

/// Finds the contacts with which two geoms really meet. A contact of geoms that are apart has the
/// normal of their nearest points at the start of the step. Bodies that also move across this
/// normal may meet with another one, or not at all: a box that slides to the next of two flush
/// tiles is near the side of this tile and meets its top.
///
/// The search moves both bodies with constant velocities to the time at which the first contact
/// overlaps by the slop, and collides the geoms there. It goes on while they are still apart. Two
/// geoms whose overlap across a normal is below the slop then have another normal, along which they
/// overlap less. Contacts are carried back to the start of the step: a contact with the distance
/// phi and the normal velocity v_n at the time t has the distance phi - t v_n there, and its point
/// is at the material points of both bodies that touch (contact_marks.hpp, Carried).
class TouchPrediction {
 public:
  /// Bodies that overlap by less than this across the normal do not meet along it [m].
  static constexpr double kSlop = 2e-4;
  /// The same for small geoms, as a share of the smaller one's bounding radius.
  static constexpr double kRelativeSlop = 0.02;

  TouchPrediction();

  /// Predicts how two geoms meet. Call it inside a MuJoCoGuard.
  /// @param model   the model with which the geoms were collided
  /// @param data    restored before this returns
  /// @param listed  the consecutive contacts of the geoms in data->contact
  /// @param horizon time within which the contacts act [s]
  /// @param repair  corrects the contacts found
  /// @param has_constraints  true: the data's arena has constraints, so that no contact can be
  ///     corrected; those with a wrong normal do not count
  Meeting predict(const mjModel* model, mjData* data, std::span<const mjContact> listed,
                  const BodyVelocities& velocities, double horizon, CollisionRepair* repair,
                  bool has_constraints);
  /// True if a listed contact of the last call closes within the horizon, if only its own normal
  /// counts, and even if its bodies turn together and therefore part.
  bool closes(const mjContact& listed) const;
  /// True if bodies move at a listed contact of the last call, and hardly turn. If they do not meet
  /// along its normal, it does not act even if it is closed: the side of the next tile, over which
  /// a body slides, is such a contact.
  bool passes(const mjContact& listed) const;
  /// The contacts with which they meet, carried back to the start, if it is kOtherwise.
  std::span<const mjContact> contacts() const { return hits_; }

 private:
  /// The rigid motion of a geom: its body's center moves along a line and turns about a fixed axis.
  struct Motion {
    int geom = -1;
    double position[3] = {}, rotation[9] = {};  // of the geom at the start
    double center[3] = {}, v[3] = {}, w[3] = {};
    double turn[9] = {};  // from the start to the present pose, if its time is above 0
    void calc_velocity(const double point[3], double time, double out[3]) const;
  };
  /// A contact that closes.
  struct Closing {
    double time = 0;   // [s]
    double speed = 0;  // [m/s]
    double normal[3] = {};
  };
  /// The end of the second body's motion along a normal, with which the bodies met.
  struct Stop {
    double time = 0;  // [s]
    double v_n = 0;   // until then [m/s]
    double normal[3] = {};
  };
  void start(const mjModel* m, const mjData* d, const mjContact& con,
             const BodyVelocities& velocities);
  bool may_meet(const mjModel* m, const mjContact& con) const;
  void place(mjData* d, double time, const double* probe);
  bool collide(const mjModel* m, mjData* d, const mjContact& like, CollisionRepair* repair,
               bool has_constraints);
  bool find_first(std::span<const mjContact> contacts, bool takes_closed, Closing* first) const;
  void remove_unsupported(std::span<const mjContact> listed, double slop);
  double calc_parting() const;
  double calc_arc(const mjContact& from, double time) const;
  double calc_speed(const mjContact& con) const;
  bool is_hit() const;
  bool continues(const mjContact& con, const mjContact& listed) const;
  bool take_hits(std::span<const mjContact> listed, bool takes_all);
  void keep_others(std::span<const mjContact> listed);
  bool meets_as(std::span<const mjContact> listed) const;
  void calc_relative_velocity(const mjContact& con, double time, double out[3]) const;
  double calc_free_velocity(const mjContact& con, double time) const;
  double calc_normal_velocity(const mjContact& con, double time) const;
  mjContact carry_back(const mjContact& con) const;

  Motion motions_[2];
  double slop_ = 0;               // [m]
  double horizon_ = 0;            // [s]
  double time_ = 0;               // of the present pose [s]
  double probe_[3] = {};          // displacement of the second geom beyond its motion [m]
  double parting_ = 0;            // see calc_parting [m/s]
  double travel_ = 0;             // approach that counts as none [m/s]
  std::vector<mjContact> found_;  // at the present pose
  std::vector<mjContact> hits_;   // at the start
  std::vector<Stop> stops_;
  std::vector<std::uint8_t> is_met_;  // one per listed contact
};

}  // namespace stiction::plant
