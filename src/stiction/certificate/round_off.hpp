#pragma once

#include <span>
#include <vector>

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/model_parameters.hpp"

namespace stiction::certificate {

using contact::ContactModel;
using contact::ContactProblem;
using contact::ModelParameters;

/// What rounding alone may do to the laws' impulses at given velocities.
///
/// A contact velocity is a sum of terms J v, each rounded: it is known to a few units in the last
/// place of the largest of them. A law that is stiff in it, such as friction mu gamma_n0 / v_s near
/// stiction, turns that into an impulse error which no solver can go below.
class RoundOff {
 public:
  /// @param normal_bounds of the solution, see ContactSolution; empty if the model finds its own
  void calc(const ContactProblem& problem, ContactModel model, const ModelParameters& parameters,
            std::span<const double> v, std::span<const double> normal_bounds = {});

  /// Bound on the rounding error of each entry of A (v - v*) - J^T gamma; size num_dofs.
  std::span<const double> imbalance() const { return imbalance_; }
  /// Bound on the rounding error of any contact's or row's impulse [N s].
  double impulse() const { return impulse_; }

 private:
  std::vector<double> imbalance_;
  double impulse_ = 0;
};

}  // namespace stiction::certificate
