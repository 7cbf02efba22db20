#pragma once

#include "stiction/contact/model_parameters.hpp"

namespace stiction::formulations {

struct SolverOptions {
  contact::ModelParameters parameters{};
  /// Stop when |D grad l| <= absolute + relative max(|D p|, |D J^T gamma|), D = diag(A)^(-1/2), on
  /// each island by itself: relative to the impulses that act, see contact::kResolvedMomentum [-].
  double relative_tolerance = 1e-5;
  double absolute_tolerance = 1e-14;  // [sqrt(J)]
  /// Of Newton's method. `tamsi` has a limit of 20 or 30 in each sub-step and keeps this one there.
  int max_iterations = 100;
  /// Records every iterate of Newton's method in ContactSolution::traces.
  bool trace = false;
  /// `coulomb`: stop when |x - gamma_n|_inf <= coupling_tolerance max(mean(gamma_n), what
  /// relative_tolerance resolves) on each island [-], or when max_rounds convex problems were
  /// solved.
  double coupling_tolerance = 1e-3;
  int max_rounds = 300;
};

}  // namespace stiction::formulations
