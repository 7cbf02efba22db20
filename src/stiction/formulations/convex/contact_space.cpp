#include "stiction/formulations/convex/contact_space.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/math/dense_kernels.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {

using math::Lanes;
using math::load;
using math::multiply_add;
using math::round_up;
using math::store;

namespace {

constexpr int kLanes = math::kNumLanes;

/// Computes W = Y^T D^-1 Y over the rows of some blocks of a factor, both triangles.
void calc_gram(std::span<const int> blocks, const math::BlockSparseCholesky& factor, int width,
               const double* Y, double* W) {
  for (int a = 0; a < width; a += kLanes) {
    for (int b = a; b < width; b += kLanes) {
      Lanes sums[kLanes]{};
      for (const int block : blocks) {
        const double* const inv_diagonal = factor.inv_diagonal(block);
        const double* row = Y + static_cast<std::ptrdiff_t>(factor.first_row(block)) * width;
        for (int i = 0; i < factor.block_size(block); ++i, row += width) {
          const Lanes right = load<Lanes>(row + b), left = load<Lanes>(row + a) * inv_diagonal[i];
          for (int k = 0; k < kLanes; ++k) sums[k] = multiply_add(right, left[k], sums[k]);
        }
      }
      for (int k = 0; k < kLanes; ++k) store(W + (a + k) * width + b, sums[k]);
      if (a == b) continue;
      const math::FourLanes t = math::transpose(sums[0], sums[1], sums[2], sums[3]);
      const Lanes columns[] = {t.a, t.b, t.c, t.d};
      for (int k = 0; k < kLanes; ++k) store(W + (b + k) * width + a, columns[k]);
    }
  }
}

}  // namespace

void ContactSpace::Scratch::reserve(int width, int num_dofs) {
  constexpr int kStep = 32;
  if (width <= width_ && num_dofs <= num_dofs_) return;
  const auto enlarge = [](int n, int* to) {
    *to = std::max(*to, (n + kStep - 1) / kStep * kStep);
    return static_cast<std::size_t>(*to + kLanes);
  };
  const std::size_t w = enlarge(width, &width_), n = enlarge(num_dofs, &num_dofs_);
  for (auto* x : {&u_star, &u, &lambda, &gamma, &s, &d, &du, &factor.inv_diagonal}) x->reserve(w);
  for (auto* x : {&g, &f, &D2}) x->reserve(n);
  for (auto* x : {&J, &Y}) x->reserve(n * w);
  rows.reserve(n);
  reach.reserve(n);
  for (auto* x : {&W, &factor.S, &factor.scratch}) x->reserve(w * w);
  factor.panel.reserve(kLanes * w);
  factor.active.reserve(w);
  factor.compliance.reserve(w);
}

ContactSpace::ContactSpace(const IslandDofs& island, const contact::MomentumFactor* factor,
                           Scratch* scratch)
    : IslandDofs(island), x_(*scratch), shared_(factor), A_(&H_) {
  if (factor && is_whole(*factor)) A_ = &factor->cholesky();
  x_.contacts.clear();
  for (const bool wants_six : {false, true})
    for (const PairSlice& pair : pairs())
      for (int i = pair.contact_begin; i < pair.contact_end; ++i)
        if (is_six(pair, i) == wants_six) {
          x_.contacts.push_back(i);
          ++(wants_six ? num_six_ : num_three_);
        }
  num_rows_ = range_.row_end - range_.row_begin;
  width_ = round_up(first_row() + num_rows_);
  first_dof_ = range_.dof_begin;
  for (int b = range_.block_begin; b < range_.block_begin + range_.num_idle; ++b)
    first_dof_ += layout_.blocks[b].size;
  num_dofs_ = range_.dof_begin + range_.num_dofs - first_dof_;
  stride_ = round_up(num_dofs_);
  x_.reserve(width_, range_.num_dofs + kLanes);
}

/// True if a factor has the rows of this island and no others. Free bodies may have none.
bool ContactSpace::is_whole(const contact::MomentumFactor& factor) const {
  if (factor.cholesky().num_rows() != range_.num_dofs) return false;
  for (int b = range_.block_begin; b < range_.block_end; ++b) {
    const BlockSlice& block = layout_.blocks[b];
    if (factor.cholesky().block_size(factor.rank(block.block)) != block.size) return false;
  }
  return true;
}

