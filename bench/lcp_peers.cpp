#include "lcp_peers.hpp"

#include <algorithm>
#include <cstddef>

#include <Eigen/Dense>

#ifdef STICTION_HAS_DAQP
extern "C" {
#include <api.h>
#include <auxiliary.h>
#include <utils.h>
}
#endif

#ifdef STICTION_HAS_SICONOS
#include <siconos/numerics/LinearComplementarityProblem.h>
#include <siconos/numerics/NonSmoothDrivers.h>
#include <siconos/numerics/NumericsMatrix.h>
#include <siconos/numerics/SolverOptions.h>
#include <siconos/numerics/lcp_cst.h>
#endif

namespace stiction::bench {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using numerics::DenseLcp;
using numerics::LcpReport;
using numerics::LcpStatus;

class PublishedRule final : public LcpPeer {
 public:
  const char* name() const override { return "ppm, Eigen's LU each pass"; }

  LcpReport solve(const DenseLcp& p, double* z) override {
    const Eigen::Map<const MatrixXd> Q(p.Q, p.size, p.size);
    const Eigen::Map<const VectorXd> r(p.r, p.size);
    constexpr double kTolerance = 1e-10;
    const double scale = r.lpNorm<Eigen::Infinity>();
    active_.clear();
    z_.resize(0);
    w_ = r;
    LcpReport report{.status = LcpStatus::kMaxPivots};
    for (int pass = 0; pass < 1000; ++pass) {
      for (const int i : active_) w_[i] = 0;
      Eigen::Index enters = 0, leaves = 0;
      const bool is_feasible = w_.minCoeff(&enters) >= -kTolerance * scale;
      const bool is_z_nonnegative =
          active_.empty() || z_.minCoeff(&leaves) >= -kTolerance * z_.lpNorm<Eigen::Infinity>();
      if (is_feasible && is_z_nonnegative) {
        report.status = LcpStatus::kSolved;
        break;
      }
      if (!is_z_nonnegative) active_.erase(active_.begin() + leaves);
      if (!is_feasible) active_.push_back(static_cast<int>(enters));
      report.pivots += !is_z_nonnegative + !is_feasible;
      z_ = Eigen::PartialPivLU<MatrixXd>(Q(active_, active_)).solve(-r(active_));
      w_ = r;
      for (std::size_t k = 0; k < active_.size(); ++k) w_ += z_[k] * Q.col(active_[k]);
    }
    std::fill_n(z, p.size, 0.0);
    for (std::size_t k = 0; k < active_.size(); ++k) z[active_[k]] = std::max(0.0, z_[k]);
    return report;
  }

 private:
  std::vector<int> active_;
  VectorXd z_, w_;
};

#ifdef STICTION_HAS_DAQP
class DaqpDense final : public LcpPeer {
 public:
  DaqpDense() { daqp_default_settings(&settings_); }
  ~DaqpDense() override {
    if (H_.size() == 0) return;
    work_.settings = nullptr;  // DAQP must not free our member.
    free_daqp_workspace(&work_);
    free_daqp_ldp(&work_);
  }
  const char* name() const override { return "DAQP, dense"; }

  /// Solves problems of one size only.
  LcpReport solve(const DenseLcp& p, double* z) override {
    const bool is_set_up = H_.size() > 0;
    H_ = Eigen::Map<const MatrixXd>(p.Q, p.size, p.size);
    H_.diagonal().array() += 1e-9;
    lower_.setZero(p.size);
    upper_.setConstant(p.size, DAQP_INF);
    lambda_.resize(p.size);
    qp_ = {};
    qp_.n = qp_.m = qp_.ms = p.size;
    qp_.H = H_.data();
    qp_.f = const_cast<double*>(p.r);
    qp_.blower = lower_.data();
    qp_.bupper = upper_.data();
    int flag;
    if (is_set_up) {
      daqp_deactivate_constraints(&work_);
      reset_daqp_workspace(&work_);
      flag = daqp_update_ldp(
          DAQP_UPDATE_Rinv | DAQP_UPDATE_M | DAQP_UPDATE_v | DAQP_UPDATE_d | DAQP_UPDATE_sense,
          &work_, &qp_);
    } else {
      work_.settings = &settings_;
      flag = setup_daqp(&qp_, &work_, nullptr);
    }
    if (flag < 0) return {.status = LcpStatus::kNotSolved};
    DAQPResult result = {};
    result.x = z;
    result.lam = lambda_.data();
    daqp_solve(&result, &work_);
    return {.status = result.exitflag > 0 ? LcpStatus::kSolved : LcpStatus::kNotSolved,
            .pivots = result.iter};
  }

 private:
  DAQPWorkspace work_ = {};
  DAQPSettings settings_ = {};
  DAQPProblem qp_ = {};
  MatrixXd H_;
  VectorXd lower_, upper_, lambda_;
};
#endif

#ifdef STICTION_HAS_SICONOS
class SiconosLemke final : public LcpPeer {
 public:
  SiconosLemke() : options_(solver_options_create(SICONOS_LCP_LEMKE)) {}
  ~SiconosLemke() override {
    solver_options_delete(options_);
    if (lcp_.M) NM_free(lcp_.M);
  }
  const char* name() const override { return "Siconos lemke"; }

  LcpReport solve(const DenseLcp& p, double* z) override {
    const std::size_t size = static_cast<std::size_t>(p.size) * p.size;
    if (!lcp_.M) lcp_.M = NM_create(NM_DENSE, p.size, p.size);
    std::copy_n(p.Q, size, lcp_.M->matrix0);
    r_ = w_ = Eigen::Map<const VectorXd>(p.r, p.size);
    lcp_.size = p.size;
    lcp_.q = r_.data();
    std::fill_n(z, p.size, 0.0);
    const int info = linearComplementarity_driver(&lcp_, z, w_.data(), options_);
    return {.status = info == 0 ? LcpStatus::kSolved : LcpStatus::kNotSolved};
  }

 private:
  LinearComplementarityProblem lcp_ = {};
  SolverOptions* options_;
  VectorXd r_, w_;
};
#endif

}  // namespace

std::unique_ptr<LcpPeer> make_published_rule() { return std::make_unique<PublishedRule>(); }

std::unique_ptr<LcpPeer> make_daqp_dense() {
#ifdef STICTION_HAS_DAQP
  return std::make_unique<DaqpDense>();
#else
  return nullptr;
#endif
}

std::unique_ptr<LcpPeer> make_siconos_lemke() {
#ifdef STICTION_HAS_SICONOS
  return std::make_unique<SiconosLemke>();
#else
  return nullptr;
#endif
}

}  // namespace stiction::bench
