#pragma once

#include <functional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/model_parameters.hpp"

namespace stiction::support {

/// A contact law with fixed parameters as plain functions of v_c, which has three components, or
/// six with torsion.
struct LawUnderTest {
  std::string name;
  int size = 3;
  std::function<double(const Eigen::VectorXd&)> cost;
  std::function<Eigen::VectorXd(const Eigen::VectorXd&)> impulse;
  std::function<Eigen::MatrixXd(const Eigen::VectorXd&)> hessian;
  /// Computes gamma . dv and dv . G dv at v for the direction dv.
  std::function<Eigen::Vector2d(const Eigen::VectorXd&, const Eigen::VectorXd&)> line;
  /// Normal velocities at which the law has a kink at zero slip [m/s].
  std::vector<double> normal_kinks;
  /// |phi0| / dt [m/s], or 0. Laws that compute x0 - dt v round it with an error proportional to
  /// this.
  double start = 0;
  double slip_scale = 0;  // slip speed below which friction is stiction [m/s]
};

/// A contact at the start of a step.
struct LawStart {
  contact::Contact contact;
  double v_n0 = 0;          // [m/s]
  double delassus = 1;      // [1/kg]
  double time_step = 2e-3;  // [s]
  contact::Anchor anchor;   // of the friction law `elastic`
};

/// Makes the law that the solver uses for a contact under a model.
LawUnderTest make_law(contact::ContactModel model, const LawStart& start,
                      const contact::ModelParameters& parameters);

/// Makes the law of six components of a model, for a contact of any dim.
LawUnderTest make_torsion_law(contact::ContactModel model, const LawStart& start,
                              const contact::ModelParameters& parameters);

/// Returns every normal law with every friction regularization; the default pair comes first.
std::vector<contact::ModelParameters> make_law_choices();

/// Returns contacts that are soft or stiff, deep or open, damped or not, with and without friction.
std::vector<LawStart> make_law_starts();

}  // namespace stiction::support
