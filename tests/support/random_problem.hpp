#pragma once

#include <random>
#include <vector>

#include "stiction/contact/contact_problem.hpp"

namespace stiction::support {

/// What a random problem is made of. Defaults hold every kind of everything.
struct RandomProblemOptions {
  int num_bodies = 4;             // free rigid bodies, one block each
  int num_trees = 2;              // a trunk with two branches: three coupled blocks, three links
  int num_pairs = 8;              // of any two bodies or links, or one and the world
  int num_rows = 6;               // of each kind in turn, over one or two blocks
  bool all_dims = true;           // condim 1, 4 and 6 and unequal tangential friction, besides 3
  bool prescribed_motion = true;  // surface velocities
  bool near_rigid = true;         // some contacts without a stiffness of their own
};

/// A contact problem with forces of tens of newtons on masses around a kilogram, contacts closing,
/// opening and apart. The same generator state gives the same problem.
contact::ContactProblem make_random_problem(const RandomProblemOptions& options,
                                            std::mt19937_64* rng);

/// Adds a problem behind another, nothing coupling the two.
void append_problem(const contact::ContactProblem& part, contact::ContactProblem* whole);

/// A problem, and the parts that it was appended from.
struct ProblemOfParts {
  struct Part {
    contact::ContactProblem problem;
    int first_dof = 0, first_contact = 0;  // of the whole
  };
  contact::ContactProblem whole;
  std::vector<Part> parts;
};

/// Of random problems, each of a body more than the last.
ProblemOfParts make_problem_of_parts(int num_parts, std::mt19937_64* rng);

}  // namespace stiction::support
