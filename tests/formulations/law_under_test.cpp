#include "formulations/law_under_test.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stiction/formulations/contact_batch.hpp"
#include "stiction/formulations/lagged.hpp"
#include "stiction/formulations/lagged_regularized.hpp"
#include "stiction/formulations/sap.hpp"
#include "stiction/formulations/similar.hpp"

namespace stiction::formulations {
namespace {

using contact::ContactModel;
using Eigen::MatrixXd;
using Eigen::VectorXd;

using math::Lanes;
using math::Lanes3;

/// The lane that is looked at; the others hold other velocities, which must not matter.
constexpr int kLane = 2;

Lanes to_lanes(double x) {
  Lanes lanes{0.7 * x - 1, x + 1e-3, x, -3 * x};
  return lanes;
}
Lanes3 to_lanes3(const VectorXd& v) { return {to_lanes(v[0]), to_lanes(v[1]), to_lanes(v[2])}; }

template <class F>
LawUnderTest wrap(const typename F::Row& row) {
  LawUnderTest law;
  law.size = 3;
  law.cost = [row](const VectorXd& v) { return F::calc_cost(row, to_lanes3(v))[kLane]; };
  law.impulse = [row](const VectorXd& v) -> VectorXd {
    typename F::State state;
    const Lanes3 gamma = F::calc_impulse(row, to_lanes3(v), &state);
    return Eigen::Vector3d(gamma.x[kLane], gamma.y[kLane], gamma.z[kLane]);
  };
  law.hessian = [row](const VectorXd& v) -> MatrixXd {
    typename F::State state;
    (void)F::calc_impulse(row, to_lanes3(v), &state);
    const math::LanesSymmetric3 G = F::calc_hessian(row, state, Curvature::kExact);
    Eigen::Matrix3d out;
    out << G.xx[kLane], G.xy[kLane], G.xz[kLane], G.xy[kLane], G.yy[kLane], G.yz[kLane],
        G.xz[kLane], G.yz[kLane], G.zz[kLane];
    return out;
  };
  law.line = [row](const VectorXd& v, const VectorXd& dv) {
    const LineDerivatives line = F::calc_line_derivatives(row, to_lanes3(v), to_lanes3(dv));
    return Eigen::Vector2d(line.slope[kLane], line.curvature[kLane]);
  };
  return law;
}

std::array<Lanes, 6> to_lanes6(const VectorXd& v) {
  std::array<Lanes, 6> out;
  for (int i = 0; i < 6; ++i) out[i] = to_lanes(v[i]);
  return out;
}

LawUnderTest wrap_torsion(const LaggedTorsion::Row& row) {
  LawUnderTest law;
  law.size = 6;
  law.cost = [row](const VectorXd& v) {
    return LaggedTorsion::calc_cost(row, to_lanes6(v).data())[kLane];
  };
  law.impulse = [row](const VectorXd& v) -> VectorXd {
    LaggedTorsion::State state;
    Lanes gamma[6];
    LaggedTorsion::calc_impulse(row, to_lanes6(v).data(), &state, gamma);
    return VectorXd::NullaryExpr(6, [&](Eigen::Index i) { return gamma[i][kLane]; });
  };
  law.hessian = [row](const VectorXd& v) -> MatrixXd {
    LaggedTorsion::State state;
    Lanes gamma[6], G[6][6];
    LaggedTorsion::calc_impulse(row, to_lanes6(v).data(), &state, gamma);
    LaggedTorsion::calc_hessian(row, state, Curvature::kExact, G);
    return MatrixXd::NullaryExpr(6, 6,
                                 [&](Eigen::Index i, Eigen::Index j) { return G[i][j][kLane]; });
  };
  law.line = [row](const VectorXd& v, const VectorXd& dv) {
    const LineDerivatives line =
        LaggedTorsion::calc_line_derivatives(row, to_lanes6(v).data(), to_lanes6(dv).data());
    return Eigen::Vector2d(line.slope[kLane], line.curvature[kLane]);
  };
  return law;
}

template <class Start = ContactStart>
Start make_start(const LawStart& from) {
  contact::ContactProblem problem;
  problem.time_step = from.time_step;
  problem.contacts = {from.contact};
  problem.delassus = {from.delassus};
  BatchSource source;
  source.contact[kLane] = 0;
  BatchFrame frame;
  Start start;
  gather(problem, source, &frame, &start);
  start.v_c0.z[kLane] = from.v_n0;
  return start;
}

LaggedTorsion::Start make_torsion_start(const LawStart& from) {
  auto start = make_start<LaggedTorsion::Start>(from);
  for (int i = 0; i < from.contact.dim - 1; ++i)
    start.friction[i][kLane] = from.contact.friction[i];
  return start;
}

/// Where the spring is released and where the damper would pull.
std::vector<double> hunt_crossley_kinks(const LawStart& start) {
  const contact::Contact& c = start.contact;
  std::vector<double> kinks = {c.fn0 / (start.time_step * c.stiffness)};
  if (c.dissipation > 0) kinks.push_back(1 / c.dissipation);
  return kinks;
}

template <class F>
LawUnderTest make_lagged(const LawStart& start, const contact::ModelParameters& parameters) {
  const auto row = F::make_row(make_start(start), parameters);
  LawUnderTest law = wrap<F>(row);
  law.slip_scale = row.slip_tolerance[kLane];
  law.normal_kinks = hunt_crossley_kinks(start);
  return law;
}

}  // namespace

LawUnderTest make_law(ContactModel model, const LawStart& start,
                      const contact::ModelParameters& parameters) {
  LawUnderTest law;
  switch (model) {
    case ContactModel::sap: {
      const Sap::Row row = Sap::make_row(make_start(start), parameters);
      law = wrap<Sap>(row);
      law.normal_kinks = {row.v_hat[kLane]};
      // Stiction ends at mu R_t gamma_n, for impulses around those of the start.
      law.slip_scale = std::max(
          1e-6, row.mu[kLane] * row.R_t[kLane] * std::abs(start.contact.fn0) * start.time_step);
      break;
    }
    case ContactModel::similar: {
      const Similar::Row row = Similar::make_row(make_start(start), parameters);
      law = wrap<Similar>(row);
      law.slip_scale = row.slip_tolerance[kLane];
      law.normal_kinks = hunt_crossley_kinks(start);
      break;
    }
    case ContactModel::lagged: law = make_lagged<Lagged>(start, parameters); break;
    default: law = make_lagged<LaggedRegularized>(start, parameters); break;
  }
  law.name = contact::traits(model).name;
  return law;
}

LawUnderTest make_torsion_law(ContactModel model, const LawStart& start,
                              const contact::ModelParameters& parameters) {
  const LaggedTorsion::Row row =
      model == ContactModel::lagged
          ? Lagged::make_torsion_row(make_torsion_start(start), parameters)
          : LaggedRegularized::make_torsion_row(make_torsion_start(start), parameters);
  LawUnderTest law = wrap_torsion(row);
  law.name = std::string(contact::traits(model).name) + " with torsion";
  law.slip_scale = row.slip_tolerance[kLane] / std::max(row.mu[0][kLane], 1e-9);
  law.normal_kinks = hunt_crossley_kinks(start);
  return law;
}

std::vector<LawStart> make_law_starts() {
  std::vector<LawStart> starts;
  for (const double k : {1e3, 1e7}) {
    for (const double fn0 : {-5.0, 1e-6, 20.0, 1e4}) {
      for (const double d : {0.0, 50.0}) {
        for (const double mu : {0.0, 0.1, 2.0}) {
          LawStart start;
          contact::Contact& c = start.contact;
          c.stiffness = k;
          c.fn0 = fn0;
          c.phi0 = -fn0 / k;
          c.dissipation = d;
          c.relaxation_time = d > 0 ? 1e-3 : 0;
          c.dim = 6;
          c.friction = {mu, mu, 0.02 * mu, 0.001 * mu, 0.003 * mu};
          start.v_n0 = d > 0 ? -0.4 : 0.1;
          start.delassus = 3;
          starts.push_back(start);
        }
      }
    }
  }
  return starts;
}

}  // namespace stiction::formulations
