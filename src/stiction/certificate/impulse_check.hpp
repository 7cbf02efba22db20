#pragma once

#include <vector>

#include "stiction/certificate/certificate.hpp"
#include "stiction/certificate/generalized_impulses.hpp"
#include "stiction/certificate/law_check.hpp"
#include "stiction/certificate/solved_step.hpp"
#include "stiction/certificate/substep_check.hpp"

namespace stiction::certificate {

/// Evaluates the laws of a compliant model at the velocities of a solution, and compares their
/// impulses with those of the solution.
class ImpulseCheck {
 public:
  /// Evaluates and compares all contacts and rows.
  /// @param substeps the check of the same step, with the laws' impulses in divided islands
  /// @param impulses out: the impulses of all contacts and rows are added to it
  void calc(const SolvedStep& step, const SubstepCheck& substeps, GeneralizedImpulses* impulses);

  /// Writes impulse_error, min_normal_impulse, max_cone_excess and max_friction_work.
  void write(const SolvedStep& step, Certificate* out) const;
  /// The largest impulse of a law, the scale of rounding errors [N s].
  double scale() const;
  /// The energy that springs and moving surfaces may add in islands that were solved whole [J].
  double gain() const;
  /// The largest Delassus size of a contact [1/kg].
  double max_w() const { return max_w_; }
  /// True if every impulse of the solution is finite.
  bool is_finite() const { return contacts_.is_finite() && rows_.is_finite; }
  /// The normal impulse that the law prescribes for each contact [N s].
  const std::vector<double>& normal_impulses() const { return normal_impulses_; }
  /// The normal impulse that bounds friction of each contact [N s], see
  /// ReferenceImpulse::normal_bound.
  const std::vector<double>& normal_bounds() const { return normal_bounds_; }

 private:
  struct PairView;
  struct Wrenches;
  void add_pair(const SolvedStep& step, const SubstepCheck& substeps, const contact::BodyPair& pair,
                GeneralizedImpulses* impulses);
  void add_quad(const PairView& pair, int first, int count, Wrenches* wrenches);
  void add_rows(const SolvedStep& step, const SubstepCheck& substeps,
                GeneralizedImpulses* impulses);

  LawCheck contacts_;
  struct {
    double scale = 0, impulse_error = 0;  // [N s]
    double gain = 0;                      // [J]
    bool is_finite = true;
  } rows_;
  double max_w_ = 0;
  std::vector<double> normal_impulses_, normal_bounds_;
};

}  // namespace stiction::certificate
