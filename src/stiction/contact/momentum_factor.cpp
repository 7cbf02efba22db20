#include "stiction/contact/momentum_factor.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/contact/jacobian.hpp"

namespace stiction::contact {
namespace {

using math::Six;
using math::SixBySix;

bool same_pattern(const std::vector<Coupling>& a, const std::vector<Coupling>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Coupling& x, const Coupling& y) {
                      return x.row_block == y.row_block && x.column_block == y.column_block;
                    });
}

/// |W|_F / 3 of the velocity at r, v_p = v + w x r, with W the mobility of [w; v].
double calc_delassus(const SixBySix& W, const double* r) {
  // W_p = P W P^T with P = [-[r]x I]: the rows of P are the linear rows of a shift by r.
  Six PW[3];
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    // Row i: v_i + w_j r_k - w_k r_j. W is symmetric, so columns serve as rows.
    PW[i] = W.column[3 + i] + W.column[j] * r[k] - W.column[k] * r[j];
  }
  double square = 0;
  for (const Six& row : PW) {
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      const double entry = row[3 + i] + row[j] * r[k] - row[k] * r[j];
      square += entry * entry;
    }
  }
  return std::sqrt(square) / 3;
}

}  // namespace

void MomentumFactor::update_pattern(const ContactProblem& problem) {
  if (problem.dof_start == dof_start_ && same_pattern(problem.couplings, couplings_)) return;
  dof_start_ = problem.dof_start;
  couplings_ = problem.couplings;
  const int n = problem.num_blocks();
  edges_.clear();
  for (const Coupling& c : couplings_) edges_.push_back({c.row_block, c.column_block});
  const auto order = ordering_.compute(n, edges_);
  rank_.resize(n);
  sizes_.resize(n);
  for (int k = 0; k < n; ++k) {
    rank_[order[k]] = k;
    sizes_[k] = problem.block_size(order[k]);
  }
  for (math::BlockEdge& e : edges_) e = {rank_[e.a], rank_[e.b]};
  cholesky_.analyze(sizes_, edges_);
  x_.resize(problem.num_dofs());
  columns_.assign(6 * problem.num_dofs(), 0.0);
}

bool MomentumFactor::factor(const ContactProblem& problem) {
  cholesky_.set_zero();
  for (int b = 0; b < problem.num_blocks(); ++b)
    cholesky_.copy_diagonal(rank_[b], problem.diagonal(b));
  for (const Coupling& c : problem.couplings)
    cholesky_.copy_off_diagonal(rank_[c.row_block], rank_[c.column_block],
                                problem.A.data() + c.start);
  return cholesky_.factor();
}

void MomentumFactor::gather(std::span<const double> x) {
  for (std::size_t b = 0; b < rank_.size(); ++b)
    std::copy(x.begin() + dof_start_[b], x.begin() + dof_start_[b + 1],
              x_.begin() + cholesky_.first_row(rank_[b]));
}

void MomentumFactor::calc_free_motion(ContactProblem* problem) {
  gather(problem->free_impulse);
  cholesky_.solve_in_place(x_);
  problem->v_star.resize(problem->num_dofs());
  for (int b = 0; b < problem->num_blocks(); ++b) {
    const double* change = x_.data() + cholesky_.first_row(rank_[b]);
    for (int i = dof_start_[b]; i < dof_start_[b + 1]; ++i)
      problem->v_star[i] = problem->v0[i] + *change++;
  }
}

void MomentumFactor::solve_lower(std::span<const double> r, std::span<double> y) {
  gather(r);
  cholesky_.solve_lower_in_place(x_);
  for (std::size_t b = 0; b < rank_.size(); ++b)
    std::copy_n(x_.begin() + cholesky_.first_row(rank_[b]), dof_start_[b + 1] - dof_start_[b],
                y.begin() + dof_start_[b]);
}

/// J A^-1 J^T of a pair: Y = L^-1 J^T on the blocks that J reaches, then Y^T D^-1 Y.
SixBySix MomentumFactor::calc_mobility(const ContactProblem& problem, const BodyPair& pair) {
  reach_.clear();
  for (int s = pair.first_segment; s < pair.first_segment + pair.num_segments; ++s) {
    const Segment& segment = problem.segments[s];
    const int block = rank_[segment.block];
    cholesky_.add_reach(block, &reach_);
    double* rows = columns_.data() + 6 * cholesky_.first_row(block);
    for_each_column(problem, segment, [&](int dof, const double* column) {
      (Six::load(rows + 6 * dof) + Six::load(column)).store(rows + 6 * dof);
    });
  }
  std::sort(reach_.begin(), reach_.end());
  cholesky_.solve_lower_six(reach_, columns_.data());
  SixBySix W = SixBySix::zero();
  for (const int block : reach_) {
    double* rows = columns_.data() + 6 * cholesky_.first_row(block);
    const double* inv_diagonal = cholesky_.inv_diagonal(block);
    for (int i = 0; i < cholesky_.block_size(block); ++i) {
      const Six y = Six::load(rows + 6 * i), scaled = y * inv_diagonal[i];
      for (int c = 0; c < 6; ++c) W.column[c] = multiply_add(y, scaled[c], W.column[c]);
      Six::zero().store(rows + 6 * i);  // for the next pair
    }
  }
  return W;
}

bool MomentumFactor::calc_derived(double near_rigid_factor, ContactProblem* problem) {
  update_pattern(*problem);
  if (!factor(*problem)) return false;
  calc_free_motion(problem);

  const double resolved_frequency =
      2 * std::numbers::pi / (near_rigid_factor * problem->time_step);  // [rad/s]
  problem->delassus.resize(problem->num_contacts());
  for (const BodyPair& pair : problem->pairs) {
    const SixBySix W = calc_mobility(*problem, pair);
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      Contact& contact = problem->contacts[i];
      const double w = calc_delassus(W, contact.offset.data());
      problem->delassus[i] = w;
      if (contact.stiffness == kInfinity) {
        contact.stiffness = resolved_frequency * resolved_frequency / w;
        contact.fn0 = -contact.stiffness * contact.phi0;
      }
    }
  }
  return true;
}

}  // namespace stiction::contact
