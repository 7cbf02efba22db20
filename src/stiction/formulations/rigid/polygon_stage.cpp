#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Core>

#include "stiction/formulations/rigid/rigid_stage.hpp"
#include "stiction/math/vector_kernels.hpp"
#include "stiction/numerics/lemke.hpp"

namespace stiction::formulations {
namespace {

using numerics::LcpReport;

/// Coulomb friction within a regular polygon of k edges: with unit tangents d_1 .. d_k of every
/// contact stacked in D, and unknowns z = (f_N, beta, lambda),
///
///     N u + b_n           >= 0  _|_  f_N >= 0
///     D u + b_t + E lambda >= 0  _|_  beta >= 0
///     mu f_N - E^T beta   >= 0  _|_  lambda >= 0,      u = u_hat + N^T f_N + D^T beta.
///
/// Dry friction of joints is a polygon of two edges and a bound that does not change.
/// Contacts without friction have a normal alone. The matrix is copositive, so that Lemke's method
/// ends with a solution wherever there is a feasible point.
/// Source: [stewart1996], [anitescu1997]; [theory:stewart-trinkle].
class PolygonStage final : public RigidLaw {
 public:
  explicit PolygonStage(int num_directions) : num_directions_(num_directions) {
    for (int k = 0; k < num_directions; ++k) {
      const double angle = 2 * std::numbers::pi * k / num_directions;
      // Exactly opposite ones, and exact axes.
      const auto clean = [](double x) { return std::abs(x) < 1e-15 ? 0 : x; };
      cos_.push_back(clean(std::cos(angle)));
      sin_.push_back(clean(std::sin(angle)));
    }
  }

  /// Of more unknowns the dense matrix would not be worth its memory.
  static constexpr int kMaxSize = 3000;

  /// Rows this much shorter than the longest, of all that moves, are round-off of projections: such
  /// a contact cannot give way, and an LCP with its digits would ask for impulses of 1e16 and more.
  static constexpr double kRoundOff = 1e-14;
  /// Of the residual, relative to the fastest row: what does for the certificate, where contacts
  /// are the same but for the gaps between them and Q has no digits of that.
  static constexpr double kAccepted = 1e-7;

  LcpReport solve(const RigidStage& stage, StageImpulses* out) override {
    frictional_.clear();
    for (int i = 0; i < stage.num_contacts; ++i)
      if (stage.mu[i] > 0) frictional_.push_back(i);
    const auto num_frictional = static_cast<int>(frictional_.size());
    size_ = stage.num_unilateral + (num_directions_ + 1) * num_frictional +
            3 * static_cast<int>(stage.bound.size());
    if (size_ > kMaxSize) return {.status = numerics::LcpStatus::kTooLarge};
    assemble(stage);
    z_.resize(size_);
    const numerics::DenseLcp lcp{size_, Q_.data(), r_.data()};
    LcpReport report = lemke_.solve(lcp, z_);
    const auto num_speeds = static_cast<int>(constants_.size());
    if ((report.status == numerics::LcpStatus::kNotSolved ||
         report.status == numerics::LcpStatus::kMaxPivots) &&
        report.residual <= kAccepted * math::max_abs(num_speeds, r_.data()))
      report.status = numerics::LcpStatus::kSolved;
    read_out(stage, out);
    // Rows of the LCP are not those of the stage.
    if (report.row >= stage.num_unilateral) report.row = -1;
    return report;
  }

