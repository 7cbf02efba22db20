#pragma once

#include <array>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "stiction/contact/contact_problem.hpp"

namespace stiction::bench {

/// Two blocks in a row along x that friction holds between two grippers: gripper, block, block,
/// gripper. Each face consists of two triangles. Each corner of a face has a contact with every
/// triangle of the other face that it touches, so corners on the diagonal have two. With both faces
/// this gives 12 contacts per interface. Velocities are [w; v] of each body. Source:
/// [drumwright2015]; the study `grasp` has the same scene.
class Grasp {
 public:
  static constexpr int kNumBodies = 4, kNumDofs = 6 * kNumBodies;

  /// Starts at rest with touching faces. The joint between the grippers is prismatic along x.
  explicit Grasp(bool has_gripper_joint);

  /// Makes the problem of a step from the present state, with mu = 1.
  contact::ContactProblem make_problem() const;
  /// Advances the bodies with velocity v for one step. Contact points stay fixed on both bodies.
  void advance(std::span<const double> v);

  /// The largest vertical displacement of a block relative to its gripper [m].
  double calc_slip() const;

 private:
  void add_bodies(contact::ContactProblem* problem) const;
  void add_contacts(int a, contact::ContactProblem* problem) const;
  void add_joint(contact::ContactProblem* problem) const;

  const bool has_gripper_joint_;
  std::array<Eigen::Vector3d, kNumBodies> x_;
  std::array<Eigen::Matrix3d, kNumBodies> R_;
  std::vector<double> v_;
};

}  // namespace stiction::bench
