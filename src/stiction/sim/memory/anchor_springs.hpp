#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/base/words.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/math/vec3.hpp"
#include "stiction/plant/shapes/surface_motion.hpp"
#include "stiction/sim/memory/creep.hpp"
#include "stiction/sim/memory/joint_anchors.hpp"

namespace stiction::sim {

/// A contact at the start of a step, with its stretch at the end of that step.
struct AnchorPoint {
  math::Vec3 position{};      // world [m]
  math::Vec3 normal{};        // from A into B
  math::Vec3 tangent{};       // the first one of the contact's frame
  math::Vec3 stretch{};       // in the tangent plane, of B relative to A [m]
  math::Vec3 twist{};         // torsion about the normal and rolling [rad]
  math::Vec3 force{};         // of the stretched spring on B at the end of the step [N]
  math::Vec3 displacement{};  // dt v_t of the step, without moving surfaces [m]
  double stiffness = 0;       // k_t [N/m]; of a face: per area [Pa/m]
  double area = 1;            // of a face [m^2]; 1 for a point
  std::uint64_t feature = 0;  // the elements that meet in a face; 0 for a point
  bool slips = false;
  /// True if the slip of the contact is not the motion of the bodies alone, but also that of a
  /// surface.
  bool surface_moves = false;
  /// The way that the contact has slipped since it last stuck [m], and true if that is so far that
  /// its friction is the dynamic one. Both are 0 where static friction is no larger.
  double slip = 0;
  bool yields = false;
};

/// Returns the feature of the first point of the face in which two elements meet.
/// @param element_A, element_B -1 for a body without elements
std::uint64_t make_feature(int element_A, int element_B);
/// Returns the feature of the next point of the same face.
inline std::uint64_t next_feature(std::uint64_t feature) { return feature + 1; }
/// True if both are features of points of the same face.
bool is_same_face(std::uint64_t feature1, std::uint64_t feature2);
/// Returns the elements that meet in the face of a feature; -1 for a point, and for a body without
/// elements.
std::array<int, 2> find_elements(std::uint64_t feature);

/// The points of two geoms.
struct AnchorPair {
  std::array<int, 2> geoms{};
  std::array<plant::BodyPose, 2> poses{};  // of the geoms' bodies at the start of the step
  double dt = 0;                           // of the step [s]
  int first_point = 0;
  int num_points = 0;
  double energy = 0;         // of the springs at the end of the step [J]
  double spare = 0;          // energy that AnchorSharing has kept for these geoms [J]
  math::Vec3 arc{};          // the way of B on A beyond dt v that the step expected [m]
  math::Vec3 arc_of_last{};  // that of the step before, as poses told it, over dt^2 [m/s^2]
  double static_ratio = 1;   // static over dynamic friction in the step, >= 1; not remembered
};

/// The anchors of a step.
struct AnchorStep {
  std::vector<AnchorPair> pairs;
  std::vector<AnchorPoint> points;

  void clear();
  void reserve(int num_points);
  std::span<const AnchorPoint> points_of(const AnchorPair& pair) const {
    return std::span(points).subspan(pair.first_point, pair.num_points);
  }
  /// Appends a pair of another step.
  void copy(const AnchorPair& pair, const AnchorStep& from);
};

/// The anchors that the next step goes on with. Their pairs are sorted by their geoms.
struct AnchorMemory {
  AnchorStep step;
  std::uint64_t end = 0;  // hash of the state at the end of the step; 0: none
  bool is_moved = false;  // bodies have been moved at the end, beyond what their velocities tell
  CreepWatch creep;
  std::vector<JointAnchor> joints;  // sorted by their keys

