#pragma once

#include <random>
#include <vector>

#include "stiction/contact/contact_problem.hpp"

namespace stiction::support {

/// The contents of a random problem. With the defaults it has all kinds of bodies and constraints.
struct RandomProblemOptions {
  int num_bodies = 4;             // free rigid bodies, one block each
  int num_trees = 2;              // trunks with two branches: three coupled blocks and three links
  int num_pairs = 8;              // pairs of two bodies or links, or of one and the world
  int num_rows = 6;               // rows of each kind in turn, with one or two blocks
  bool all_dims = true;           // also contacts of dim 1, 4 and 6 and unequal tangential friction
  bool prescribed_motion = true;  // some contacts have surface velocities
  bool driven_rows = false;       // rows have a bias
  bool near_rigid = true;         // some contacts have an infinite stiffness
};

/// Makes a contact problem with forces of tens of newtons on masses around a kilogram, and with
/// closing, opening and open contacts. The same generator state gives the same problem.
contact::ContactProblem make_random_problem(const RandomProblemOptions& options,
                                            std::mt19937_64* rng);

/// Makes a random problem that MomentumFactor::calc_derived has completed.
/// @throws std::logic_error if its momentum matrix is not positive definite
contact::ContactProblem make_completed_problem(const RandomProblemOptions& options,
                                               std::mt19937_64* rng);

/// Appends a problem to another one. Nothing couples the two.
void append_problem(const contact::ContactProblem& part, contact::ContactProblem* whole);

/// A problem and the parts that it consists of.
struct ProblemOfParts {
  struct Part {
    contact::ContactProblem problem;
    int first_dof = 0, first_contact = 0;  // indices in the whole
  };
  contact::ContactProblem whole;
  std::vector<Part> parts;
};

/// Makes a problem of random parts. Each part has one body more than the part before.
ProblemOfParts make_problem_of_parts(int num_parts, std::mt19937_64* rng);

}  // namespace stiction::support
