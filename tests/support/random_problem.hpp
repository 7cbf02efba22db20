#pragma once

#include <random>

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

}  // namespace stiction::support
