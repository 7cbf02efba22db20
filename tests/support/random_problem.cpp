#include "support/random_problem.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "stiction/contact/momentum_factor.hpp"

namespace stiction::support {
namespace {

using contact::BodyPair;
using contact::Contact;
using contact::ContactProblem;
using contact::Row;
using contact::RowKind;
using contact::Segment;
using Eigen::MatrixXd;

constexpr double kTimeStep = 2e-3;

class Generator {
 public:
  Generator(const RandomProblemOptions& options, std::mt19937_64* rng)
      : options_(options), rng_(*rng) {}

  ContactProblem make() {
    problem_.clear(kTimeStep);
    for (int i = 0; i < options_.num_bodies; ++i) add_free_body();
    for (int i = 0; i < options_.num_trees; ++i) add_tree();
    add_motion();
    for (int i = 0; i < options_.num_pairs; ++i) add_pair();
    for (int i = 0; i < options_.num_rows; ++i) add_row(i);
    return problem_;
  }

 private:
  /// A free body or a link of a tree, with the blocks that move it.
  struct Body {
    bool is_free = false;
    std::vector<int> blocks;
  };

  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(rng_);
  }
  double log_uniform(double low, double high) {
    return std::exp(uniform(std::log(low), std::log(high)));
  }
  double normal() { return std::normal_distribution<double>()(rng_); }
  int pick(int n) { return std::uniform_int_distribution<int>(0, n - 1)(rng_); }
  bool chance(double p) { return std::bernoulli_distribution(p)(rng_); }
  MatrixXd random_matrix(int rows, int columns) {
    return MatrixXd::NullaryExpr(rows, columns, [&] { return normal(); });
  }
  std::array<double, 3> random_point(double size) {
    return {size * normal(), size * normal(), size * normal()};
  }

  /// Draws the components one by one, because compilers differ in the order of a call's arguments,
  /// and every compiler must test the same problems.
  Eigen::Matrix3d random_rotation() {
    const double z = normal(), y = normal(), x = normal(), w = normal();
    return Eigen::Quaterniond(w, x, y, z).normalized().toRotationMatrix();
  }

  void add_free_body() {
    const int block = problem_.add_rigid_body();
    // The inertia is about a point that is not the center of mass.
    const double m = log_uniform(0.1, 10), r = uniform(0.05, 0.3);
    const Eigen::Vector3d com = 0.3 * r * random_matrix(3, 1);
    const MatrixXd B = random_matrix(3, 3);
    Eigen::Matrix3d shift;  // [com]x
    shift << 0, -com.z(), com.y(), com.z(), 0, -com.x(), -com.y(), com.x(), 0;
    Eigen::Map<Eigen::Matrix<double, 6, 6>> A(problem_.diagonal(block));
    A.topLeftCorner<3, 3>() =
        m * r * r * (B * B.transpose() / 3 + 0.2 * Eigen::Matrix3d::Identity()) +
        m * shift * shift.transpose();
    A.topRightCorner<3, 3>() = m * shift;
    A.bottomLeftCorner<3, 3>() = m * shift.transpose();
    A.bottomRightCorner<3, 3>() = m * Eigen::Matrix3d::Identity();
    bodies_.push_back({true, {block}});
  }

  /// Adds a tree with a trunk t and branches a and b. Its links are moved by t, by t and a, and by
  /// t and b, so A couples only t with a and t with b.
  void add_tree() {
    const int sizes[3] = {1 + pick(7), 1 + pick(4), 1 + pick(4)};
    int block[3];
    for (int i = 0; i < 3; ++i) block[i] = problem_.add_block(sizes[i]);
    int coupling[3] = {-1, -1, -1};
    bool trunk_is_row[3] = {};
    for (int i = 1; i < 3; ++i) {
      trunk_is_row[i] = chance(0.5);
      coupling[i] = trunk_is_row[i] ? problem_.add_coupling(block[0], block[i])
                                    : problem_.add_coupling(block[i], block[0]);
    }
    for (int i = 0; i < 3; ++i) {
      const MatrixXd J_t = random_matrix(6, sizes[0]), J_i = random_matrix(6, sizes[i]);
      const double m = log_uniform(0.1, 5);
      add_to_diagonal(block[0], m * J_t.transpose() * J_t);
      add_to_diagonal(block[i], 0.01 * MatrixXd::Identity(sizes[i], sizes[i]));
      if (i == 0) continue;
      add_to_diagonal(block[i], m * J_i.transpose() * J_i);
      const MatrixXd off = m * J_t.transpose() * J_i;
      const int rows = static_cast<int>(trunk_is_row[i] ? off.rows() : off.cols());
      Eigen::Map<MatrixXd>(problem_.A.data() + problem_.couplings[coupling[i]].start, rows,
                           off.size() / rows) = trunk_is_row[i] ? off : MatrixXd(off.transpose());
    }
    bodies_.push_back({false, {block[0]}});
    bodies_.push_back({false, {block[0], block[1]}});
    bodies_.push_back({false, {block[0], block[2]}});
  }

