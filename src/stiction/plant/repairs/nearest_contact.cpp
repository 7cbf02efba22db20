#include "stiction/plant/repairs/convex_pair.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace stiction::plant {
namespace {

/// The two nearest points of geoms A and B, and their signed distance.
struct Points {
  double distance = 0;
  mjtNum ends[6] = {};

  /// The unit vector from A to B, negative where the geoms overlap.
  std::array<double, 3> calc_normal() const {
    std::array<double, 3> n;
    for (int i = 0; i < 3; ++i) n[i] = ends[3 + i] - ends[i];
    const double length = std::copysign(mju_norm3(n.data()), distance);
    for (double& x : n) x /= length;
    return n;
  }
};

/// The search for the nearest contact of a pair. It has no destructor, see MuJoCoGuard::run.
class Search {
 public:
  Search(mjModel* m, mjData* d, const PairContacts& pair, double reach)
      : m_(m),
        d_(d),
        a_(pair.contacts->geom[0]),
        b_(pair.contacts->geom[1]),
        tolerance_(pair.tolerance),
        part_(kShareOfRadius * pair.radius),
        reach_(reach) {
    start_.contact = pair.nearest();
    start_.separation = calc_separation(m, d, a_, b_, start_.contact.frame);
  }

  NearestContact find() {
    // EPA may lose its way in rounding errors. A larger tolerance ends it earlier.
    for (const double tolerance : {kExactShare * tolerance_, tolerance_}) {
      const Points points = measure(reach_, tolerance);
      if (points.distance >= reach_) return {.contact = start_.contact, .is_apart = true};
      NearestContact measured = start_;
      for (int i = 0; i < 3; ++i)
        measured.contact.pos[i] = 0.5 * (points.ends[i] + points.ends[3 + i]);
      constexpr double kLeastDistance = 1e-9;  // where the normal is accurate to 1e-7 [m]
      if (std::abs(points.distance) >= kLeastDistance) turn(points.calc_normal().data(), &measured);
      if (agrees(points.distance, measured)) return accept(points.distance, measured);
      if (NearestContact bounded = measured; find_bounded(points.distance, &bounded))
        return accept(bounded.separation, bounded);
      distances_[num_starts_] = points.distance;
      starts_[num_starts_++] = measured;
    }
    return improve_starts();
  }

 private:
  static constexpr double kShareOfRadius = 1e-3;
  static constexpr int kMaxImprovements = 30;
  /// An overlap may be deeper than it is by this many tolerances.
  static constexpr double kNearlyExact = 10;

  Points measure(double reach, double tolerance) {
    m_->opt.ccd_tolerance = tolerance;
    Points points;
    points.distance = mj_geomDistance(m_, d_, a_, b_, reach, points.ends);
    return points;
  }

  void turn(const double n[3], NearestContact* nearest) const {
    set_normal(n, &nearest->contact);
    nearest->separation = calc_separation(m_, d_, a_, b_, nearest->contact.frame);
  }

  /// Adds a normal to begin from.
  void add_start(const double n[3]) {
    NearestContact& start = starts_[num_starts_++];
    start = start_;
    turn(n, &start);
  }

  bool agrees(double distance, const NearestContact& nearest) const {
    return std::abs(distance - nearest.separation) <= tolerance_;
  }

  static NearestContact accept(double distance, NearestContact nearest) {
    set_distance(distance, &nearest.contact);
    return nearest;
  }

  /// Improves the better one of a measured normal and that of the contact, where EPA has reached
  /// its largest number of iterations in an overlap: its distance is an upper bound all the same.
  /// @return true if the separation is a local maximum within kNearlyExact of the bound
  bool find_bounded(double bound, NearestContact* nearest) {
    if (start_.separation > nearest->separation) *nearest = start_;
    const auto is_near = [&] {
      return bound < 0 && nearest->separation <= bound + tolerance_ &&
             bound - nearest->separation <= kNearlyExact * tolerance_;
    };
    if (!is_near()) return false;
    distances_[0] = bound;
    for (int i = 0; i < kMaxImprovements && improve(nearest);) ++i;
    return is_near();
  }

  /// Improves all normals that are known and their opposites, the best one first, until one of them
  /// proves a distance.
  NearestContact improve_starts() {
    double centers[3];
    mju_sub3(centers, d_->geom_xpos + 3 * b_, d_->geom_xpos + 3 * a_);
    mju_normalize3(centers);
    starts_[num_starts_++] = start_;
    add_start(centers);
    for (std::size_t i = 0, size = num_starts_; i < size; ++i) {
      const mjtNum* n = starts_[i].contact.frame;
      const double back[3] = {-n[0], -n[1], -n[2]};
      add_start(back);
    }
    const auto is_better = [](const NearestContact& x, const NearestContact& y) {
      return x.separation > y.separation;
    };
    const auto find_best = [&](auto begin) {
      return std::min_element(begin, starts_.end(), is_better);
    };
    for (auto at = starts_.begin(); at != starts_.end(); ++at) {
      std::iter_swap(at, find_best(at));
      NearestContact& start = *at;
      for (int i = 0; i < kMaxImprovements && !agrees(distances_[0], start) && improve(&start);)
        ++i;
      for (const double distance : distances_)
        if (agrees(distance, start)) return accept(distance, start);
    }
    NearestContact best = *find_best(starts_.begin());
    set_distance(best.separation, &best.contact);
    return best;
  }

  /// Takes a better normal, from geoms that are moved apart along the present one.
  /// @return false if there is none
  bool improve(NearestContact* nearest) {
    const mjtNum* frame = nearest->contact.frame;
    const mjtNum n[3] = {frame[0], frame[1], frame[2]};
    const double farthest = std::max(0.0, -nearest->separation) + part_;
    double shift = std::min(farthest, 2 * std::max(0.0, -distances_[0]) + part_);
    Points points = measure_apart(n, shift);
    while (points.distance <= 0 && shift < farthest) {
      shift = std::min(farthest, 4 * shift);
      points = measure_apart(n, shift);
    }
    if (points.distance <= 0) return false;
    NearestContact next = *nearest;
    turn(points.calc_normal().data(), &next);
    for (int i = 0; i < 3; ++i)
      next.contact.pos[i] = 0.5 * (points.ends[i] + points.ends[3 + i] - shift * n[i]);
    if (!(next.separation > nearest->separation)) return false;
    *nearest = next;
    return true;
  }

  /// Measures the geoms with B moved along a direction.
  Points measure_apart(const double n[3], double shift) {
    mjtNum* x = d_->geom_xpos + 3 * b_;
    const mjtNum place[3] = {x[0], x[1], x[2]};
    mju_addToScl3(x, n, shift);
    const Points points = measure(mjMAXVAL, kExactShare * tolerance_);
    mju_copy3(x, place);
    return points;
  }

  mjModel* m_;
  mjData* d_;
  int a_, b_;
  double tolerance_, part_, reach_;
  NearestContact start_;                  // the contact that is given
  std::array<double, 2> distances_{};     // by MuJoCo
  std::array<NearestContact, 8> starts_;  // with the normals that are known, and their opposites
  std::size_t num_starts_ = 0;
};

}  // namespace

NearestContact find_nearest(mjModel* exact, mjData* d, const PairContacts& pair, double reach) {
  exact->opt.disableflags &= ~mjDSBL_NATIVECCD;  // libccd is less accurate
  exact->opt.ccd_iterations = std::max(exact->opt.ccd_iterations, 100);
  return Search(exact, d, pair, reach).find();
}

}  // namespace stiction::plant
