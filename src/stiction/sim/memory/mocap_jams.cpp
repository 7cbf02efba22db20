#include "stiction/sim/memory/mocap_jams.hpp"

#include <utility>

namespace stiction::sim {

void MocapJams::blame(const mjModel* m, const plant::MocapMotion& motion, int body) {
  if (!motion.of_body(m, body)) return;
  is_blamed_.resize(m->nmocap);
  is_blamed_[m->body_mocapid[m->body_rootid[body]]] = 1;
}

bool MocapJams::give_way(bool may_yield, plant::MocapMotion* motion) {
  bool is_any = false;
  for (int mocap = 0; mocap < static_cast<int>(is_blamed_.size()); ++mocap) {
    if (!std::exchange(is_blamed_[mocap], 0)) continue;
    is_any = true;
    if (may_yield && !motion->yields(mocap))
      motion->yield(mocap);
    else
      motion->rest(mocap);
  }
  return is_any;
}

}  // namespace stiction::sim
