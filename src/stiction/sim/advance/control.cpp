#include "stiction/sim/advance/control.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/math/scalar_functions.hpp"

namespace stiction::sim {
namespace {

constexpr double kLeastLever = 1e-3;  // [m]

double calc_distance(const mjtNum* a, const mjtNum* b) { return mju_dist3(a, b); }

/// Returns the largest distance from a point of a body to a point of its geoms, to its center of
/// mass, and to a point that its children carry [m].
/// @param point in the frame of the body
/// @param reach of the subtrees of the children
double calc_reach(const mjModel* m, int body, const mjtNum* point,
                  const std::vector<double>& reach) {
  double largest = m->body_mass[body] > 0 ? calc_distance(m->body_ipos + 3 * body, point) : 0;
  const int first = m->body_geomadr[body];
  for (int g = first; g < first + m->body_geomnum[body]; ++g)
    largest = std::max(largest, calc_distance(m->geom_pos + 3 * g, point) + m->geom_rbound[g]);
  for (int child = body + 1; child < m->nbody; ++child)
    if (m->body_parentid[child] == body)
      largest = std::max(largest, calc_distance(m->body_pos + 3 * child, point) + reach[child]);
  return largest;
}

/// Returns how far slides of a body move it from its reference, within their ranges [m]. An
/// infinite range is no limit.
double calc_travel(const mjModel* m, int body) {
  double travel = 0;
  const int first = m->body_jntadr[body];
  for (int j = first; j < first + m->body_jntnum[body]; ++j) {
    if (m->jnt_type[j] != mjJNT_SLIDE || !m->jnt_limited[j]) continue;
    const mjtNum* const range = m->jnt_range + 2 * static_cast<std::size_t>(j);
    const double farthest = std::max(std::abs(range[0]), std::abs(range[1]));
    if (std::isfinite(farthest)) travel += farthest;
  }
  return travel;
}

}  // namespace

void AdvanceControl::start(double next_step, double last_error) {
  next_step_ = next_step;
  last_error_ = last_error;
}

double AdvanceControl::choose(double left, double max_step) const {
  const double h = std::min(std::max(next_step_, kLeastStep), max_step);
  constexpr double kRounding = 1e-6;  // of ends of calls that are sums of durations
  if (h >= (1 - kRounding) * left) return left;
  return 2 * h > left ? 0.5 * left : h;
}

void AdvanceControl::accept(double h, double error) {
  constexpr double kGain = 0.35, kMemory = 0.2, kSafety = 0.9;
  error = std::max(error, kLeastError);
  const double power = kMemory * math::log(last_error_) - kGain * math::log(error);
  const double factor = std::clamp(kSafety * math::exp(power), 0.2, 4.0);
  // A step that the end of the call cut short says nothing against the length that was planned.
  next_step_ = h < next_step_ && factor >= 1 ? std::max(factor * h, next_step_) : factor * h;
  last_error_ = std::min(error, 1.0);
}

void AdvanceControl::reject(double h, double error) {
  constexpr double kSafety = 0.9, kLeast = 0.2;
  const double factor = std::isfinite(error) ? kSafety / std::sqrt(error) : kLeast;
  next_step_ = h * std::clamp(factor, kLeast, kSafety);
}

void AdvanceControl::fail(double h) { next_step_ = h / 4; }

void AdvanceNorm::start(const mjModel* m) {
  constexpr mjtNum kOrigin[3] = {0, 0, 0};
  levers_.assign(m->nv, 1.0);
  reach_.assign(m->nbody, 0.0);
  // Children have larger numbers than their parents.
  for (int body = static_cast<int>(m->nbody) - 1; body > 0; --body) {
    reach_[body] = calc_reach(m, body, kOrigin, reach_) + calc_travel(m, body);
    const int first = m->body_jntadr[body];
    for (int j = first; j < first + m->body_jntnum[body]; ++j) {
      double* lever = levers_.data() + m->jnt_dofadr[j];
      const double reach = std::max(kLeastLever, calc_reach(m, body, m->jnt_pos + 3 * j, reach_));
      switch (m->jnt_type[j]) {
        case mjJNT_FREE: std::fill_n(lever + 3, 3, reach); break;
        case mjJNT_BALL: std::fill_n(lever, 3, reach); break;
        case mjJNT_HINGE: *lever = reach; break;
        default: break;
      }
    }
  }
  act_range_.assign(m->na, 0.0);
  for (int a = 0; a < m->nactuator; ++a) {
    if (m->actuator_actadr[a] < 0) continue;
    const mjtNum* range = m->actuator_lengthrange + 2 * m->actuator_outadr[a];
    std::fill_n(act_range_.begin() + m->actuator_actadr[a], m->actuator_actnum[a],
                std::max(0.0, range[1] - range[0]));
  }
}

double AdvanceNorm::calc(const mjModel* m, std::span<const double> dq,
                         std::span<const double> act_a, std::span<const double> act_b) const {
  double largest = 0;
  for (int i = 0; i < m->nv; ++i) largest = math::max_or_nan(largest, levers_[i] * std::abs(dq[i]));
  for (int i = 0; i < m->na; ++i) {
    const double scale = std::max(1.0, std::abs(act_a[i]));
    const double w = act_range_[i] > 0 ? act_range_[i] : m->stat.extent / scale;
    largest = math::max_or_nan(largest, w * std::abs(act_a[i] - act_b[i]));
  }
  return largest;
}

}  // namespace stiction::sim
