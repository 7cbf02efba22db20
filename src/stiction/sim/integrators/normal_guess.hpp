#pragma once

#include <optional>
#include <vector>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"

namespace stiction::sim {

/// The normal impulses of a solution, as the initial guess for a problem with more contacts.
class NormalGuess {
 public:
  /// Reads the guess from the solution of a problem.
  /// @param num_mujoco_contacts number of contacts in mjData, to which Contact::source refers
  void read(const contact::ContactProblem& problem, const contact::ContactSolution& solution,
            int num_mujoco_contacts);
  /// Writes the guess of every contact of a problem. A new contact has no guess.
  /// @param scale factor of the impulses, for a problem with another time step
  void write(contact::ContactProblem* problem, double scale = 1) const;

 private:
  std::vector<std::optional<double>> points_;  // one per contact in mjData
  /// One per point of a patch. The number and the order of these points stay the same.
  std::vector<double> patch_points_;
};

}  // namespace stiction::sim
