#include "stiction/contact/momentum_factor.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

#include "stiction/base/assert.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/jacobian.hpp"
#include "stiction/math/dense_kernels.hpp"
#include "stiction/math/lanes.hpp"

namespace stiction::contact {
namespace {

using math::Lanes;
using math::multiply_add;
using math::multiply_subtract;
using math::Six;
using math::SixBySix;

bool same_pattern(const std::vector<Coupling>& a, const std::vector<Coupling>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Coupling& x, const Coupling& y) {
                      return x.row_block == y.row_block && x.column_block == y.column_block;
                    });
}

/// Returns |W_p|_F / 3 at four points of a pair. W_p is the mobility of the velocity at a point r,
/// v_p = v + w x r.
/// @param W mobility of the pair's motion [w; v]
/// @param r from the pair's origin [m]
Lanes calc_delassus(const SixBySix& W, const math::Lanes3& r) {
  // W_p = P W P^T with P = [-[r]x I]. Row i of P W is v_i + w_j r_k - w_k r_j of every column.
  const Lanes by[3] = {r.x, r.y, r.z};
  Lanes square{};
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    Lanes row[6];
    // W is symmetric, so its columns are its rows.
#pragma GCC unroll 6
    for (int c = 0; c < 6; ++c)
      row[c] = W.column[3 + i][c] + W.column[j][c] * by[k] - W.column[k][c] * by[j];
#pragma GCC unroll 3
    for (int l = i; l < 3; ++l) {
      const int m = (l + 1) % 3, n = (l + 2) % 3;
      const Lanes entry = row[3 + l] + row[m] * by[n] - row[n] * by[m];
      square += (l == i ? 1.0 : 2.0) * entry * entry;
    }
  }
  return math::sqrt(square) / 3;
}

/// Returns the mobility of a point along a normal [1/kg].
/// @param W mobility of the pair's motion [w; v]
/// @param r from the pair's origin to the point [m]
double calc_normal_mobility(const SixBySix& W, const double* n, const std::array<double, 3>& r) {
  const double u[6] = {r[1] * n[2] - r[2] * n[1],
                       r[2] * n[0] - r[0] * n[2],
                       r[0] * n[1] - r[1] * n[0],
                       n[0],
                       n[1],
                       n[2]};
  double w_n = 0;
  for (int j = 0; j < 6; ++j)
    for (int i = 0; i < 6; ++i) w_n += u[i] * W.column[j][i] * u[j];
  return w_n;
}

/// Returns Contact::rim_mobility: the least of the axes about which friction acts [-].
/// @param w mobility of a slip [1/kg]
double calc_rim_mobility(const SixBySix& W, const Contact& c, double w) {
  constexpr int kAxis[] = {2, 0, 1};  // of torsion and rolling in the contact frame
  double least = 1;
  for (int i = 0; i < 3; ++i) {
    if (!(c.friction[2 + i] > 0)) continue;
    const double* const a = &c.R_WC[3 * kAxis[i]];
    double about = 0;  // a^T W a
    for (int k = 0; k < 3; ++k)
      for (int l = 0; l < 3; ++l) about += a[k] * W.column[k][l] * a[l];
    least = std::min(least, about * c.rim_radius * c.rim_radius / w);
  }
  return least;
}

/// Returns the mean of the contact points of a pair, from its origin [m].
std::array<double, 3> calc_center(const ContactProblem& problem, const BodyPair& pair) {
  std::array<double, 3> center{};
  for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i)
    for (int k = 0; k < 3; ++k) center[k] += problem.contacts[i].offset[k] / pair.num_contacts;
  return center;
}

/// The mobility of what the contacts of a pair carry together.
class CarriedMobility {
 public:
  CarriedMobility(const ContactProblem& problem, const BodyPair& pair, const SixBySix& W)
      : problem_(problem), pair_(pair), W_(W) {}