bool ContactSpace::build() {
  fill_jacobian();
  if (A_ == &H_ && !(start_hessian() && H_.factor())) return false;
  find_rows();
  calc_W();
  for (auto* x : {&x_.u_star, &x_.u, &x_.lambda, &x_.gamma, &x_.s, &x_.d, &x_.du})
    x->assign(width_ + kLanes, 0.0);
  for (auto* x : {&x_.g, &x_.f, &x_.D2}) x->assign(stride_, 0.0);
  std::copy_n(dofs_.inv_diagonal.data() + first_dof_, num_dofs_, x_.D2.begin());
  multiply_by_J(dofs_.v_star.data() + first_dof_, &x_.u_star);
  return true;
}

/// Finds the rows of the factor, and the blocks that J^T reaches.
void ContactSpace::find_rows() {
  x_.rows.clear();
  x_.reach.clear();
  for (int b = range_.block_begin; b < range_.block_end; ++b) {
    const BlockSlice& block = layout_.blocks[b];
    const int place = A_ == &H_ ? b - range_.block_begin : shared_->rank(block.block);
    for (int i = 0; i < block.size; ++i) x_.rows.push_back(A_->first_row(place) + i);
    if (b >= range_.block_begin + range_.num_idle) A_->add_reach(place, &x_.reach);
  }
  std::sort(x_.reach.begin(), x_.reach.end());
}

/// Computes W from J^T.
void ContactSpace::calc_W() {
  const auto row = [&](int i) { return x_.Y.data() + static_cast<std::ptrdiff_t>(i) * width_; };
  x_.Y.resize(static_cast<std::size_t>(range_.num_dofs) * width_);
  for (const int b : x_.reach) std::fill_n(row(A_->first_row(b)), A_->block_size(b) * width_, 0.0);
  const int* const rows = x_.rows.data() + (first_dof_ - range_.dof_begin);
  for (int j = 0; j < width_; j += kLanes)
    for (int i = 0; i < num_dofs_; i += kLanes) {
      const auto from = [&](int k) { return load<Lanes>(J_column(j + k) + i); };
      const math::FourLanes t = math::transpose(from(0), from(1), from(2), from(3));
      const Lanes to[] = {t.a, t.b, t.c, t.d};
      for (int k = 0; k < std::min(kLanes, num_dofs_ - i); ++k) store(row(rows[i + k]) + j, to[k]);
    }
  A_->solve_lower_panel(x_.reach, width_, x_.Y.data());
  x_.W.resize(static_cast<std::size_t>(width_) * width_ + kLanes);
  calc_gram(x_.reach, *A_, width_, x_.Y.data(), x_.W.data());
}

/// Computes u = J v.
/// Computes u = J v of the dofs that are not idle.
void ContactSpace::multiply_by_J(const double* v, std::vector<double>* u) const {
  std::fill(u->begin(), u->end(), 0.0);
  math::add_atv(1, {x_.J.data(), num_dofs_, width_, stride_}, v, u->data());
}

void ContactSpace::calc_start_velocities(std::vector<double>* u) {
  for (int b = range_.block_begin + range_.num_idle; b < range_.block_end; ++b) {
    const BlockSlice& block = layout_.blocks[b];
    std::copy_n(problem_.v0.data() + block.problem_dof, block.size,
                x_.f.data() + (block.dof - first_dof_));
  }
  multiply_by_J(x_.f.data(), u);
}

/// Fills J^T.
void ContactSpace::fill_jacobian() {
  x_.J.assign(static_cast<std::size_t>(stride_) * width_, 0.0);
  int three = 0, six = 0;
  for (const PairSlice& pair : pairs())
    for (int i = pair.contact_begin; i < pair.contact_end; ++i)
      if (is_six(pair, i))
        fill_contact(place_of_six(six++), 6, i, segments(pair));
      else
        fill_contact(place_of_three(three++), 3, i, segments(pair));
  int index = first_row();
  for (const RowSlice& row : rows()) {
    for (const RowEntry& e : entries(row)) J_column(index)[e.dof - first_dof_] += e.value;
    ++index;
  }
}

