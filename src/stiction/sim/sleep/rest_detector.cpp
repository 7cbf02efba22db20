#include "stiction/sim/sleep/rest_detector.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stiction::sim {
namespace {

/// The time in which velocities at rest may change by as much as the tolerance [s].
constexpr double kRestTime = 1;

/// Returns max |v_i - from_i| l_i of a tree [m/s], with the lengths l of MuJoCo.
double calc_speed(const mjModel* m, const mjtNum* v, const double* from, int tree) {
  double speed = 0;
  const int begin = m->tree_dofadr[tree], end = begin + m->tree_dofnum[tree];
  for (int i = begin; i < end; ++i)
    speed = std::max(speed, std::abs(v[i] - (from ? from[i] : 0)) * m->dof_length[i]);
  return speed;
}

bool is_mocap(const mjModel* m, int body) { return m->body_mocapid[m->body_rootid[body]] >= 0; }

bool may_sleep(const mjModel* m, const mjData* d, const plant::TreeTies& ties, int tree) {
  const int policy = m->tree_sleep_policy[tree];
  return policy != mjSLEEP_NEVER && policy != mjSLEEP_AUTO_NEVER && !ties.changes_by_itself(tree) &&
         !has_changing_callback() && !is_applied(m, d, tree);
}

/// Sets the velocities of a tree to 0, so that the next step starts from rest.
void start_rest(const mjModel* m, mjData* d, int tree, TreeStates* state) {
  state->trees[tree].rests = true;
  std::fill_n(d->qvel + m->tree_dofadr[tree], m->tree_dofnum[tree], 0.0);
}

/// Returns the magnitude of a contact's impulse [N s]. Without a bound, as in `no_slip`, friction
/// may carry a body alone.
double norm(const std::array<double, 6>& impulse) {
  return std::sqrt(impulse[0] * impulse[0] + impulse[1] * impulse[1] + impulse[2] * impulse[2]);
}

/// Returns a number that looks random, so that sums of such numbers of different pairs differ.
std::uint64_t hash(const std::array<int, 2>& bodies) {
  auto x = static_cast<std::uint64_t>(bodies[0]) << 32 | static_cast<std::uint64_t>(bodies[1]);
  x = (x + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 31) * 0x94d049bb133111eb;
  return x ^ x >> 29;
}

/// Puts a tree to sleep at the position from which it took its step from rest.
void fall_asleep(const mjModel* m, mjData* d, int tree, TreeStates* state) {
  for (mjtNum* values : {d->qvel, d->qacc, d->qacc_warmstart})
    std::fill_n(values + m->tree_dofadr[tree], m->tree_dofnum[tree], 0.0);
  const auto [first, last] = find_positions(m, tree);
  std::copy(state->qpos.begin() + first, state->qpos.begin() + last, d->qpos + first);
  state->trees[tree].rests = false;
  state->trees[tree].next = tree;
}

}  // namespace

double RestDetector::finish(mjData* d, const plant::Model& plant, const Step& step,
                            std::span<const std::uint8_t> is_mocap_moved, TreeStates* state) {
  const mjModel* m = state->m;
  join_coupled(d, step, is_mocap_moved, state);
  find_changed_contacts(step, state);
  for (int i = 0; i < m->ntree; ++i)
    if (!state->trees[i].sleeps()) count_step(d, i, state);
  find_ready_groups(*state);
  calc_speeds(m, step, plant);
  double removed2 = 0;
  for (int i = 0; i < m->ntree; ++i) {
    TreeStates::Tree& tree = state->trees[i];
    if (tree.sleeps()) continue;
    const int group = groups_.find(i);
    const bool is_ready = is_ready_[group] && step.is_ok;
    if (tree.rests && !is_ready) {
      tree.rests = false;
      state->restart_count(d, i);
    }
    if (is_ready && is_at_rest_[group]) {
      fall_asleep(m, d, i, state);
      tree.speed2 = speed2_[i];
      tree.error = step.error_bound;
    } else if (is_ready) {
      start_rest(m, d, i, state);
      removed2 += speed2_[i];
    }
  }
  link_islands(state);
  state->keep_motion(d);
  return removed2;
}

/// Joins the trees that the problem, tendons, equalities or actuators couple, and marks those that
/// a moving mocap body touches or a changing activation drives.
void RestDetector::join_coupled(const mjData* d, const Step& step,
                                std::span<const std::uint8_t> is_mocap_moved, TreeStates* state) {
  const mjModel* m = state->m;
  groups_.reset(static_cast<int>(m->ntree));
  is_driven_.assign(m->ntree, 0);
  for (TreeStates::Tree& tree : state->trees)
    if (!tree.sleeps()) tree.touches_mocap = false;
  const auto tie = [&](const plant::TreeTies::Tie& tied) {
    groups_.join(tied.trees);
    if (!tied.has_mocap_body) return;
    for (const int tree : tied.trees) state->trees[tree].touches_mocap = true;
  };
  for (int i = 0; i < m->ntendon; ++i) tie(ties_.of_tendon(i));
  for (int i = 0; i < m->nactuator; ++i) tie(ties_.of_actuator(i));
  for (int i = 0; i < m->neq; ++i)
    if (d->eq_active[i]) tie(ties_.of_equality(i));
  for (const auto& [A, B] : step.bodies) {
    const int trees[] = {m->body_treeid[A], m->body_treeid[B]};
    const int tree = std::max(trees[0], trees[1]), other = trees[0] >= 0 ? B : A;
    if (trees[0] >= 0 && trees[1] >= 0) {
      groups_.join(trees);
    } else if (tree >= 0 && is_mocap(m, other)) {
      state->trees[tree].touches_mocap = true;
      if (is_mocap_moved[m->body_mocapid[m->body_rootid[other]]]) is_driven_[tree] = 1;
    }
  }
  for (int i = 0; i < m->nactuator; ++i)
    if (inputs_.has_changed_activation(d, i))
      for (const int tree : ties_.of_actuator(i).trees) is_driven_[tree] = 1;
}

