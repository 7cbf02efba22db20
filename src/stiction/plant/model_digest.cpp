#include "stiction/plant/model_digest.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <variant>

#include "stiction/plant/model_numbers.hpp"

namespace stiction::plant {
namespace {

/// Eight sums, so that the compiler can add several words at a time. Each step is a bijection of
/// its sum, so that a change of one word is never lost.
class Sums {
 public:
  void add(const unsigned char* bytes, std::size_t size) {
    constexpr std::size_t kWord = sizeof(std::uint64_t), kRow = kNumSums * kWord;
    std::size_t i = 0;
    for (; i + kRow <= size; i += kRow) add_row(bytes + i);
    if (i == size) return;
    unsigned char rest[kRow] = {};
    std::copy(bytes + i, bytes + size, rest);
    add_row(rest);
  }

  std::uint64_t join() const {
    std::uint64_t all = 0;
    for (const std::uint64_t sum : sums_) all = (std::rotl(all, 29) ^ sum) * 0x9e3779b97f4a7c15;
    return all;
  }

 private:
  static constexpr std::size_t kNumSums = 8;

  void add_row(const unsigned char* bytes) {
    std::uint64_t words[kNumSums];
    std::memcpy(words, bytes, sizeof words);
    for (std::size_t k = 0; k < kNumSums; ++k) sums_[k] = std::rotl(sums_[k], 7) + words[k];
  }

  std::uint64_t sums_[kNumSums] = {};
};

}  // namespace

ModelDigest::ModelDigest(const mjModel* m) {
  const auto add = [this](const auto* values, mjtSize count) {
    if (count > 0)
      arrays_.push_back({reinterpret_cast<const unsigned char*>(values), count * sizeof *values});
  };
  add(&m->opt, 1);
  for (const NumberArray& array : number_arrays()) {
    // Only elevations may be changed, and the bounding volumes of meshes may take megabytes.
    if (array.is_large && array.count != &mjModel::nhfielddata) continue;
    std::visit([&](auto values) { add(m->*values, m->*array.count * array.width); }, array.values);
  }
  add(m->geom_contype, m->ngeom);
  add(m->geom_conaffinity, m->ngeom);
  add(m->geom_condim, m->ngeom);
  add(m->geom_priority, m->ngeom);
  add(m->body_contype, m->nbody);
  add(m->body_conaffinity, m->nbody);
  add(m->pair_dim, m->npair);
  add(m->jnt_limited, m->njnt);
  add(m->jnt_actfrclimited, m->njnt);
  add(m->tendon_limited, m->ntendon);
  add(m->tendon_actfrclimited, m->ntendon);
  add(m->actuator_actlimited, m->nactuator);
  add(m->actuator_forcelimited, m->nactuator);
  add(m->actuator_ctrllimited, m->nu);
  add(m->tree_sleep_policy, m->ntree);
  add(&m->flg_gravcomp, 1);
  add(&m->flg_surfacevel, 1);
  add(&m->flg_adhesion, 1);
}

std::uint64_t ModelDigest::calc() const noexcept {
  Sums sums;
  for (const Bytes& array : arrays_) sums.add(array.first, array.size);
  return sums.join();
}

}  // namespace stiction::plant