  void write(base::WordWriter* words) const;
  /// Reads the words of write.
  /// @throws Error if they are others; the memory is then undefined
  void read(const mjModel* model, base::WordReader* words);
};

struct AnchorPoint;

/// The stiffness of the springs of two geoms' contacts relative to their k_t, which is (mu_i /
/// mu)^2 for each component, where mu is the largest coefficient. The two components along the
/// surface, or of rolling, are along the tangents of the contact. Only MuJoCo's pairs can have
/// unequal coefficients there.
struct SpringRatios {
  SpringRatios() = default;
  explicit SpringRatios(const contact::Contact& contact);
  /// Returns the force of a spring with k_t = 1 for a stretch in the tangent plane.
  math::Vec3 apply_to_stretch(const math::Vec3& stretch, const AnchorPoint& point) const;
  /// Returns the torque of a spring with k_t = 1 for a twist.
  math::Vec3 apply_to_twist(const math::Vec3& twist, const AnchorPoint& point) const;

  std::array<double, 2> sliding{1, 1};  // [-]
  double torsion = 0;                   // [m^2]
  std::array<double, 2> rolling{};      // [m^2]
};

/// Returns the largest friction coefficient [-]; torsion and rolling count at a radius of one
/// meter.
double find_largest_friction(const contact::Contact& contact);

/// Returns the energy of the springs of a contact [J].
double calc_energy(const AnchorPoint& point, const SpringRatios& ratios);

/// Shares the force of anchors among contacts of the same two geoms, because MuJoCo lists other
/// contact points in this step than in the last one.
///
/// The contacts get the forces and torques that have the force and the moment of the anchors, or
/// are nearest to them, and the least sum of f_i^2 / weight_i. With the friction that a contact can
/// bear as its weight, the contacts bear equal shares of it, so that none yields while another
/// could hold.
///
/// The energy of the springs never grows. Energy that the new springs do not need is kept for
/// later: with the same force, four springs need less than three. Without it the force would be cut
/// each time that three follow four, and the bodies would creep. Source: [theory:anchors].
class AnchorSharing {
 public:
  /// Makes room for this many contacts.
  void reserve(int num_contacts) { takers_.reserve(num_contacts); }
  /// Begins with two geoms.
  void start(const SpringRatios& ratios);

  /// Adds an anchor whose force is shared, and forgets its stretch there.
  void release(AnchorPoint* point);
  /// Adds a contact that takes a share, besides what it holds already.
  /// @param point must last until solve
  void take(AnchorPoint* point, double weight);
  /// Stretches the springs of the contacts.
  /// @param spare energy that is at hand besides that of the anchors [J]
  /// @return what is left of both [J]
  double solve(double spare);
  /// Returns the force of the anchors that the contacts have not got, also for want of energy [N].
  /// A moment counts by the force that it has at the contacts.
  double lost_force() const { return lost_force_; }

 private:
  static constexpr int kSize = 6;
  using Wrench = std::array<double, kSize>;  // force and moment about the origin [N, N m]
  /// A contact that takes a share.
  struct Taker {
    AnchorPoint* point;
    double weight;
  };
  /// The change of a contact's springs.
  struct Change {
    math::Vec3 stretch, twist;  // [m], [rad]
  };

  Wrench make_wrench(const math::Vec3& position, const math::Vec3& force,
                     const math::Vec3& torque) const;
  /// Computes solution_.
  void solve_for_wrench();
  Change calc_change(const Taker& taker) const;
  /// Returns the distance of the contacts from the origin at which their force has the moment that
  /// they resist [m].
  double calc_lever() const;

  SpringRatios ratios_;
  bool has_origin_ = false;
  math::Vec3 origin_;                       // the first anchor [m]
  Wrench released_{};                       // of the anchors
  double energy_ = 0;                       // of the anchors [J]
  std::array<Wrench, kSize> resistance_{};  // wrench of the contacts per unit of solution_
  /// Per weight, a contact gets ratios_ of the tangential part of
  /// solution_[0..2] + solution_[3..5] x r as its force, and ratios_ of solution_[3..5] as its
  /// torque.
  std::array<double, kSize> solution_{};
  double lost_force_ = 0;
  std::vector<Taker> takers_;
};

}  // namespace stiction::sim