/// Marks the trees that are carried by other bodies than in the last step.
void RestDetector::find_changed_contacts(const Step& step, TreeStates* state) {
  const mjModel* m = state->m;
  loads_.clear();
  std::size_t next = 0;
  for (const contact::BodyPair& pair : step.problem.pairs) {
    if (pair.num_contacts == 0) continue;
    double impulse = 0;
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i)
      impulse += norm(step.solution.impulses[i]);
    const auto [low, high] = std::minmax(step.bodies[next][0], step.bodies[next][1]);
    loads_.push_back({{low, high}, static_cast<int>(next), impulse});
    ++next;
  }
  // A stable sort allocates.
  std::ranges::sort(loads_, {}, [](const Load& l) { return std::pair(l.bodies, l.place); });

  contacts_.assign(m->ntree, 0);
  const double speed = m->opt.sleep_tolerance * step.problem.time_step / kRestTime;
  for (std::size_t i = 0; i < loads_.size();) {
    const std::array<int, 2> bodies = loads_[i].bodies;
    double impulse = 0;
    for (; i < loads_.size() && loads_[i].bodies == bodies; ++i) impulse += loads_[i].impulse;
    for (const int body : bodies) {
      const int tree = m->body_treeid[body];
      if (tree >= 0 && impulse * m->body_invweight0[2 * body] > speed)
        contacts_[tree] += hash(bodies);
    }
  }
  for (int i = 0; i < m->ntree; ++i) {
    TreeStates::Tree& tree = state->trees[i];
    if (tree.sleeps()) continue;
    if (std::exchange(tree.contacts, contacts_[i]) != contacts_[i]) is_driven_[i] = 1;
  }
}

/// Counts a step of an awake tree. The tree is ready to sleep after TreeStates::kMostSteps.
void RestDetector::count_step(const mjData* d, int i, TreeStates* state) const {
  const mjModel* m = state->m;
  TreeStates::Tree& tree = state->trees[i];
  const double tolerance = m->opt.sleep_tolerance, speed = calc_speed(m, d->qvel, nullptr, i);
  if (is_driven_[i] || !may_sleep(m, d, ties_, i) || !(speed < tolerance || speed == 0)) {
    tree.rests = false;
    return state->restart_count(d, i);
  }
  tree.num_steps = std::min(tree.num_steps + 1, TreeStates::kMostSteps);
  if (tree.rests) return;
  if (++tree.window == TreeStates::kMostSteps) state->begin_window(d, i);
  if (tree.num_steps < TreeStates::kMostSteps) return;
  // Acceleration: compare with the velocities at the start of the window before.
  const double change = calc_speed(m, d->qvel, state->earlier_v.data(), i);
  if (change > tolerance * (d->time - tree.earlier_time) / kRestTime) state->restart_count(d, i);
}

/// Finds the groups all trees of which are ready to sleep, and those which rest.
void RestDetector::find_ready_groups(const TreeStates& state) {
  is_ready_.assign(state.trees.size(), 1);
  is_at_rest_.assign(state.trees.size(), 1);
  for (int i = 0; i < static_cast<int>(state.trees.size()); ++i) {
    const TreeStates::Tree& tree = state.trees[i];
    const int group = groups_.find(i);
    if (tree.sleeps() || tree.num_steps < TreeStates::kMostSteps) is_ready_[group] = 0;
    if (!tree.rests) is_at_rest_[group] = 0;
  }
}

/// Computes |v|_A^2 of each tree, if any is ready to sleep. What A couples of two trees counts for
/// one of them, because they sleep together.
void RestDetector::calc_speeds(const mjModel* m, const Step& step, const plant::Model& plant) {
  if (std::ranges::none_of(is_ready_, [](std::uint8_t is_ready) { return is_ready; })) return;
  speed2_.assign(m->ntree, 0.0);
  const contact::ContactProblem& problem = step.problem;
  const auto add = [&](int row_block, int column_block, const double* A, double factor) {
    const int rows = problem.block_size(row_block), columns = problem.block_size(column_block);
    const double* v_r = step.solution.v.data() + problem.dof_start[row_block];
    const double* v_c = step.solution.v.data() + problem.dof_start[column_block];
    double sum = 0;
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < rows; ++i) sum += v_r[i] * A[i + j * rows] * v_c[j];
    speed2_[m->dof_treeid[plant.block(row_block).dof_start]] += factor * sum;
  };
  for (int b = 0; b < problem.num_blocks(); ++b) add(b, b, problem.diagonal(b), 1);
  for (const contact::Coupling& c : problem.couplings)
    add(c.row_block, c.column_block, problem.A.data() + c.start, 2);
  for (double& speed2 : speed2_) speed2 = std::max(speed2, 0.0);
}

/// Links the trees of each group that fell asleep to a cycle.
void RestDetector::link_islands(TreeStates* state) {
  const int num_trees = static_cast<int>(state->trees.size());
  first_.assign(num_trees, -1);
  last_.assign(num_trees, -1);
  for (int i = 0; i < num_trees; ++i) {
    const int group = groups_.find(i);
    if (!state->trees[i].sleeps() || !is_ready_[group]) continue;
    if (last_[group] >= 0) state->trees[last_[group]].next = i;
    if (first_[group] < 0) first_[group] = i;
    last_[group] = i;
    state->trees[i].next = first_[group];
  }
}

}  // namespace stiction::sim
