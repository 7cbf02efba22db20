#include "support/law_under_test.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "stiction/contact/law_tables.hpp"
#include "stiction/formulations/convex/contact_batch.hpp"
#include "stiction/formulations/convex/coulomb.hpp"
#include "stiction/formulations/convex/lagged.hpp"
#include "stiction/formulations/convex/sap.hpp"
#include "stiction/formulations/convex/similar.hpp"

namespace stiction::support {
namespace {

using namespace formulations;

using contact::ContactModel;
using Eigen::MatrixXd;
using Eigen::VectorXd;

using math::Lanes;
using math::Lanes3;

/// The lane that is tested. The other lanes have other velocities, which must not change the
/// result.
constexpr int kLane = 2;

Lanes to_lanes(double x) {
  Lanes lanes{0.7 * x - 1, x + 1e-3, x, -3 * x};
  return lanes;
}
Lanes3 to_lanes3(const VectorXd& v) { return {to_lanes(v[0]), to_lanes(v[1]), to_lanes(v[2])}; }

template <class F>
LawUnderTest wrap(const typename F::Parameters& p) {
  LawUnderTest law;
  law.size = 3;
  law.cost = [p](const VectorXd& v) { return F::calc_cost(p, to_lanes3(v))[kLane]; };
  law.impulse = [p](const VectorXd& v) -> VectorXd {
    typename F::State state;
    const Lanes3 gamma = F::calc_impulse(p, to_lanes3(v), &state);
    return Eigen::Vector3d(gamma.x[kLane], gamma.y[kLane], gamma.z[kLane]);
  };
  law.hessian = [p](const VectorXd& v) -> MatrixXd {
    typename F::State state;
    (void)F::calc_impulse(p, to_lanes3(v), &state);
    const math::LanesSymmetric3 G = F::calc_hessian(p, state, Curvature::kExact);
    Eigen::Matrix3d out;
    out << G.xx[kLane], G.xy[kLane], G.xz[kLane], G.xy[kLane], G.yy[kLane], G.yz[kLane],
        G.xz[kLane], G.yz[kLane], G.zz[kLane];
    return out;
  };
  law.line = [p](const VectorXd& v, const VectorXd& dv) {
    const LineDerivatives line = F::calc_line_derivatives(p, to_lanes3(v), to_lanes3(dv));
    return Eigen::Vector2d(line.slope[kLane], line.curvature[kLane]);
  };
  return law;
}

std::array<Lanes, 6> to_lanes6(const VectorXd& v) {
  std::array<Lanes, 6> out;
  for (int i = 0; i < 6; ++i) out[i] = to_lanes(v[i]);
  return out;
}

template <class Torsion>
LawUnderTest wrap_torsion(const typename Torsion::Parameters& p) {
  LawUnderTest law;
  law.size = 6;
  law.cost = [p](const VectorXd& v) { return Torsion::calc_cost(p, to_lanes6(v).data())[kLane]; };
  law.impulse = [p](const VectorXd& v) -> VectorXd {
    typename Torsion::State state;
    Lanes gamma[6];
    Torsion::calc_impulse(p, to_lanes6(v).data(), &state, gamma);
    return VectorXd::NullaryExpr(6, [&](Eigen::Index i) { return gamma[i][kLane]; });
  };
  law.hessian = [p](const VectorXd& v) -> MatrixXd {
    typename Torsion::State state;
    Lanes gamma[6], G[6][6];
    Torsion::calc_impulse(p, to_lanes6(v).data(), &state, gamma);
    Torsion::calc_hessian(p, state, Curvature::kExact, G);
    return MatrixXd::NullaryExpr(6, 6,
                                 [&](Eigen::Index i, Eigen::Index j) { return G[i][j][kLane]; });
  };
  law.line = [p](const VectorXd& v, const VectorXd& dv) {
    const LineDerivatives line =
        Torsion::calc_line_derivatives(p, to_lanes6(v).data(), to_lanes6(dv).data());
    return Eigen::Vector2d(line.slope[kLane], line.curvature[kLane]);
  };
  return law;
}

contact::ContactProblem make_problem(const LawStart& from) {
  contact::ContactProblem problem;
  problem.time_step = from.time_step;
  problem.contacts = {from.contact};
  problem.delassus = {from.delassus};
  problem.anchors = {from.anchor};
  return problem;
}

BatchSource make_source() {
  BatchSource source;
  source.contact[kLane] = 0;
  return source;
}

/// Makes a contact stick by its spring if the friction law has springs and the model takes them.
template <class F>
void attach_anchor(const LawStart& from, const contact::ModelParameters& parameters,
                   typename F::Parameters* p) {
  if constexpr (TakesAnchors<F>) {
    BatchSource all = make_source();
    for (int& contact : all.contact) contact = 0;
    all.num_contacts = math::kNumLanes;
    if (has_anchors(parameters)) F::attach(gather_anchors(make_problem(from), all), p);
  }
}

template <class Start = ContactStart>
Start make_start(const LawStart& from) {
  BatchFrame frame;
  Start start;
  gather(make_problem(from), make_source(), &frame, &start);
  start.v_c0.z[kLane] = from.v_n0;
  return start;
}

template <class Torsion>
typename Torsion::Start make_torsion_start(const LawStart& from) {
  auto start = make_start<typename Torsion::Start>(from);
  start.set_friction(kLane, from.contact);
  return start;
}

/// Returns the normal velocities at which the elastic force vanishes and at which the damping
/// factor vanishes. For the logarithmic barrier, returns the one at which its stiffness is k.
std::vector<double> find_normal_kinks(const LawStart& start,
                                      const contact::ModelParameters& parameters) {
  using contact::NormalLawKind;
  const contact::Contact& c = start.contact;
  const double dt = start.time_step, x0 = -c.phi0;
  std::vector<double> kinks;
  switch (parameters.normal_law) {
    case NormalLawKind::hunt_crossley:
      kinks = {c.fn0 / (dt * c.law.stiffness)};
      if (c.law.dissipation > 0) kinks.push_back(1 / c.law.dissipation);
      break;
    case NormalLawKind::linear:
      kinks = {c.fn0 / (c.law.stiffness * (dt + c.law.relaxation_time))};
      break;
    case NormalLawKind::hertz:
      kinks = {x0 / dt};
      if (c.law.dissipation > 0) kinks.push_back(1 / (1.5 * c.law.dissipation));
      break;
    case NormalLawKind::log_barrier:
    case NormalLawKind::ipc_barrier: kinks = {(x0 + c.law.barrier_thickness) / dt}; break;
    case NormalLawKind::custom: kinks = {x0 / dt, 1}; break;  // the ends of make_tables
    default: kinks = {x0 / dt}; break;  // other laws act where surfaces overlap
  }
  return kinks;
}

template <class F>
LawUnderTest make_law_of(const LawStart& start, const contact::ModelParameters& parameters) {
  auto p = F::make_parameters(make_start(start), parameters);
  attach_anchor<F>(start, parameters, &p);
  LawUnderTest law = wrap<F>(p);
  law.slip_scale = p.slip_tolerance[kLane];
  law.normal_kinks = find_normal_kinks(start, parameters);
  if (!has_default_laws(parameters)) law.start = std::abs(start.contact.phi0) / start.time_step;
  return law;
}

template <template <class> class F>
LawUnderTest make_law_with(const LawStart& start, const contact::ModelParameters& parameters) {
  return has_default_laws(parameters) ? make_law_of<F<DefaultLaws>>(start, parameters)
                                      : make_law_of<F<ChosenLaws>>(start, parameters);
}

template <class F>
LawUnderTest make_torsion_law_of(const LawStart& start,
                                 const contact::ModelParameters& parameters) {
  using Torsion = typename F::Torsion;
  auto p = F::make_torsion_parameters(make_torsion_start<Torsion>(start), parameters);
  attach_anchor<Torsion>(start, parameters, &p);
  LawUnderTest law = wrap_torsion<Torsion>(p);
  law.slip_scale = p.slip_tolerance[kLane] / std::max(p.mu[0][kLane], 1e-9);
  law.normal_kinks = find_normal_kinks(start, parameters);
  if (!has_default_laws(parameters)) law.start = std::abs(start.contact.phi0) / start.time_step;
  return law;
}

template <template <class> class F>
LawUnderTest make_torsion_law_with(const LawStart& start,
                                   const contact::ModelParameters& parameters) {
  return has_default_laws(parameters) ? make_torsion_law_of<F<DefaultLaws>>(start, parameters)
                                      : make_torsion_law_of<F<ChosenLaws>>(start, parameters);
}

}  // namespace

LawUnderTest make_law(ContactModel model, const LawStart& start,
                      const contact::ModelParameters& parameters) {
  LawUnderTest law;
  switch (model) {
    case ContactModel::sap: {
      const Sap::Parameters p = Sap::make_parameters(make_start(start), parameters);
      law = wrap<Sap>(p);
      law.normal_kinks = {p.v_hat[kLane]};
      // Stiction ends at the slip mu R_t gamma_n, here with the impulse at the start of the step.
      law.slip_scale = std::max(
          1e-6, p.mu[kLane] * p.R_t[kLane] * std::abs(start.contact.fn0) * start.time_step);
      break;
    }
    case ContactModel::similar: law = make_law_with<SimilarWith>(start, parameters); break;
    case ContactModel::coulomb: law = make_law_with<CoulombWith>(start, parameters); break;
    case ContactModel::lagged: law = make_law_with<LaggedWith>(start, parameters); break;
    default: law = make_law_with<LaggedRegularizedWith>(start, parameters); break;
  }
  law.name = contact::traits(model).name;
  return law;
}

LawUnderTest make_torsion_law(ContactModel model, const LawStart& start,
                              const contact::ModelParameters& parameters) {
  LawUnderTest law = model == ContactModel::lagged
                         ? make_torsion_law_with<LaggedWith>(start, parameters)
                     : model == ContactModel::coulomb
                         ? make_torsion_law_with<CoulombWith>(start, parameters)
                         : make_torsion_law_with<LaggedRegularizedWith>(start, parameters);
  law.name = std::string(contact::traits(model).name) + " with torsion";
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
          c.law.stiffness = k;
          c.fn0 = fn0;
          c.phi0 = -fn0 / k;
          c.law.dissipation = d;
          c.law.relaxation_time = d > 0 ? 1e-3 : 0;
          c.law.hertz_stiffness = 30 * k;
          c.law.barrier_stiffness = k;
          c.law.barrier_thickness = d > 0 ? 1e-3 : 1e-4;
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

namespace {

/// Returns laws of tables: a hardening spring with a table of damping, and a tent of friction.
contact::ModelParameters make_tables() {
  contact::NormalLawTable spring;
  for (int i = 0; i <= 40; ++i) {
    const double x = 1e-4 * i;
    spring.penetration.push_back(x);
    spring.force.push_back(1e4 * x + 3e7 * x * x);
  }
  spring.rate = {-1, -0.5, 0, 0.5, 1};
  spring.factor = {0, 0.4, 1, 1.7, 2.5};
  contact::FrictionLawTable friction;
  for (int i = 0; i <= 30; ++i) {
    friction.slip.push_back(0.1 * i);
    friction.friction.push_back(std::tanh(0.1 * i) / std::tanh(3.0));
  }
  friction.friction.back() = 1;
  contact::ModelParameters parameters;
  parameters.normal_law = contact::NormalLawKind::custom;
  parameters.custom_law = std::make_shared<const contact::TabulatedLaw>(std::move(spring));
  parameters.friction_law = contact::FrictionRegularizationKind::custom;
  parameters.custom_friction =
      std::make_shared<const contact::TabulatedFriction>(std::move(friction));
  return parameters;
}

}  // namespace

std::vector<contact::ModelParameters> make_law_choices() {
  std::vector<contact::ModelParameters> choices;
  for (const contact::NormalLawTraits& law : contact::normal_laws()) {
    for (const std::string_view name : contact::friction_regularization_names()) {
      contact::ModelParameters parameters;
      parameters.normal_law = law.law;
      parameters.friction_law = contact::parse_friction_regularization(name);
      choices.push_back(parameters);
    }
  }
  choices.push_back(make_tables());
  return choices;
}

}  // namespace stiction::support