  void add_to_diagonal(int block, const MatrixXd& A) {
    Eigen::Map<MatrixXd>(problem_.diagonal(block), A.rows(), A.cols()) += A;
  }

  /// Sets velocities around 1 and impulses that change them by a few percent in the step.
  void add_motion() {
    for (int b = 0; b < problem_.num_blocks(); ++b) {
      for (int i = problem_.dof_start[b]; i < problem_.dof_start[b + 1]; ++i) {
        const int n = problem_.block_size(b);
        problem_.v0[i] = normal();
        problem_.free_impulse[i] =
            0.05 * normal() * problem_.diagonal(b)[(i - problem_.dof_start[b]) * (n + 1)];
      }
    }
  }

  void add_pair() {
    const int num = static_cast<int>(bodies_.size());
    const int b = pick(num);
    int a = chance(0.3) ? -1 : pick(num);  // -1: the world
    if (a == b) a = -1;
    BodyPair pair;
    pair.origin = random_point(1);
    pair.first_segment = static_cast<int>(problem_.segments.size());
    pair.first_contact = problem_.num_contacts();
    // A block of joints that moves both bodies has one segment.
    std::vector<int> joint_blocks;
    for (const int body : {a, b}) {
      if (body < 0) continue;
      if (bodies_[body].is_free) {
        add_free_segment(bodies_[body].blocks[0], body == b ? 1 : -1);
        continue;
      }
      for (const int block : bodies_[body].blocks)
        if (std::find(joint_blocks.begin(), joint_blocks.end(), block) == joint_blocks.end())
          joint_blocks.push_back(block);
    }
    for (const int block : joint_blocks) add_joint_segment(block);
    pair.num_segments = static_cast<int>(problem_.segments.size()) - pair.first_segment;
    pair.num_contacts = 1 + pick(4);
    for (int i = 0; i < pair.num_contacts; ++i) problem_.contacts.push_back(make_contact());
    problem_.pairs.push_back(pair);
  }

  void add_free_segment(int block, double sign) {
    Segment segment;
    segment.block = block;
    segment.is_rigid_body = true;
    segment.sign = sign;
    if (chance(0.7))
      segment.offset = random_point(0.1);  // else the origin is the point of the body
    problem_.segments.push_back(segment);
  }

  void add_joint_segment(int block) {
    Segment segment;
    segment.block = block;
    segment.first_column = static_cast<int>(problem_.column_dof.size());
    for (int dof = 0; dof < problem_.block_size(block); ++dof) {
      if (problem_.block_size(block) > 1 && chance(0.2))
        continue;  // a dof that does not move the link
      problem_.column_dof.push_back(dof);
      for (int k = 0; k < 6; ++k) problem_.columns.push_back(normal());
      ++segment.num_columns;
    }
    problem_.segments.push_back(segment);
  }

  Contact make_contact() {
    Contact c;
    Eigen::Map<Eigen::Matrix3d>(c.R_WC.data()) = random_rotation();
    c.offset = random_point(0.1);
    c.law.stiffness = log_uniform(1e3, 1e7);
    c.phi0 = uniform(-30, 10) / c.law.stiffness;
    c.fn0 = -c.law.stiffness * c.phi0;
    if (options_.near_rigid && chance(0.3)) {
      c.law.stiffness = contact::kInfinity;
      c.phi0 = uniform(-1e-4, 2e-5);
      c.fn0 = 0;
    }
    c.law.dissipation = chance(0.2) ? 0 : log_uniform(0.1, 200);
    c.law.relaxation_time = chance(0.2) ? 0 : log_uniform(1e-5, 0.1);
    c.friction[0] = c.friction[1] = chance(0.1) ? 0 : uniform(0.05, 1.5);
    if (options_.all_dims) {
      constexpr int kDims[] = {3, 3, 1, 4, 6};
      c.dim = kDims[pick(5)];
      if (c.dim == 3 && chance(0.2)) c.friction[1] *= 0.5;
      if (c.dim >= 4) c.friction[2] = log_uniform(1e-4, 0.1);
      if (c.dim == 6) c.friction[3] = c.friction[4] = log_uniform(1e-5, 0.01);
    }
    if (options_.prescribed_motion && chance(0.3)) {
      c.bias = {0.5 * normal(), 0.5 * normal(), 0};
      c.spin_bias = normal();
    }
    return c;
  }

