#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/rigid_touch.hpp"
#include "stiction/plant/body_velocities.hpp"
#include "stiction/plant/motion_bounds.hpp"

namespace stiction::plant {

/// The next touch of two geoms that are apart.
struct Touch {
  double time = 0;                   // from now, in [0, duration] [s]
  std::array<int, 2> geoms{-1, -1};  // that touch then; -1: none does within the duration
  int num_distances = 0;             // computed on the way
  bool is_given_up = false;          // none touches until `time`; what comes then was not found
};

/// How long bodies may move before a pair of geoms that is apart touches: conservative advancement,
/// after [mirtich1996], on MuJoCo's exact distances.
///
/// Let n be the unit vector from A's nearest point to B's, at distance phi. The gap along n, and
/// with it the distance, is at least
///
///     phi - c t - 1/2 K t^2,   c = n . (v_A - v_B) + rho_A |n x w_A| + rho_B |n x w_B|,
///
/// where v is that of the geom's center, rho the radius about it of the shape that a ball is swept
/// along to make the geom (0 for a sphere), and K what MotionBounds says of both geoms' points. So
/// all are carried until that may first be half the tolerance, and the distance is computed anew.
///
/// Two geoms touch at kTouching beyond their margin. Who meets whom is MuJoCo's own choice: contype
/// and conaffinity, <exclude>, <pair>, parent and child. Not foreseen are bodies that the caller
/// moves by mocap. The shapes of type sdf have no exact distance.
class ConservativeAdvancement {
 public:
  static constexpr double kTouching = contact::kTouchDistance;  // [m]
  /// After these many distances, and the second for each pair, a search is given up: bodies that
  /// turn hundreds of times within the duration.
  static constexpr int kMaxDistances = 5000, kMaxDistancesPerPair = 100;

  /// @throws Error for geoms of type sdf, and if MuJoCo raises one
  explicit ConservativeAdvancement(const mjModel* model);
  ~ConservativeAdvancement();
  ConservativeAdvancement(ConservativeAdvancement&&) noexcept;
  ConservativeAdvancement& operator=(ConservativeAdvancement&&) noexcept;

  /// A time until which no pair that is apart now touches: never late, and early by no more than it
  /// takes to come nearer by the tolerance, but for a search that is given up. After the first call
  /// it allocates only where more pairs are near each other than ever before.
  /// @param model    of the constructor, or with other values and the same structure
  /// @param data     of which qpos and mocap poses are read
  /// @param qvel     at which mj_integratePos is to carry the bodies; size nv
  /// @param duration >= 0 [s]
  /// @param together  pairs up to this distance now are not waited for, >= kTouching [m]
  /// @return false if MuJoCo raised an error or had no room for all pairs; then error() says which
  bool calc(const mjModel* model, const mjData* data, const double* qvel, double duration,
            Touch* touch, double together = kTouching);
  const char* error() const { return error_.c_str(); }

 private:
  /// Two geoms that may meet. MuJoCo's order: the lower type first.
  struct Pair {
    std::array<int, 2> geoms{};
    double margin = 0;     // at which they touch [m]
    double bend = 0;       // K [m/s^2]
    double safe_time = 0;  // until which they do not touch [s]
  };
  /// The gap between two geoms, or two convex parts of them.
  struct Gap {
    double distance = 0;
    double n[3] = {};
  };
  void advance(const mjModel* m, double time);
  void find_pairs(const mjModel* m, double duration);
  void make_wide(const mjModel* m, double duration);
  bool start(const mjModel* m, double duration, double together, Touch* touch);
  double calc_safe_time(const mjModel* m, const Pair& pair, double limit, double* distance);
  double calc_safe_time_of_hfield(const mjModel* m, const Pair& pair, double limit,
                                  double* distance);
  double calc_closing_time(const mjModel* m, const Pair& pair, const Gap& gap) const;
  double calc_nearing(const mjModel* m, int geom, const double n[3]) const;
  double calc_speed(const mjModel* m, int geom) const;
  double calc_bend(const mjModel* m, int geom) const;

  struct DataDeleter {
    void operator()(mjData* data) const { mj_deleteData(data); }
  };
  std::unique_ptr<mjData, DataDeleter> data_;  // where the bodies are carried
  mjModel exact_;  // the model with finer convex collision, shares the rest
  mjModel wide_;   // the model with balls about all geoms, and gaps as wide as they may move
  std::vector<int> geom_type_, geom_dataid_;
  std::vector<mjtNum> geom_size_, geom_gap_, pair_gap_, body_margin_;
  std::vector<double> qpos_, qvel_;  // at the start
  BodyVelocities velocities_;
  MotionBounds bounds_;
  std::vector<Pair> pairs_;
  std::string error_;
};

}  // namespace stiction::plant
