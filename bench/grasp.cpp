#include "grasp.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <Eigen/Geometry>

namespace stiction::bench {
namespace {

using contact::ContactProblem;
using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double kSide = 0.1, kTimeStep = 1e-3, kGravity = 9.81, kSqueeze = 200, kMass = 1;
// These values are the published ones: the inertia of a gripper is that of a cube of 1 m.
constexpr double kGripperInertia = 1.0 / 6, kBlockInertia = 1.0 / 600;

bool is_gripper(int body) { return body == 0 || body == Grasp::kNumBodies - 1; }

std::array<double, 3> to_array(const Vector3d& p) { return {p.x(), p.y(), p.z()}; }

}  // namespace

Grasp::Grasp(bool has_gripper_joint) : has_gripper_joint_(has_gripper_joint), v_(kNumDofs, 0.0) {
  for (int body = 0; body < kNumBodies; ++body) {
    x_[body] = Vector3d((body - 0.5 * (kNumBodies - 1)) * kSide, 0, 0);
    R_[body].setIdentity();
  }
}

ContactProblem Grasp::make_problem() const {
  ContactProblem problem;
  problem.clear(kTimeStep);
  add_bodies(&problem);
  for (int a = 0; a + 1 < kNumBodies; ++a) add_contacts(a, &problem);
  if (has_gripper_joint_) add_joint(&problem);
  return problem;
}

void Grasp::add_bodies(ContactProblem* problem) const {
  for (int body = 0; body < kNumBodies; ++body) {
    double* A = problem->diagonal(problem->add_rigid_body());
    for (int i = 0; i < 6; ++i)
      A[7 * i] = i >= 3 ? kMass : is_gripper(body) ? kGripperInertia : kBlockInertia;
    double* impulse = problem->free_impulse.data() + 6 * body + 3;
    if (is_gripper(body))
      impulse[0] = (body == 0 ? 1 : -1) * kSqueeze * kTimeStep;
    else
      impulse[2] = -kMass * kGravity * kTimeStep;
  }
  problem->v0 = v_;
}

/// Adds the contacts between bodies a and a + 1.
void Grasp::add_contacts(int a, ContactProblem* problem) const {
  const int b = a + 1;
  const Vector3d origin = (x_[a] + x_[b]) / 2;
  contact::BodyPair pair;
  pair.origin = to_array(origin);
  pair.first_segment = static_cast<int>(problem->segments.size());
  pair.num_segments = 2;
  pair.first_contact = problem->num_contacts();
  for (const auto& [body, sign] : {std::pair(a, -1.0), std::pair(b, 1.0)}) {
    contact::Segment segment;
    segment.block = body;
    segment.is_rigid_body = true;
    segment.sign = sign;
    segment.offset = to_array(origin - x_[body]);
    problem->segments.push_back(segment);
  }
  const Vector3d normal = R_[a].col(0), t1 = R_[a].col(1), t2 = R_[a].col(2);
  for (int side = 0; side < 2; ++side)
    for (const auto& [y, z] : {std::pair(-1, -1), std::pair(-1, -1), std::pair(-1, 1),
                               std::pair(1, -1), std::pair(1, 1), std::pair(1, 1)}) {
      const Vector3d p_A = x_[a] + R_[a] * Vector3d(kSide / 2, y * kSide / 2, z * kSide / 2);
      const Vector3d p_B = x_[b] + R_[b] * Vector3d(-kSide / 2, y * kSide / 2, z * kSide / 2);
      contact::Contact c;
      for (int r = 0; r < 3; ++r) {
        c.R_WC[r] = t1[r];
        c.R_WC[3 + r] = t2[r];
        c.R_WC[6 + r] = normal[r];
      }
      c.offset = to_array((p_A + p_B) / 2 - origin);
      c.phi0 = normal.dot(p_B - p_A);
      c.friction = {1, 1, 0, 0, 0};
      c.id = problem->contacts.size() + 1;
      problem->contacts.push_back(c);
      ++pair.num_contacts;
    }
  problem->pairs.push_back(pair);
}

/// Adds the joint: the last body neither moves perpendicular to x nor rotates relative to the
/// first.
void Grasp::add_joint(ContactProblem* problem) const {
  constexpr int kLast = kNumBodies - 1;
  const Vector3d apart = x_[kLast] - x_[0];
  const auto add_row = [&](const Vector3d& w_0, const Vector3d& v, const Vector3d& w_last,
                           double position) {
    contact::Row row;
    row.kind = contact::RowKind::kEquality;
    row.regularization = 1e-9;  // Rigid models ignore it.
    row.first_column = static_cast<int>(problem->row_dof.size());
    row.num_columns = 12;
    row.source = problem->num_rows();
    row.position = position;
    for (const auto& [body, w, sign] : {std::tuple(0, w_0, -1.0), std::tuple(kLast, w_last, 1.0)})
      for (int i = 0; i < 6; ++i) {
        problem->row_dof.push_back(6 * body + i);
        problem->row_columns.push_back(i < 3 ? w[i] : sign * v[i - 3]);
      }
    problem->rows.push_back(row);
  };
  for (const int axis : {1, 2}) {
    const Vector3d d = R_[0].col(axis);
    add_row(-apart.cross(d), d, Vector3d::Zero(), d.dot(apart));
  }
  const Matrix3d turn = R_[kLast] * R_[0].transpose();
  for (int axis = 0; axis < 3; ++axis) {
    const int j = (axis + 1) % 3, k = (axis + 2) % 3;
    add_row(-Vector3d::Unit(axis), Vector3d::Zero(), Vector3d::Unit(axis),
            (turn(k, j) - turn(j, k)) / 2);
  }
}

void Grasp::advance(std::span<const double> v) {
  v_.assign(v.begin(), v.end());
  for (int body = 0; body < kNumBodies; ++body) {
    const Eigen::Map<const Vector3d> w(v_.data() + 6 * body), v_body(v_.data() + 6 * body + 3);
    x_[body] += kTimeStep * v_body;
    if (const double speed = w.norm(); speed > 0)
      R_[body] = Eigen::AngleAxisd(kTimeStep * speed, w / speed) * R_[body];
  }
}

double Grasp::calc_slip() const {
  return std::max(std::abs(x_[1].z() - x_[0].z()), std::abs(x_[2].z() - x_[3].z()));
}

}  // namespace stiction::bench