/// Fills the columns of J^T of one contact.
void ContactSpace::fill_contact(const Place& place, int num_components, int contact,
                                std::span<const SegmentBlock> segments) {
  const contact::Contact& c = problem_.contacts[contact];
  const auto& r = c.offset;
  const auto along = [&](int axis, const double* a) {
    const double* e = c.R_WC.data() + 3 * axis;
    return e[0] * a[0] + e[1] * a[1] + e[2] * a[2];
  };
  const std::ptrdiff_t next = static_cast<std::ptrdiff_t>(place.stride) * stride_;
  for (const SegmentBlock& s : segments) {
    double* const to = J_column(place.first) + s.dof - first_dof_;
    contact::for_each_column(problem_, *s.segment, [&](int dof, const double* V) {
      const double v[] = {V[3] + V[1] * r[2] - V[2] * r[1], V[4] + V[2] * r[0] - V[0] * r[2],
                          V[5] + V[0] * r[1] - V[1] * r[0]};
      for (int k = 0; k < 3; ++k) to[dof + k * next] += along(k, v);
      for (int k = 3; k < num_components; ++k) to[dof + k * next] += along(kSpinAxis[k - 3], V);
    });
  }
}

void ContactSpace::multiply_by_W(const std::vector<double>& x, std::vector<double>* y) const {
  math::multiply({x_.W.data(), width_, width_}, x.data(), y->data());  // W is symmetric
}

void ContactSpace::update_velocities() {
  multiply_by_W(x_.lambda, &x_.u);
  for (int i = 0; i < width_; i += kLanes)
    store(x_.u.data() + i, load<Lanes>(x_.u.data() + i) + load<Lanes>(x_.u_star.data() + i));
}

numerics::Residual ContactSpace::calc_residual() {
  math::multiply({x_.J.data(), stride_, width_}, x_.s.data(), x_.g.data());
  math::multiply({x_.J.data(), stride_, width_}, x_.gamma.data(), x_.f.data());
  Lanes gradient{}, impulse{};
  for (int i = 0; i < stride_; i += kLanes) {
    const Lanes D2 = load<Lanes>(x_.D2.data() + i);
    const Lanes g = load<Lanes>(x_.g.data() + i), f = load<Lanes>(x_.f.data() + i);
    gradient = multiply_add(D2 * g, g, gradient);
    impulse = multiply_add(D2 * f, f, impulse);
  }
  return {std::sqrt(math::sum(gradient)), std::max(min_scale_, std::sqrt(math::sum(impulse)))};
}

void ContactSpace::start_factor() {
  x_.factor.active.clear();
  x_.factor.compliance.clear();
}

void ContactSpace::add_curvatures(int size, const int* components,
                                  double (&G)[kMaxSlips][kMaxSlips]) {
  // A slipping contact has hardly any curvature along the slip. This share of each component's own
  // curvature keeps the inverse accurate.
  constexpr double kLeastCurvature = 1e-8;
  // Gauss-Jordan elimination, in place, of the lower triangle.
  for (int i = 0; i < size; ++i) G[i][i] *= 1 + kLeastCurvature;
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < i; ++j) G[j][i] = G[i][j];
  for (int k = 0; k < size; ++k) {
    const double inv = 1 / G[k][k];
    G[k][k] = 1;
    for (int j = 0; j < size; ++j) G[k][j] *= inv;
    for (int i = 0; i < size; ++i) {
      if (i == k) continue;
      const double factor = G[i][k];
      G[i][k] = 0;
      for (int j = 0; j < size; ++j) G[i][j] -= factor * G[k][j];
    }
  }
  for (int k = 0; k < size; ++k) {
    x_.factor.active.push_back(components[k]);
    Compliance& column = x_.factor.compliance.emplace_back();
    column.size = size - k;
    for (int i = k; i < size; ++i) column.entries[i - k] = G[i][k];
  }
}

