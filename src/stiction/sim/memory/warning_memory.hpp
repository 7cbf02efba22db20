#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/sim/memory/memory.hpp"

namespace stiction::sim {

/// A contact that lets geoms overlap by this share of the thinner one's thickness is too soft.
inline constexpr double kTooDeep = 0.1;
/// Geoms that overlap by this share of the thinner one's thickness are on their way through each
/// other, because from here on the shortest way out may be on the other side.
inline constexpr double kThrough = 0.5;

/// Returns the smallest side of a geom's bounding box [m]; planes and height fields: infinite.
double calc_thickness(const mjModel* model, int geom);

/// The pairs of geoms that overlap deeply, from step to step, so that each of them gives one
/// warning until its geoms have parted.
///
/// A pair gets deep if a contact point sinks in a step until the overlap is h = kTooDeep thickness
/// of the thinner geom. Bodies may also turn past the contact points that a step knows, so that the
/// next step finds them deep. These give a warning when they overlap by kThrough thickness. In the
/// first step, and after the caller has changed time or their qpos, the caller may have put the
/// geoms into each other. These give a warning when they get deeper by h. The caller moves mocap
/// bodies all the time, so their pairs give a warning at h in every case.
class PenetrationMemory final : public Memory {
 public:
  /// The overlap of two geoms in a step.
  struct Pair {
    std::array<int, 2> geoms{};
    double start = 0;         // depth at the start of the step [m]
    double depth = 0;         // the largest depth in the step [m]
    double h = 0;             // the depth from which on it is deep [m]
    double reference = 0;     // without has_turned, a warning is due at reference + h [m]
    bool is_moved = false;    // the caller moves one of the geoms
    bool has_turned = false;  // it got deep between the contact points of two steps
    bool is_warned = false;   // the warning has been given
    bool has_gap = false;     // a contact of the pair is open in the step after
  };

  explicit PenetrationMemory(const mjModel* model) : Memory(model, "the overlaps of geoms") {}

  void begin(const StepStart& start) override;
  void end(const StepEnd& end) override;
  std::uint32_t used() const override { return now_.empty() ? 0u : kWarnings; }
  void write(base::WordWriter* words) const override;
  void read(base::WordReader* words) override;

  /// True if pairs of geoms were deep in the last step, or in this one so far.
  bool knows_any() const { return !before_.empty() || !now_.empty(); }

  /// Records a contact of the step, or of a part of it.
  /// @param start, end depth at the start and at the end [m]
  void record(const std::array<int, 2>& geoms, double start, double end, double h, bool is_moved);

  /// Returns the pairs that give a warning in this step. Call it after all contacts are recorded.
  std::span<const Pair> find_new();

 private:
  std::vector<Pair> before_, now_;  // of the last step and of this one
  std::vector<Pair> new_;
  KeptTrees kept_{m_};
};

/// True if the geoms are on their way through each other at the start of the step.
bool is_through(const PenetrationMemory::Pair& pair);

/// A joint or tendon that is beyond its range.
struct LimitViolation {
  bool is_tendon = false;
  int id = 0;
  double excess = 0;     // distance beyond the range [m or rad]
  double tolerance = 0;  // calc_limit_tolerance of its range
};

/// Returns the violation of a limit of a rigid model from which on a step warns: a tenth of the
/// range, but 0.01 to 0.1 rad for hinges and ball joints, and 0.1 % to 1 % of the model's extent
/// for slides and tendons [m or rad].
double calc_limit_tolerance(const mjModel* model, bool is_tendon, int id);

/// The limits of joints and tendons that are violated, from step to step.
///
/// A rigid model keeps limits by velocities, so a joint leaves its range only by the error of a
/// straight line in a step, or in a conflict. A violation gives a warning where it exceeds the
/// tolerance for the first time, and each further multiple of it, until the limit holds again. A
/// violation that the caller has set gives none until it grows. Tendon lengths are known at the
/// start of a step, so a tendon is seen one step later.
class LimitMemory final : public Memory {
 public:
  explicit LimitMemory(const mjModel* model)
      : Memory(model, "the limits of joints and tendons", Scope::call) {}

  void begin(const StepStart& start) override;
  void end(const StepEnd&) override { before_ = now_; }
  std::uint32_t used() const override {
    return std::any_of(now_.begin(), now_.end(), [](int level) { return level > 0; }) ? kWarnings
                                                                                      : 0u;
  }
  void write(base::WordWriter* words) const override;
  void read(base::WordReader* words) override;

  /// Returns the limits that give a warning in this step. Call it at the end of the step.
  std::span<const LimitViolation> find_new(const mjData* data);

 private:
  // The multiple of its tolerance by which each joint, and then each tendon, is beyond its range;
  // -1: not known. Empty before the first step.
  std::vector<int> before_, now_;
  std::vector<LimitViolation> new_;
};

}  // namespace stiction::sim
