#include "formulations/law_under_test.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/formulations/lagged.hpp"
#include "stiction/formulations/lagged_regularized.hpp"
#include "stiction/formulations/sap.hpp"
#include "stiction/formulations/similar.hpp"

namespace stiction::formulations {
namespace {

using contact::ContactModel;
using Eigen::MatrixXd;
using Eigen::VectorXd;

template <class Law, int kSize>
LawUnderTest wrap(const typename Law::Row& row) {
  using Vector = Eigen::Matrix<double, kSize, 1>;
  LawUnderTest law;
  law.size = kSize;
  law.cost = [row](const VectorXd& v) { return Law::calc_cost(row, Vector(v)); };
  law.impulse = [row](const VectorXd& v) -> VectorXd {
    typename Law::State state;
    return Law::calc_impulse(row, Vector(v), &state);
  };
  law.hessian = [row](const VectorXd& v) -> MatrixXd {
    typename Law::State state;
    (void)Law::calc_impulse(row, Vector(v), &state);
    return Law::calc_hessian(row, state);
  };
  law.line = [row](const VectorXd& v, const VectorXd& dv) {
    const LineDerivatives line = calc_line_derivatives<Law>(row, Vector(v), Vector(dv));
    return Eigen::Vector2d(line.slope, line.curvature);
  };
  return law;
}

ContactStart make_start(const LawStart& start) {
  return {start.contact, {0.3, -0.2, start.v_n0}, start.delassus, start.time_step};
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
  LawUnderTest law = wrap<F, 3>(row);
  law.slip_scale = row.slip_tolerance;
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
      law = wrap<Sap, 3>(row);
      law.normal_kinks = {row.v_hat};
      // Stiction ends at mu R_t gamma_n, for impulses around those of the start.
      law.slip_scale =
          std::max(1e-6, row.mu * row.R_t * std::abs(start.contact.fn0) * start.time_step);
      break;
    }
    case ContactModel::similar: {
      const Similar::Row row = Similar::make_row(make_start(start), parameters);
      law = wrap<Similar, 3>(row);
      law.slip_scale = row.slip_tolerance;
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
          ? Lagged::make_torsion_row(make_start(start), parameters)
          : LaggedRegularized::make_torsion_row(make_start(start), parameters);
  LawUnderTest law = wrap<LaggedTorsion, 6>(row);
  law.name = std::string(contact::traits(model).name) + " with torsion";
  law.slip_scale = row.slip_tolerance / std::max(row.mu[0], 1e-9);
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
