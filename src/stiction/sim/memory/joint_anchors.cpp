#include "stiction/sim/memory/joint_anchors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "stiction/contact/jacobian.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/plant/model/tree_ties.hpp"

namespace stiction::sim {
namespace {

using contact::Row;
using contact::RowKind;
using Key = JointAnchor::Key;

/// Returns the tree of the first dof that a row moves.
int find_tree(const mjModel* m, const mjData* d, int row) {
  if (mj_isSparse(m)) return m->dof_treeid[d->efc_J_colind[d->efc_J_rowadr[row]]];
  const mjtNum* J = d->efc_J + static_cast<std::size_t>(row) * m->nv;
  return m->dof_treeid[std::find_if(J, J + m->nv, [](mjtNum x) { return x != 0; }) - J];
}

/// Returns the position of a joint or tendon [m] or [rad].
double find_position(const mjModel* m, const mjData* d, const Key& key) {
  return key.type == mjCNSTR_FRICTION_TENDON ? d->ten_length[key.id]
                                             : d->qpos[m->jnt_qposadr[m->dof_jntid[key.id]]];
}

/// True if the change of the position is the motion of a row: not for dofs of ball and free joints,
/// and not for tendons that a jump of a mocap body has stretched.
bool tells_motion(const mjModel* m, const plant::MocapMotion& mocap, const Key& key) {
  if (key.type == mjCNSTR_FRICTION_DOF) {
    const int type = m->jnt_type[m->dof_jntid[key.id]];
    return type == mjJNT_HINGE || type == mjJNT_SLIDE;
  }
  bool is_jump = false;
  plant::for_each_tendon_body(m, key.id, [&](int body) { is_jump |= mocap.jumps(m, body); });
  return !is_jump;
}

/// Replaces the displacement that the last step computed by the true one.
void follow(double position, bool is_moved, JointAnchor* anchor) {
  const double beyond = position - anchor->position - anchor->displacement;
  if (!anchor->slips) anchor->stretch += beyond;
  if (anchor->key.type == mjCNSTR_FRICTION_TENDON && !is_moved)
    anchor->arc += beyond / math::square(anchor->time_step);
}

/// Makes a row of dry friction a spring that is cut at the bound.
/// @param resistance dt k + c [N s/m] or [N m s/rad]
void set_spring(const JointAnchor& anchor, double resistance, double dt, Row* row) {
  row->kind = RowKind::kDrySpring;
  row->regularization = 1 / (dt * resistance);
  row->target = -anchor.stiffness * anchor.stretch / resistance;
  row->impulse_range = {-row->bound, row->bound};
  row->bias += dt * anchor.arc;
  row->position = anchor.stretch;
  row->stiffness = anchor.stiffness;
}

/// Calls f(number) for all numbers of an anchor.
void for_each_number_of_joint(auto& anchor, auto&& f) {
  for (auto* x : {&anchor.stretch, &anchor.stiffness, &anchor.position, &anchor.displacement,
                  &anchor.arc, &anchor.time_step})
    f(*x);
}

}  // namespace

bool is_kept(const mjModel* m, const KeptTrees& kept, const Key& key) {
  return key.type == mjCNSTR_FRICTION_TENDON ? kept.has_tendon(m, key.id)
                                             : kept.has_tree(m->dof_treeid[key.id]);
}

void JointAnchors::carry_to(const mjModel* m, const mjData* d, const plant::MocapMotion& mocap,
                            double reference_step, std::span<const JointAnchor> before,
                            const KeptTrees& kept, bool is_moved, contact::ContactProblem* problem,
                            std::vector<JointAnchor>* now) {
  const double dt = problem->time_step;
  const double frequency = 2 * std::numbers::pi / reference_step;  // [rad/s]
  now->clear();
  for (Row& row : problem->rows) {
    if (row.kind != RowKind::kFriction) continue;
    const Key key{d->efc_type[row.source], d->efc_id[row.source]};
    JointAnchor anchor{.key = key, .tree = find_tree(m, d, row.source), .slips = true};
    const double position = find_position(m, d, key);
    const auto found = std::ranges::lower_bound(before, key, {}, &JointAnchor::key);
    if (found != before.end() && found->key == key && is_kept(m, kept, key)) {
      anchor = *found;
      if (tells_motion(m, mocap, key)) follow(position, is_moved, &anchor);
    }
    if (anchor.slips) {
      const double w = mobility_.calc_mean(m, d, {row.source, row.source + 1});
      if (!(w > mjMINVAL)) continue;  // nothing moves
      const double near_rigid = frequency * frequency / w;
      const double k = std::clamp(row.bound / (dt * kMostStretch), near_rigid, 1000 * near_rigid);
      // A stiffer spring takes the force of the last one, so that it gains no energy.
      if (k > anchor.stiffness) anchor.stretch *= anchor.stiffness / k;
      anchor.stiffness = k;
    }
    anchor.position = position;
    anchor.time_step = dt;
    // The damping ratio of a near-rigid spring is 1.
    set_spring(anchor, anchor.stiffness * (dt + 2 / frequency), dt, &row);
    now->push_back(anchor);
  }
}

bool JointAnchors::stop_held(const contact::ContactProblem& problem,
                             std::span<const JointAnchor> now, std::span<double> v) {
  constexpr double kSlow = 1e-6;  // [m/s, rad/s]
  bool has_changed = false;
  auto anchor = now.begin();
  for (const Row& row : problem.rows) {
    if (row.kind != RowKind::kDrySpring || (anchor++)->slips) continue;
    for (int k = row.first_column; k < row.first_column + row.num_columns; ++k) {
      double& velocity = v[problem.row_dof[k]];
      if (velocity == 0 || std::abs(velocity) > kSlow) continue;
      velocity = 0;
      has_changed = true;
    }
  }
  return has_changed;
}

void JointAnchors::record(const contact::ContactProblem& problem,
                          const contact::ContactSolution& solution, std::span<JointAnchor> now) {
  auto anchor = now.begin();
  for (int r = 0; r < problem.num_rows(); ++r) {
    const Row& row = problem.rows[r];
    if (row.kind != RowKind::kDrySpring) continue;
    const double gamma = solution.row_impulses[r], dt = problem.time_step;
    anchor->stretch += dt * (row.target - row.regularization * gamma);
    anchor->displacement = dt * contact::calc_row_velocity(problem, row, solution.v);
    anchor->slips = std::abs(gamma) >= row.bound;
    ++anchor;
  }
}

void write(std::span<const JointAnchor> anchors, base::WordWriter* words) {
  words->put(anchors.size());
  for (const JointAnchor& anchor : anchors) {
    words->put_all(std::array{anchor.key.type, anchor.key.id, anchor.tree});
    for_each_number_of_joint(anchor, [words](double x) { words->put(x); });
    words->put(anchor.slips);
  }
}

void read(const mjModel* m, base::WordReader* words, std::vector<JointAnchor>* anchors) {
  constexpr std::size_t kWordsOfAnchor = 10;
  anchors->resize(words->take_count(kWordsOfAnchor));
  for (JointAnchor& anchor : *anchors) {
    anchor.key.type = words->take_below(mjCNSTR_FRICTION_TENDON + 1);
    words->check(anchor.key.type >= mjCNSTR_FRICTION_DOF);
    anchor.key.id = words->take_below(anchor.key.type == mjCNSTR_FRICTION_DOF ? m->nv : m->ntendon);
    anchor.tree = words->take_below(m->ntree);
    for_each_number_of_joint(anchor, [words](double& x) { x = words->take_finite(); });
    words->check(anchor.stiffness > 0 && anchor.time_step > 0);
    anchor.slips = words->take_flag();
  }
  words->check(std::ranges::is_sorted(*anchors, {}, &JointAnchor::key));
}

}  // namespace stiction::sim
