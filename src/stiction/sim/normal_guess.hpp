#pragma once

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
  /// Sets the guess of every contact of a problem, -1 if the contact is new.
  void write(contact::ContactProblem* problem) const;

 private:
  std::vector<double> points_;  // of each of MuJoCo's contacts; -1 is unknown
  std::vector<double>
      patch_points_;  // of the points of patches, which stay the same in number and order
};

}  // namespace stiction::sim
