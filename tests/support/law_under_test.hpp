#pragma once

#include <functional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/model_parameters.hpp"

namespace stiction::support {

/// A contact law with its parameters set, as plain functions of v_c: three components, or six with
/// torsion.
struct LawUnderTest {
  std::string name;
  int size = 3;
  std::function<double(const Eigen::VectorXd&)> cost;
  std::function<Eigen::VectorXd(const Eigen::VectorXd&)> impulse;
  std::function<Eigen::MatrixXd(const Eigen::VectorXd&)> hessian;
  /// gamma . dv and dv . G dv.
  std::function<Eigen::Vector2d(const Eigen::VectorXd&, const Eigen::VectorXd&)> line;
  /// v_n at which the law changes character, at zero slip.
  std::vector<double> normal_kinks;
  /// |phi0| / dt [m/s]: laws of penetration round x0 - dt v, whose size is this or that of v.
  double start = 0;
  double slip_scale = 0;  // slip speed below which friction is stiction [m/s]
};

struct LawStart {
  contact::Contact contact;
  double v_n0 = 0;      // [m/s]
  double delassus = 1;  // [1/kg]
  double time_step = 2e-3;
};

/// The law that the solver uses for a contact of this model.
LawUnderTest make_law(contact::ContactModel model, const LawStart& start,
                      const contact::ModelParameters& parameters);

/// `lagged` by its six-component law, whatever the contact's dim.
LawUnderTest make_torsion_law(contact::ContactModel model, const LawStart& start,
                              const contact::ModelParameters& parameters);

/// Every normal law with every friction regularization, the default pair first.
std::vector<contact::ModelParameters> make_law_choices();

/// Contacts of all characters: light and heavy, deep and apart, damped or not, slippery or not.
std::vector<LawStart> make_law_starts();

}  // namespace stiction::support
