#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::sim {

/// Returns the range [first, last) of a tree's positions in qpos.
std::pair<int, int> find_positions(const mjModel* model, int tree);

/// What a step remembers of the sleep of the trees.
struct SleepState {
  /// The steps below the tolerance before the step from rest.
  static constexpr int kMostSteps = mjMINAWAKE - 1;

  struct Tree {
    int next = -1;          // the next tree of the sleeping island; -1: awake
    int num_steps = 0;      // successive steps below the tolerance, at most kMostSteps
    int window = 0;         // steps since start_v was recorded
    double start_time = 0;  // at which start_v was recorded [s]
    double speed2 = 0;      // |v|_A^2 of the step from rest [J]
    double error = 0;       // error bound of the step from rest [sqrt(J)]
    bool rests = false;     // the next step starts from rest, and is the last one before sleep
    bool is_initialized = false;  // asleep since mj_resetData, by the policy of its body
    bool is_stale = false;        // asleep, but the data may lack what its last step computed
    bool touches_mocap = false;   // a mocap body touches or holds it

    bool sleeps() const { return next >= 0; }
  };
  std::vector<Tree> trees;
  std::vector<double> start_v;  // velocities at the start of each tree's window, size nv
  std::vector<mjtNum> qpos;     // at which trees rest or sleep, size nq
  bool is_on = false;           // the last step had sleep
  bool is_resumed = false;      // read after the last step

  /// Begins a new window of a tree, at the velocities of data.
  void restart_window(const mjModel* model, const mjData* data, int tree);
  /// Returns the sum of (|v|_A + e)^2 over the sleeping islands, where v is the solution of the
  /// step from rest and e its error bound [J]. Trees that are initialized asleep are left out.
  /// @param scratch memory to reuse
  double calc_bound2(std::vector<std::uint8_t>* scratch) const;

  void write(std::vector<std::uint64_t>* words) const;
  /// Reads the words of write from the front of `words` and removes them there.
  /// @throws Error if the words are not those of write; the state is then undefined
  void read(const mjModel* model, std::span<const std::uint64_t>* words);
};

}  // namespace stiction::sim
