#pragma once

#include "stiction/contact/model_parameters.hpp"

namespace stiction::formulations {

struct SolverOptions {
  contact::ModelParameters parameters;
  /// Stop when |D grad l| <= absolute + relative max(|D A v|, |D J^T gamma|), D = diag(A)^(-1/2),
  /// on each island by itself [-].
  double relative_tolerance = 1e-5;
  double absolute_tolerance = 1e-14;  // [sqrt(J)]
  /// Of Newton's method. `tamsi` has a limit of 20 or 30 in each sub-step and keeps this one there.
  int max_iterations = 100;
};

}  // namespace stiction::formulations