  /// Returns it along the normal of a contact, without the mobility of the pair's mass [1/kg].
  double calc(const Contact& c) {
    const double* const n = &c.R_WC[6];
    const double own = calc_normal_mobility(W_, n, c.offset);
    if (pair_.reduced_mass() == kInfinity) return own;  // the mass is not known
    const Segment* const first = problem_.segments.data() + pair_.first_segment;
    const auto is_free = [](const Segment& s) { return s.is_rigid_body; };
    // A free body rests on contacts of any pairs.
    if (std::all_of(first, first + pair_.num_segments, is_free)) return 0;
    if (!center_) center_ = calc_center(problem_, pair_);
    return std::min(own, calc_normal_mobility(W_, n, *center_));
  }

 private:
  const ContactProblem& problem_;
  const BodyPair& pair_;
  const SixBySix& W_;
  std::optional<std::array<double, 3>> center_;  // of the contacts, if it was needed
};

/// The near-rigid stiffness of the contacts of a pair, see calc_derived.
class NearRigidStiffness {
 public:
  /// @param frequency 2 pi / (beta dt) [rad/s]
  NearRigidStiffness(const BodyPair& pair, double frequency)
      : mobility_of_mass_(1 / pair.reduced_mass()),
        least_mobility_(0.5 / pair.reduced_mass()),
        // Loads up to ten times the mass cause no deep overlap. A stiffness a thousand times as
        // large still leaves the solver most of its digits.
        scale_(frequency * frequency *
               std::clamp(0.1 * pair.load / pair.reduced_mass(), 1.0, 1000.0)) {}

  /// True if w limits the mobility of calc, as the contact turns its bodies so easily.
  bool is_turning(double w) const { return w > kMostTurning * mobility_of_mass_; }
  /// Returns w, limited by the mobility of what the contact helps to carry, w_c >= 0 [1/kg].
  double limit_turning(double w, double w_c) const {
    return std::min(w, kMostTurning * std::max(w_c, mobility_of_mass_));
  }

  /// Returns the stiffness of a contact with mobility w > 0 [N/m].
  double calc(double w) const {
    // A contact nearer to the axis than 0.87 radii of gyration bears less and less load.
    const double fading_mobility = 0.5 * least_mobility_;
    return scale_ / std::max(w, least_mobility_) * std::min(1.0, w / fading_mobility);
  }

 private:
  /// The largest mobility relative to that of the load; solids have up to about 5.
  static constexpr double kMostTurning = 30;

  double mobility_of_mass_, least_mobility_;  // [1/kg]
  double scale_;                              // [1/s^2]
};

/// Replaces infinite stiffnesses of a contact by the near-rigid value k [N/m], and limits others
/// that are to be limited.
void set_near_rigid(double k, Contact* contact) {
  const auto takes = [&](double given, double limit) {
    return given == kInfinity || (contact->limits_stiffness && given > limit);
  };
  contact::ContactLawData<double>& law = contact->law;
  if (takes(law.stiffness, k)) {
    law.stiffness = k;
    contact->fn0 = -k * contact->phi0;
  }
  const double inv_root_depth = 1 / std::sqrt(kNearRigidDepth);  // folded by the compiler
  const double hertz = k * inv_root_depth;
  if (takes(law.hertz_stiffness, hertz)) law.hertz_stiffness = hertz;
  if (takes(law.barrier_stiffness, k)) law.barrier_stiffness = k;
}

/// Returns X M X^T with X = [I 0; -[r]x I], which shifts the mobility of a motion by r.
SixBySix shift_mobility(const SixBySix& M, const std::array<double, 3>& r) {
  Six c[6];
  for (int i = 0; i < 6; ++i) c[i] = math::shift_velocity(M.column[i], r.data());
  return {{c[0], c[1], c[2], multiply_subtract(c[2], r[1], multiply_add(c[1], r[2], c[3])),
           multiply_subtract(c[0], r[2], multiply_add(c[2], r[0], c[4])),
           multiply_subtract(c[1], r[0], multiply_add(c[0], r[1], c[5]))}};
}

}  // namespace

