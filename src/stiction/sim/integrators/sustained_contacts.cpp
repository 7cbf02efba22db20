#include "stiction/sim/integrators/sustained_contacts.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/contact/gaps.hpp"
#include "stiction/plant/mujoco/mujoco_contact.hpp"

namespace stiction::sim {
namespace {

constexpr double kTouching = contact::kTouchDistance;
constexpr double kRestSpeed = 1e-6;  // slower contacts neither close nor open [m/s, rad/s]
// A part that ends with an equality opening faster than this is rejected [m/s, rad/s].
constexpr double kOpeningSpeed = 1e-5;

bool is_excluded(const mjContact& con) {
  return con.exclude != plant::kTakesPart && !plant::is_in_gap(con);
}

/// Returns J-dot v of a constraint row, from MuJoCo's reference acceleration -B v_r - K I r - J-dot
/// v.
double calc_row_bias(const mjData* d, int row) {
  const mjtNum* kbip = d->efc_KBIP + 4 * row;
  const double r = d->efc_pos[row] - d->efc_margin[row];
  return -(d->efc_aref[row] + kbip[1] * d->efc_vel[row] + kbip[0] * kbip[2] * r);
}

bool is_limit(const mjData* d, int row) {
  return d->efc_type[row] == mjCNSTR_LIMIT_JOINT || d->efc_type[row] == mjCNSTR_LIMIT_TENDON;
}

/// Returns the distance of a row from its limit, < 0 beyond the limit [m, rad].
double limit_gap(const mjData* d, int row) { return d->efc_pos[row] - d->efc_margin[row]; }

/// Returns the largest absolute value of the equality rows in an array of all rows.
double calc_equality_error(const mjtNum* rows, const mjData* d) {
  double error = 0;
  for (int row = 0; row < d->ne; ++row) error = std::max(error, std::abs(rows[row]));
  return error;
}

}  // namespace

void SustainedContacts::record_start(const mjData* d) {
  touching_.clear();
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& con = d->contact[i];
    if (is_excluded(con) || plant::calc_gap(con) > kTouching) continue;
    const std::array<int, 2> geoms{con.geom[0], con.geom[1]};
    if (touching_.empty() || touching_.back().geoms != geoms) touching_.push_back({geoms, 0});
    touching_.back().depth = std::max(touching_.back().depth, -plant::calc_gap(con));
  }
  equality_error_ = calc_equality_error(d->efc_pos, d);
  limit_depth_ = 0;
  for (int row = plant::limit_rows(d).begin; row < plant::limit_rows(d).end; ++row)
    limit_depth_ = std::max(limit_depth_, -limit_gap(d, row));
}

bool SustainedContacts::are_followed(const mjModel* m, const mjData* d,
                                     const plant::MocapMotion& mocap, double reach) {
  // Contacts.
  gap_acceleration_.calc_bodies(m, d, &mocap);
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& con = d->contact[i];
    if (is_excluded(con)) continue;
    const Touching* touching = find_touching(con);
    double allowed = kTouching;
    // A stage moves straight on and may enter a curved surface that the end of the step follows.
    if (touching && plant::calc_gap(con) < 0)
      allowed +=
          touching->depth + 0.5 * reach * reach * std::abs(gap_acceleration_.calc(m, d, con));
    if (plant::calc_gap(con) < -allowed) return false;
  }
  // Limits.
  for (int row = plant::limit_rows(d).begin; row < plant::limit_rows(d).end; ++row)
    if (limit_gap(d, row) < -kTouching - limit_depth_) return false;
  return true;
}

bool SustainedContacts::hold_equalities(const mjData* d) const {
  return calc_equality_error(d->efc_pos, d) <= equality_error_ + kTouching &&
         calc_equality_error(d->efc_vel, d) <= kOpeningSpeed;
}

bool SustainedContacts::choose_touching(const mjModel* m, const mjData* d,
                                        const plant::MocapMotion& mocap) {
  acts_.assign(d->ncon, 0);
  velocities_.calc(m, d, d->qvel, &mocap);
  bool is_impact = false;
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& con = d->contact[i];
    if (is_excluded(con) || plant::calc_gap(con) > kTouching) continue;
    acts_[i] = 1;
    is_impact = is_impact || velocities_.calc_at_contact(m, d, con).normal < -kRestSpeed;
  }
  for (int row = plant::limit_rows(d).begin; row < plant::limit_rows(d).end; ++row)
    is_impact = is_impact || (limit_gap(d, row) <= kTouching && d->efc_vel[row] < -kRestSpeed);
  return is_impact || calc_equality_error(d->efc_vel, d) > kRestSpeed;
}

void SustainedContacts::choose_sustained(const mjModel* m, const mjData* d,
                                         const plant::MocapMotion& mocap, double reach) {
  gap_acceleration_.calc_bodies(m, d, &mocap);
  velocities_.calc(m, d, d->qvel, &mocap);
  acts_.assign(d->ncon, 0);
  bias_.assign(d->ncon, 0.0);
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& con = d->contact[i];
    if (is_excluded(con) || !find_touching(con)) continue;
    bias_[i] = gap_acceleration_.calc(m, d, con);
    const double distance = 0.5 * reach * reach * std::abs(bias_[i]);
    const double speed = reach * std::abs(bias_[i]);
    acts_[i] = plant::calc_gap(con) <= kTouching + distance &&
               std::abs(velocities_.calc_at_contact(m, d, con).normal) <= kRestSpeed + speed;
  }
}

void SustainedContacts::choose_rows(const mjData* d, Level level, double reach,
                                    contact::ContactProblem* problem) const {
  const auto is_left_out = [&](const contact::Row& row) {
    if (row.kind == contact::RowKind::kFriction) return true;
    if (!is_limit(d, row.source)) return false;
    const double speed = std::abs(calc_row_bias(d, row.source)) * reach;
    if (limit_gap(d, row.source) > kTouching + 0.5 * reach * speed) return true;
    return level == Level::acceleration && std::abs(d->efc_vel[row.source]) > kRestSpeed + speed;
  };
  std::erase_if(problem->rows, is_left_out);
  for (contact::Row& row : problem->rows)
    row.position = level == Level::impact ? 0 : calc_row_bias(d, row.source);
}

const SustainedContacts::Touching* SustainedContacts::find_touching(const mjContact& con) const {
  for (const Touching& t : touching_)
    if (t.geoms[0] == con.geom[0] && t.geoms[1] == con.geom[1]) return &t;
  return nullptr;
}

}  // namespace stiction::sim