bool ContactSpace::factor() {
  const int n = static_cast<int>(x_.factor.active.size());
  padded_ = round_up(n);
  const std::size_t size = static_cast<std::size_t>(padded_) * padded_;
  x_.factor.S.resize(size);
  x_.factor.scratch.resize(size);
  x_.factor.inv_diagonal.resize(padded_);
  double* column = x_.factor.S.data();
  for (int p = 0; p < n; ++p, column += padded_) {
    const double* const W = W_row(x_.factor.active[p]);
    for (int q = p; q < n; ++q) column[q] = W[x_.factor.active[q]];
    for (int i = 0; i < x_.factor.compliance[p].size; ++i)
      column[p + i] += x_.factor.compliance[p].entries[i];
    std::fill(column + n, column + padded_, 0.0);
  }
  for (int p = n; p < padded_; ++p, column += padded_) {
    std::fill(column, column + padded_, 0.0);
    column[p] = 1;
  }
  return math::factor_multiple_of_four(padded_, x_.factor.S.data(), x_.factor.inv_diagonal.data(),
                                       x_.factor.scratch.data());
}

void ContactSpace::solve_direction() {
  const int n = static_cast<int>(x_.factor.active.size());
  multiply_by_W(x_.s, &x_.du);
  double* const f = x_.factor.scratch.data();
  for (int p = 0; p < n; ++p) f[p] = x_.du[x_.factor.active[p]];
  std::fill(f + n, f + padded_, 0.0);
  math::solve_lower(padded_, x_.factor.S.data(), padded_, f);
  for (int p = 0; p < padded_; ++p) f[p] *= x_.factor.inv_diagonal[p];
  math::solve_lower_transposed(padded_, x_.factor.S.data(), padded_, f);
  std::copy_n(x_.s.begin(), width_, x_.d.begin());
  for (int p = 0; p < n; ++p) x_.d[x_.factor.active[p]] -= f[p];
  multiply_by_W(x_.d, &x_.du);
}

void ContactSpace::solve_four(const Place& place, std::span<const int> components,
                              const Lanes* impulses, double* du_n) {
  const int n = static_cast<int>(x_.factor.active.size());
  const auto W_times_s = [&](int row) {
    const double* const W = W_row(row) + place.first;
    Lanes sum{};
    for (std::size_t k = 0; k < components.size(); ++k)
      sum = multiply_add(load<Lanes>(W + components[k] * place.stride), impulses[k], sum);
    return sum;
  };
  // The right sides are lanes: f = S^-1 (W s).
  x_.factor.panel.resize(static_cast<std::size_t>(padded_) * kLanes);
  double* const f = x_.factor.panel.data();
  const double* const S = x_.factor.S.data();
  for (int p = 0; p < n; ++p) {
    Lanes sum = W_times_s(x_.factor.active[p]);
    for (int q = 0; q < p; ++q)
      sum = multiply_add(load<Lanes>(f + kLanes * q), -S[p + q * padded_], sum);
    store(f + kLanes * p, sum);
  }
  for (int p = n - 1; p >= 0; --p) {
    Lanes sum = load<Lanes>(f + kLanes * p) * x_.factor.inv_diagonal[p];
    for (int q = p + 1; q < n; ++q)
      sum = multiply_add(load<Lanes>(f + kLanes * q), -S[q + p * padded_], sum);
    store(f + kLanes * p, sum);
  }
  for (int c = 0; c < num_contacts(); ++c) {
    const double* const W = W_row(normal_of(c));
    Lanes sum = W_times_s(normal_of(c));
    for (int p = 0; p < n; ++p)
      sum = multiply_add(load<Lanes>(f + kLanes * p), -W[x_.factor.active[p]], sum);
    store(du_n + kLanes * c, sum);
  }
}

void ContactSpace::write_velocities() {
  const int begin = range_.dof_begin, n = range_.num_dofs;
  double* const dp = dofs_.dp.data() + begin;
  double* const dv = dofs_.dv.data() + begin;
  std::fill_n(dp, first_dof_ - begin, 0.0);
  math::multiply({x_.J.data(), stride_, width_}, x_.lambda.data(), x_.f.data());
  std::copy_n(x_.f.data(), num_dofs_, dp + first_dof_ - begin);
  for (int i = 0; i < n; ++i) x_.Y[x_.rows[i]] = dp[i];  // Y as a vector of the factor
  A_->solve_in_place({x_.Y.data(), static_cast<std::size_t>(n)});
  for (int i = 0; i < n; ++i) {
    dv[i] = x_.Y[x_.rows[i]];
    dofs_.v[begin + i] = dofs_.v_star[begin + i] + dv[i];
  }
}

}  // namespace stiction::formulations