void MomentumFactor::update_pattern(const ContactProblem& problem) {
  if (problem.dof_start == dof_start_ && same_pattern(problem.couplings, couplings_)) return;
  dof_start_ = problem.dof_start;
  couplings_ = problem.couplings;
  const int n = problem.num_blocks();
  // Free bodies without couplings are inverted one by one. The other blocks are factored.
  edges_.clear();
  is_free_.assign(problem.is_rigid_body.begin(), problem.is_rigid_body.end());
  for (const Coupling& c : couplings_) {
    edges_.push_back({c.row_block, c.column_block});
    is_free_[c.row_block] = is_free_[c.column_block] = false;
  }
  inverse_.resize(n);
  // Free bodies keep a place in the elimination order, with size 0.
  const auto order = ordering_.compute(n, edges_);
  rank_.resize(n);
  sizes_.resize(n);
  for (int k = 0; k < n; ++k) {
    rank_[order[k]] = k;
    sizes_[k] = is_free_[order[k]] ? 0 : problem.block_size(order[k]);
  }
  for (math::BlockEdge& e : edges_) e = {rank_[e.a], rank_[e.b]};
  cholesky_.analyze(sizes_, edges_);
  columns_.assign(6 * cholesky_.num_rows(), 0.0);
}

bool MomentumFactor::factor(const ContactProblem& problem) {
  cholesky_.start();
  for (int b = 0; b < problem.num_blocks(); ++b) {
    if (!is_free_[b])
      cholesky_.copy_diagonal(rank_[b], problem.diagonal(b));
    else if (!math::invert_six(problem.diagonal(b), inverse_[b].data()))
      return false;
  }
  for (const Coupling& c : problem.couplings)
    cholesky_.copy_off_diagonal(rank_[c.row_block], rank_[c.column_block],
                                problem.A.data() + c.start);
  return cholesky_.factor();
}

void MomentumFactor::gather(std::span<const double> x) {
  x_.resize(cholesky_.num_rows());
  for (std::size_t b = 0; b < rank_.size(); ++b)
    if (!is_free_[b])
      std::copy(x.begin() + dof_start_[b], x.begin() + dof_start_[b + 1],
                x_.begin() + first_entry(static_cast<int>(b)));
}

void MomentumFactor::calc_free_motion(ContactProblem* problem) {
  gather(problem->free_impulse);
  cholesky_.solve_in_place(x_);
  problem->v_star.resize(problem->num_dofs());
  for (int b = 0; b < problem->num_blocks(); ++b) {
    const int dof = dof_start_[b];
    const double* v0 = problem->v0.data() + dof;
    double* v_star = problem->v_star.data() + dof;
    if (is_free_[b]) {
      (Six::load(v0) + math::multiply(inverse_[b].data(), 6, problem->free_impulse.data() + dof))
          .store(v_star);
      continue;
    }
    const double* change = x_.data() + first_entry(b);
    for (int i = 0; i < problem->block_size(b); ++i) v_star[i] = v0[i] + change[i];
  }
}

void MomentumFactor::calc_squared_norms(std::span<const double> r, std::span<double> shares) {
  STICTION_ASSERT(static_cast<int>(r.size()) == dof_start_.back());
  STICTION_ASSERT(shares.size() == rank_.size());
  gather(r);
  cholesky_.solve_lower_in_place(x_);
  for (int b = 0; b < static_cast<int>(rank_.size()); ++b) {
    if (is_free_[b]) {
      const double* own = r.data() + dof_start_[b];
      shares[b] = dot(Six::load(own), math::multiply(inverse_[b].data(), 6, own));
      continue;
    }
    const double* y = x_.data() + first_entry(b);
    shares[b] = std::inner_product(y, y + dof_start_[b + 1] - dof_start_[b], y, 0.0);
  }
}

/// Returns Y^T D^-1 Y of the rows Y of a block, and sets these rows to 0 for the next pair.
SixBySix MomentumFactor::take_product(int block) {
  SixBySix W = SixBySix::zero();
  double* rows = columns_.data() + 6 * cholesky_.first_row(block);
  const double* inv_diagonal = cholesky_.inv_diagonal(block);
  for (int i = 0; i < cholesky_.block_size(block); ++i) {
    const Six y = Six::load(rows + 6 * i), scaled = y * inv_diagonal[i];
    for (int c = 0; c < 6; ++c) W.column[c] = multiply_add(y, scaled[c], W.column[c]);
    Six::zero().store(rows + 6 * i);
  }
  return W;
}

