#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/base/words.hpp"

namespace stiction::sim {

/// Returns the range [first, last) of a tree's positions in qpos.
std::pair<int, int> find_positions(const mjModel* model, int tree);

/// The sleep of each kinematic tree, and its motion since it came to rest.
struct TreeStates {
  /// The steps below the tolerance before the step from rest.
  static constexpr int kMostSteps = mjMINAWAKE - 1;

  struct Tree {
    int next = -1;            // the next tree of the sleeping island; -1: awake
    int num_steps = 0;        // successive steps below the tolerance, at most kMostSteps
    int window = 0;           // steps since start_v was recorded
    double start_time = 0;    // at which start_v was recorded [s]
    double earlier_time = 0;  // at which earlier_v was recorded [s]
    double speed2 = 0;        // |v|_A^2 of the step from rest [J]
    double error = 0;         // error bound of the step from rest [sqrt(J)]
    /// Hash of the bodies with which the tree has contacts that carry it; see RestDetector.
    std::uint64_t contacts = 0;
    bool rests = false;  // the next step starts from rest, and is the last one before sleep
    bool is_initialized = false;  // asleep since mj_resetData, by the policy of its body
    bool is_stale = false;        // asleep, but the data may lack what its last step computed
    bool touches_mocap = false;   // a mocap body touches or holds it

    bool sleeps() const { return next >= 0; }
    /// True if the next steps may put the tree to sleep, or have done so.
    bool is_quiet() const { return sleeps() || num_steps > 0; }
  };
  std::vector<Tree> trees;
  std::vector<double> start_v;     // velocities at the start of each tree's window, size nv
  std::vector<double> earlier_v;   // and at the start of the window before, if num_steps is full
  std::vector<mjtNum> qpos, qvel;  // at the end of the last step, sizes nq and nv
  bool is_on = false;              // the last step had sleep
  bool is_resumed = false;         // read after the last step

  /// Lets a tree count its steps from 0, with a first window at the velocities of data.
  void restart_count(const mjModel* model, const mjData* data, int tree);
  /// Begins the next window of a tree, at the velocities of data.
  void begin_window(const mjModel* model, const mjData* data, int tree);
  /// Keeps positions and velocities of the end of a step.
  void keep_motion(const mjModel* model, const mjData* data);
  /// True if any tree is quiet.
  bool is_any_quiet() const;
  /// Returns the sum of (|v|_A + e)^2 over the sleeping islands, where v is the solution of the
  /// step from rest and e its error bound [J]. Trees that are initialized asleep are left out.
  /// @param scratch memory to reuse
  double calc_bound2(std::vector<std::uint8_t>* scratch) const;

  void write(base::WordWriter* words) const;
  /// Reads the words of write.
  /// @throws Error if they are others; the states are then undefined
  void read(const mjModel* model, base::WordReader* words);
};

}  // namespace stiction::sim
