#pragma once

#include <span>
#include <vector>

#include "stiction/formulations/rigid/rigid_terms.hpp"

namespace stiction::formulations {

/// The directions in which tangents of sticking contacts are constrained.
///
/// A tangent may be redundant up to a short lever ([theory:short-levers]). MuJoCo's tangents are
/// projections of world axes, so a decision about each of them would depend on how the world is
/// turned. The first direction here points to the other contacts of the pair of bodies, because
/// sticking contacts on a line are redundant along it. A contact that is alone has the directions
/// in which it moves most and least easily.
class TangentAxes {
 public:
  /// Finds the directions of all contacts, and turns the rows of their tangents.
  /// @param T   whitened rows of the tangents of all contacts, two each
  void turn(const RigidTerms& terms, std::vector<double>* T);
  /// Turns the constants of the rows.
  void turn_constants(std::span<double> b_t) const;
  /// Turns the tangential impulse of a contact back to the contact's frame.
  void turn_back(int contact, double* impulse) const;
  void clear() { axes_.clear(); }

 private:
  struct Axis {
    double cos = 1, sin = 0;  // of the first direction, in the contact's frame
  };
  std::vector<Axis> axes_;  // empty: the contacts' own tangents
};

}  // namespace stiction::formulations