  void add_row(int i) {
    Row row;
    row.kind = std::array{RowKind::kSpring, RowKind::kLimit, RowKind::kFriction}[i % 3];
    row.regularization = log_uniform(1e-3, 1);
    row.target = 0.5 * normal();
    row.bound = log_uniform(1e-3, 0.1);
    row.slip_tolerance = 1e-4;
    if (options_.driven_rows) row.bias = 0.2 * (i % 4 - 1);
    row.first_column = static_cast<int>(problem_.row_dof.size());
    const int blocks[2] = {pick(problem_.num_blocks()), pick(problem_.num_blocks())};
    const int num_blocks = chance(0.5) && blocks[0] != blocks[1] ? 2 : 1;
    for (int k = 0; k < num_blocks; ++k) {
      for (int dof = 0; dof < problem_.block_size(blocks[k]); ++dof) {
        if (dof > 0 && chance(0.5)) continue;
        problem_.row_dof.push_back(problem_.dof_start[blocks[k]] + dof);
        problem_.row_columns.push_back(normal());
        ++row.num_columns;
      }
    }
    problem_.rows.push_back(row);
  }

  RandomProblemOptions options_;
  std::mt19937_64& rng_;
  ContactProblem problem_;
  std::vector<Body> bodies_;
};

}  // namespace

ContactProblem make_random_problem(const RandomProblemOptions& options, std::mt19937_64* rng) {
  return Generator(options, rng).make();
}

contact::ContactProblem make_completed_problem(const RandomProblemOptions& options,
                                               std::mt19937_64* rng) {
  contact::ContactProblem problem = make_random_problem(options, rng);
  contact::MomentumFactor factor;
  if (!factor.calc_derived(1, &problem)) throw std::logic_error("A is not positive definite");
  return problem;
}

void append_problem(const ContactProblem& part, ContactProblem* whole) {
  const auto append = [](const auto& from, auto* to) {
    to->insert(to->end(), from.begin(), from.end());
  };
  const auto size_of = [](const auto& items) { return static_cast<int>(items.size()); };
  const int block = whole->num_blocks(), dof = whole->num_dofs(), A = size_of(whole->A);
  const int segment = size_of(whole->segments), column = size_of(whole->column_dof);
  const int contact = whole->num_contacts(), row_column = size_of(whole->row_dof);
  for (int b = 0; b < part.num_blocks(); ++b) {
    whole->dof_start.push_back(dof + part.dof_start[b + 1]);
    whole->is_rigid_body.push_back(part.is_rigid_body[b]);
    whole->diagonal_start.push_back(A + part.diagonal_start[b]);
  }
  for (contact::Coupling c : part.couplings)
    whole->couplings.push_back({block + c.row_block, block + c.column_block, A + c.start});
  append(part.A, &whole->A);
  append(part.v0, &whole->v0);
  append(part.free_impulse, &whole->free_impulse);
  for (BodyPair pair : part.pairs) {
    pair.first_segment += segment;
    pair.first_contact += contact;
    whole->pairs.push_back(pair);
  }
  for (Segment s : part.segments) {
    s.block += block;
    s.first_column += column;
    whole->segments.push_back(s);
  }
  append(part.column_dof, &whole->column_dof);
  append(part.columns, &whole->columns);
  append(part.contacts, &whole->contacts);
  for (Row row : part.rows) {
    row.first_column += row_column;
    whole->rows.push_back(row);
  }
  for (const int d : part.row_dof) whole->row_dof.push_back(dof + d);
  append(part.row_columns, &whole->row_columns);
}

ProblemOfParts make_problem_of_parts(int num_parts, std::mt19937_64* rng) {
  ProblemOfParts out;
  out.whole.clear(kTimeStep);
  for (int i = 0; i < num_parts; ++i) {
    const ContactProblem part = make_random_problem({.num_bodies = 2 + i, .num_trees = i % 2}, rng);
    out.parts.push_back({part, out.whole.num_dofs(), out.whole.num_contacts()});
    append_problem(part, &out.whole);
  }
  return out;
}

}  // namespace stiction::support