/// Returns J A^-1 J^T of a pair: shifted inverse inertias of free bodies, and Y^T D^-1 Y of other
/// blocks with Y = L^-1 J^T in the blocks that J reaches.
SixBySix MomentumFactor::calc_mobility(const ContactProblem& problem, const BodyPair& pair) {
  SixBySix W = SixBySix::zero();
  // Add the free bodies, and collect J^T of the other segments.
  reach_.clear();
  for (int s = pair.first_segment; s < pair.first_segment + pair.num_segments; ++s) {
    const Segment& segment = problem.segments[s];
    if (segment.is_rigid_body && is_free_[segment.block]) {
      W += shift_mobility(SixBySix::load(inverse_[segment.block].data(), 6), segment.offset);
      continue;
    }
    const int block = rank_[segment.block];
    cholesky_.add_reach(block, &reach_);
    double* rows = columns_.data() + 6 * cholesky_.first_row(block);
    for_each_column(problem, segment, [&](int dof, const double* column) {
      (Six::load(rows + 6 * dof) + Six::load(column)).store(rows + 6 * dof);
    });
  }
  if (reach_.empty()) return W;
  // Solve for Y on the blocks that a nonzero of J^T reaches in the elimination tree.
  std::sort(reach_.begin(), reach_.end());
  cholesky_.solve_lower_six(reach_, columns_.data());
  for (const int block : reach_) W += take_product(block);
  return W;
}

bool MomentumFactor::calc_derived(double near_rigid_factor, ContactProblem* problem) {
  STICTION_ASSERT(near_rigid_factor > 0);
  STICTION_ASSERT(find_index_fault(*problem).empty());
  update_pattern(*problem);
  if (!factor(*problem)) return false;
  calc_free_motion(problem);

  const double resolved_frequency =
      2 * std::numbers::pi / (near_rigid_factor * problem->time_step);  // [rad/s]
  problem->delassus.resize(problem->num_contacts());
  for (const BodyPair& pair : problem->pairs) {
    const SixBySix W = calc_mobility(*problem, pair);
    // A contact closer than this to the only axis that turns its pair has no lever arm.
    constexpr double kShortestLever = 1e-9;  // [m]
    const double immobile =
        kShortestLever * kShortestLever * (W.column[0][0] + W.column[1][1] + W.column[2][2]);
    const NearRigidStiffness stiffness(pair, resolved_frequency);
    CarriedMobility carried(*problem, pair, W);
    // Take four contacts at a time; the last one fills the lanes that are left over.
    const int end = pair.first_contact + pair.num_contacts;
    for (int first = pair.first_contact; first < end; first += math::kNumLanes) {
      const int count = std::min(math::kNumLanes, end - first);
      Contact* contacts = &problem->contacts[first];
      const auto offset = [&](int i) {
        return math::load<Lanes>(contacts[std::min(i, count - 1)].offset.data());
      };
      const math::FourLanes r = math::transpose(offset(0), offset(1), offset(2), offset(3));
      const Lanes w = calc_delassus(W, {r.a, r.b, r.c});
      for (int i = 0; i < count; ++i) {
        const bool is_moved = w[i] > immobile;
        // The mobility of a contact that no dof moves must be positive; its value does not matter.
        problem->delassus[first + i] = is_moved ? w[i] : 1;
        if (contacts[i].rim_radius > 0 && is_moved)
          contacts[i].rim_mobility = calc_rim_mobility(W, contacts[i], w[i]);
        double mobility = w[i];
        if (stiffness.is_turning(mobility))
          mobility = stiffness.limit_turning(mobility, carried.calc(contacts[i]));
        const double k = is_moved ? stiffness.calc(mobility) : 0;
        set_near_rigid(k, &contacts[i]);
      }
    }
  }
  return true;
}

}  // namespace stiction::contact
