#include "stiction/plant/rows/equality_round_off.hpp"

#include <algorithm>
#include <cmath>

namespace stiction::plant {
namespace {

/// The largest round-off of an entry, relative to the positions that cancel in it: a few hundred
/// units of double precision. Levers that are as short have no meaning in a world of meters.
constexpr double kRoundOff = 1e-13;

}  // namespace

bool is_round_off(const mjModel* m, const mjData* d, int equality, std::span<const double> J) {
  const int type = m->eq_type[equality];
  if (type != mjEQ_CONNECT && type != mjEQ_WELD) return false;
  const mjtNum* const positions = m->eq_objtype[equality] == mjOBJ_SITE ? d->site_xpos : d->xpos;
  double scale = 1;  // of axes
  for (const int object : {m->eq_obj1id[equality], m->eq_obj2id[equality]})
    scale += mju_norm3(positions + 3 * object);
  return std::all_of(J.begin(), J.end(),
                     [&](double x) { return std::abs(x) <= kRoundOff * scale; });
}

}  // namespace stiction::plant
