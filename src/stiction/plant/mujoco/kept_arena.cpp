#include "stiction/plant/mujoco/kept_arena.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace stiction::plant {
namespace {

/// A range of bytes of mjData.
struct Range {
  std::size_t begin, end;
};

/// The members that describe the arena: the numbers of contacts and rows with the flags of what has
/// been computed, the addresses of arrays in the arena, and its used size.
constexpr std::array kRanges{
    Range{offsetof(mjData, ncon), offsetof(mjData, time)},
    Range{offsetof(mjData, contact), offsetof(mjData, signature)},
    Range{offsetof(mjData, parena), offsetof(mjData, parena) + sizeof(mjData::parena)}};

/// The first member of the first range, and the numbers of contacts and rows after it.
constexpr std::size_t kCounts = offsetof(mjData, nJ) - offsetof(mjData, ncon);

/// The number of the first outputs of list_outputs that a callback may write for itself.
constexpr std::size_t kNumWritable = 2;

/// Returns the outputs that a step does not compute after a callback.
std::array<std::span<mjtNum>, 7> list_outputs(const mjModel* m, mjData* d) {
  const auto nv = static_cast<std::size_t>(m->nv);
  return {{{d->energy, 2},
           {d->sensordata, static_cast<std::size_t>(m->nsensordata)},
           {d->qacc, nv},
           {d->qacc_warmstart, nv},
           {d->qfrc_smooth, nv},
           {d->qacc_smooth, nv},
           {d->qfrc_constraint, nv}}};
}

const std::byte* bytes(const void* data) { return static_cast<const std::byte*>(data); }

bool is_equal(const std::byte* a, const void* b, std::size_t size) {
  return size == 0 || std::memcmp(a, b, size) == 0;
}

}  // namespace

void KeptArena::keep(const mjModel* m, const mjData* d) {
  members_.clear();
  for (const Range& r : kRanges)
    members_.insert(members_.end(), bytes(d) + r.begin, bytes(d) + r.end);
  arena_.assign(bytes(d->arena), bytes(d->arena) + d->parena);
  outputs_.clear();
  for (const std::span<mjtNum> values : list_outputs(m, const_cast<mjData*>(d)))
    outputs_.insert(outputs_.end(), values.begin(), values.end());
}

bool KeptArena::is_same(const mjModel* m, const mjData* d) const {
  const std::byte* kept = members_.data();
  for (const Range& r : kRanges) {
    if (!is_equal(kept, bytes(d) + r.begin, r.end - r.begin)) return false;
    kept += r.end - r.begin;
  }
  if (!is_equal(arena_.data(), d->arena, arena_.size())) return false;
  const mjtNum* output = outputs_.data();
  const auto outputs = list_outputs(m, const_cast<mjData*>(d));
  for (std::size_t i = 0; i < outputs.size(); output += outputs[i++].size())
    if (i >= kNumWritable && !is_equal(bytes(output), outputs[i].data(), outputs[i].size_bytes()))
      return false;
  return true;
}

bool KeptArena::has_same_contacts(const mjData* d) const {
  // MuJoCo's contacts are at the beginning of the arena.
  return is_equal(members_.data(), &d->ncon, kCounts) &&
         is_equal(arena_.data(), d->arena, d->ncon * sizeof(mjContact));
}

void KeptArena::restore(const mjModel* m, mjData* d) const {
  const std::byte* kept = members_.data();
  for (const Range& r : kRanges) {
    std::copy_n(kept, r.end - r.begin, reinterpret_cast<std::byte*>(d) + r.begin);
    kept += r.end - r.begin;
  }
  std::copy(arena_.begin(), arena_.end(), static_cast<std::byte*>(d->arena));
  const mjtNum* output = outputs_.data();
  for (const std::span<mjtNum> values : list_outputs(m, d))
    output += std::copy_n(output, values.size(), values.begin()) - values.begin();
}

}  // namespace stiction::plant
