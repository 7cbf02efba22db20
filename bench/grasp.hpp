#pragma once

#include <array>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "stiction/contact/contact_problem.hpp"

namespace stiction::bench {

/// Two blocks in a row along x, held by friction between two grippers: gripper, block, block,
/// gripper. Each corner of a face meets the two triangles of the other's, those on its diagonal
/// twice, and this from both sides: 12 contacts an interface. Velocities are [w; v] of each body.
/// Source: [drumwright2015]; the same scene as the study `grasp`.
class Grasp {
 public:
  static constexpr int kNumBodies = 4, kNumDofs = 6 * kNumBodies;

  /// At rest, faces touching. The joint between the grippers is prismatic along x.
  explicit Grasp(bool has_gripper_joint);

  /// The step that begins at the present state; mu = 1.
  contact::ContactProblem make_problem() const;
  /// Moves on with v for one step. Contacts stay where they are on both of their bodies.
  void advance(std::span<const double> v);

  /// The farthest that a block has gone down against its gripper [m].
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
