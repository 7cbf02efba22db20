#pragma once

#include <limits>
#include <vector>

namespace stiction::numerics {

/// One iterate of Newton's method.
struct NewtonIterate {
  int run = 0;        // index of the minimization; continuation makes several
  int iteration = 0;  // 0 at the start of a run
  /// l at this iterate minus l at the start of the run, in the unit of l; NaN if there is no l.
  double cost = 0;
  double gradient_norm = 0;  // Residual::norm
  /// alpha of the step from this iterate, 1 for Newton's full step; 0 at the last iterate.
  double step_length = 0;
};

/// The iterates of Newton's method over one or more runs.
class NewtonTrace {
 public:
  void clear() {
    iterates_.clear();
    num_runs_ = 0;
  }
  /// Starts the record of another minimization.
  void begin_run() {
    ++num_runs_;
    cost_ = 0;
    iteration_ = 0;
  }
  /// Adds the next iterate of the current run.
  void add_iterate(double gradient_norm) {
    iterates_.push_back({.run = num_runs_ - 1,
                         .iteration = iteration_++,
                         .cost = cost_,
                         .gradient_norm = gradient_norm,
                         .step_length = 0});
  }
  /// Adds the step from the last iterate.
  /// @param cost_change NaN if the method minimizes no function
  void add_step(double step_length, double cost_change = std::numeric_limits<double>::quiet_NaN()) {
    iterates_.back().step_length = step_length;
    cost_ += cost_change;
  }
  const std::vector<NewtonIterate>& iterates() const { return iterates_; }

 private:
  std::vector<NewtonIterate> iterates_;
  int num_runs_ = 0, iteration_ = 0;
  double cost_ = 0;
};

}  // namespace stiction::numerics
