#pragma once

#include <algorithm>

#include "stiction/contact/model_parameters.hpp"

namespace stiction::formulations {

/// Parameters, tolerances and iteration limits of a ContactSolver.
struct SolverOptions {
  contact::ModelParameters parameters{};
  /// An island has converged if |D grad l| <= absolute + relative max(|D p|, |D J^T gamma|), with
  /// D = diag(A)^(-1/2). The tolerance is relative to the impulses that act, see
  /// contact::kResolvedMomentum [-].
  double relative_tolerance = 1e-5;
  double absolute_tolerance = 1e-14;  // [sqrt(J)]
  /// Largest number of Newton iterations. In a sub-step of `tamsi` the smaller of this number and
  /// TamsiIsland's own limits applies.
  int max_iterations = 100;
  /// Records every iterate of Newton's method in ContactSolution::traces.
  bool trace = false;
  /// `coulomb`: the rounds of an island end when |x - gamma_n|_inf <= coupling_tolerance max(mean
  /// gamma_n, impulse that resolution() resolves) [-], or after max_rounds convex problems.
  double coupling_tolerance = 1e-3;
  int max_rounds = 300;
  /// A relative tolerance coarser than relative_tolerance at which bounds of friction are resolved,
  /// for a caller that wants velocities to be more accurate than these [-].
  double coupling_resolution = 0;

  /// Returns the relative tolerance at which bounds of friction are resolved [-].
  double resolution() const { return std::max(relative_tolerance, coupling_resolution); }
};

}  // namespace stiction::formulations