 private:
  /// Q = G G^T + the rows of the polygons; G has the normals, then k directions of each contact,
  /// then two of each dry joint.
  void assemble(const RigidStage& stage) {
    const int n = stage.num_columns, m = stage.num_unilateral, k = num_directions_;
    const int f = static_cast<int>(frictional_.size());
    const int first_dry = m + k * f, num_dry = static_cast<int>(stage.bound.size());
    const int num_rows = first_dry + 2 * num_dry;
    G_.resize(static_cast<std::size_t>(num_rows) * n);
    std::copy(stage.N.begin(), stage.N.end(), G_.begin());
    r_.assign(size_, 0.0);
    for (int i = 0; i < f; ++i) {
      const int contact = frictional_[i];
      const double* t1 = stage.T.data() + static_cast<std::size_t>(2) * contact * n;
      for (int d = 0; d < k; ++d) {
        const int row = m + k * i + d;
        double* g = G_.data() + static_cast<std::size_t>(row) * n;
        for (int j = 0; j < n; ++j) g[j] = cos_[d] * t1[j] + sin_[d] * t1[n + j];
        r_[row] = cos_[d] * stage.b_t[2 * contact] + sin_[d] * stage.b_t[2 * contact + 1];
      }
    }
    for (int i = 0; i < num_dry; ++i)
      for (int side = 0; side < 2; ++side) {
        const int row = first_dry + 2 * i + side;
        const double sign = side == 0 ? 1 : -1;
        double* g = G_.data() + static_cast<std::size_t>(row) * n;
        for (int j = 0; j < n; ++j) g[j] = sign * stage.F[static_cast<std::size_t>(i) * n + j];
        r_[row] = sign * stage.b_f[i];
      }
    std::copy(stage.b.begin(), stage.b.end(), r_.begin());
    clear_round_off(num_rows, n);
    Q_.assign(static_cast<std::size_t>(size_) * size_, 0.0);
    for (int row = 0; row < num_rows; ++row)
      math::multiply_rows(num_rows, n, G_.data(), G_.data() + static_cast<std::size_t>(row) * n,
                          nullptr, Q_.data() + static_cast<std::size_t>(row) * size_);
    constants_.assign(r_.begin(), r_.begin() + num_rows);
    math::multiply_rows(num_rows, n, G_.data(), stage.u_hat.data(), constants_.data(), r_.data());
    Eigen::Map<Eigen::MatrixXd> Q(Q_.data(), size_, size_);
    for (int i = 0; i < f; ++i) {
      const int lambda = num_rows + i;
      Q(lambda, frictional_[i]) = stage.mu[frictional_[i]];
      for (int d = 0; d < k; ++d) {
        Q(m + k * i + d, lambda) = 1;
        Q(lambda, m + k * i + d) = -1;
      }
    }
    for (int i = 0; i < num_dry; ++i) {
      const int lambda = num_rows + f + i;
      r_[lambda] = stage.bound[i];
      for (int row = first_dry + 2 * i; row < first_dry + 2 * i + 2; ++row) {
        Q(row, lambda) = 1;
        Q(lambda, row) = -1;
      }
    }
  }

  void clear_round_off(int num_rows, int n) {
    const auto squared = [&](int row) {
      const double* g = G_.data() + static_cast<std::size_t>(row) * n;
      return math::dot(n, g, g);
    };
    double longest = 0;
    for (int row = 0; row < num_rows; ++row) longest = std::max(longest, squared(row));
    for (int row = 0; row < num_rows; ++row)
      if (squared(row) < kRoundOff * kRoundOff * longest)
        std::fill_n(G_.begin() + static_cast<std::ptrdiff_t>(row) * n, n, 0.0);
  }

  void read_out(const RigidStage& stage, StageImpulses* out) const {
    const int n = stage.num_columns, m = stage.num_unilateral, k = num_directions_;
    out->z.assign(z_.begin(), z_.begin() + m);
    out->tangents.assign(static_cast<std::size_t>(2) * stage.num_contacts, 0.0);
    for (std::size_t i = 0; i < frictional_.size(); ++i) {
      double* t = out->tangents.data() + 2 * frictional_[i];
      for (int d = 0; d < k; ++d) {
        const double beta = z_[m + k * i + d];
        t[0] += cos_[d] * beta;
        t[1] += sin_[d] * beta;
      }
    }
    const int first_dry = m + k * static_cast<int>(frictional_.size());
    out->dry.resize(stage.bound.size());
    for (std::size_t i = 0; i < out->dry.size(); ++i)
      out->dry[i] = z_[first_dry + 2 * i] - z_[first_dry + 2 * i + 1];
    out->u.assign(stage.u_hat.begin(), stage.u_hat.end());
    const int num_rows = first_dry + 2 * static_cast<int>(stage.bound.size());
    for (int row = 0; row < num_rows; ++row)
      math::add_multiple(n, z_[row], G_.data() + static_cast<std::size_t>(row) * n, out->u.data());
    numerics::find_positive(out->z, &out->active);
  }

  const int num_directions_;
  std::vector<double> cos_, sin_;
  int size_ = 0;
  std::vector<int> frictional_;
  std::vector<double> G_, Q_, r_, z_, constants_;
  numerics::Lemke lemke_;
};

}  // namespace

std::unique_ptr<RigidLaw> make_polygon_stage(int num_directions) {
  return std::make_unique<PolygonStage>(num_directions);
}

}  // namespace stiction::formulations
