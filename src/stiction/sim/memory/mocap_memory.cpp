#include "stiction/sim/memory/mocap_memory.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "stiction/plant/model/tree_ties.hpp"

namespace stiction::sim {

void MocapMemory::begin(const StepStart& start) {
  if (start.is_mj_step || m_->nmocap == 0) return;
  mjData* const d = start.data;
  if (start.is_again) return motion.place_at_start(m_, d);
  kept_ = motion;
  motion.start(m_, d, start.duration, start.goes_on);
  num_tied_ = 0;
  if (integrator_ == Integrator::rk4) rest_tied(d);
  if (!start.is_call && !motion.is_between()) return;
  given_poses_.assign(d->mocap_pos, d->mocap_pos + 3 * m_->nmocap);
  given_poses_.insert(given_poses_.end(), d->mocap_quat, d->mocap_quat + 4 * m_->nmocap);
  motion.place_at_start(m_, d);
}

void MocapMemory::rest_tied(const mjData* d) {
  const auto rest = [&](int body) {
    if (!motion.of_body(m_, body)) return;
    motion.rest(m_->body_mocapid[m_->body_rootid[body]]);
    ++num_tied_;
  };
  for (int i = 0; i < m_->neq; ++i)
    if (d->eq_active[i]) plant::for_each_equality_body(m_, i, rest);
  for (int i = 0; i < m_->ntendon; ++i)
    if (m_->tendon_limited[i]) plant::for_each_tendon_body(m_, i, rest);
}

void MocapMemory::restore(mjData*) { motion = kept_; }

void MocapMemory::give_back_poses(mjData* d) {
  if (given_poses_.empty()) return;
  const auto quats = given_poses_.begin() + 3 * m_->nmocap;
  std::copy(given_poses_.begin(), quats, d->mocap_pos);
  std::copy(quats, given_poses_.end(), d->mocap_quat);
  given_poses_.clear();
}

void MocapMemory::add_blocked(int body) {
  if (!motion.of_body(m_, body)) return;
  is_blocked_.resize(m_->nmocap);
  is_blocked_[m_->body_mocapid[m_->body_rootid[body]]] = 1;
}

bool MocapMemory::release_blocked() {
  bool is_any = false;
  for (int mocap = 0; mocap < static_cast<int>(is_blocked_.size()); ++mocap) {
    if (!std::exchange(is_blocked_[mocap], 0)) continue;
    is_any = true;
    // The other integrators move mocap bodies within a step, so that one that yields would pass
    // into others.
    if (integrator_ == Integrator::euler && !motion.yields(mocap))
      motion.yield(mocap);
    else
      motion.rest(mocap);
  }
  return is_any;
}

void MocapMemory::write(base::WordWriter* words) const { motion.write_memory(m_, words); }

void MocapMemory::read(base::WordReader* words) { motion.read_memory(m_, words); }

}  // namespace stiction::sim
