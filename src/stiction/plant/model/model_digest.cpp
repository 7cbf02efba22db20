#include "stiction/plant/model/model_digest.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include <mujoco/mjxmacro.h>

namespace stiction::plant {
namespace {

/// Eight sums, of which a processor can update several at a time. Each step is a bijection of its
/// sum, so that a change of one word is never lost. The product spreads it over the sum, so that
/// words that change places or signs do not cancel each other.
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
    for (const std::uint64_t sum : sums_) all = mix(all, sum);
    return all;
  }

 private:
  static constexpr std::size_t kNumSums = 8;

  static std::uint64_t mix(std::uint64_t sum, std::uint64_t word) {
    // The rotation brings high bits down, which a product alone only moves up.
    return (std::rotl(sum, 29) ^ word) * 0x9e3779b97f4a7c15;
  }
  void add_row(const unsigned char* bytes) {
    std::uint64_t words[kNumSums];
    std::memcpy(words, bytes, sizeof words);
    for (std::size_t k = 0; k < kNumSums; ++k) sums_[k] = mix(sums_[k], words[k]);
  }

  std::uint64_t sums_[kNumSums] = {};
};

/// The arrays of the lists below that no step reads.
constexpr std::string_view kLeftOut[] = {
    // Numbers of the user.
    "body_user", "jnt_user", "dof_user", "geom_user", "site_user", "cam_user", "tendon_user",
    "actuator_user", "sensor_user",
    // Groups, by which viewers show and hide. A step reads actuator_group: it disables actuators.
    "jnt_group", "geom_group", "site_group", "tendon_group",
    // Looks. A rangefinder does not see what is transparent, but its reading moves nothing.
    "geom_rgba", "geom_matid", "site_rgba", "site_matid", "tendon_rgba", "tendon_matid",
    "tendon_width"};

}  // namespace

ModelDigest::ModelDigest(const mjModel* m) {
  const auto add = [this](std::string_view name, const auto* values, mjtSize count) {
    if (count > 0 && std::ranges::find(kLeftOut, name) == std::end(kLeftOut))
      arrays_.push_back({reinterpret_cast<const unsigned char*>(values), count * sizeof *values});
  };
#define X(type, name, ...) add(#name, &m->opt.name, 1);
#define XVEC(type, name, n) add(#name, m->opt.name, n);
  MJOPTION_FIELDS
#undef XVEC
#undef X
  add("meaninertia", &m->stat.meaninertia, 1);
  add("flg_gravcomp", &m->flg_gravcomp, 1);
  add("flg_surfacevel", &m->flg_surfacevel, 1);
  add("flg_adhesion", &m->flg_adhesion, 1);

  // MuJoCo's lists of arrays. Left out are those of meshes, which may take megabytes and which
  // nobody may change, of flexes, which a step refuses, and of names, lights, skins and textures.
#undef MJ_M
#define MJ_M(size) m->size
#define X(type, name, rows, columns) add(#name, m->name, m->rows*(columns));
  add("qpos0", m->qpos0, m->nq);
  add("qpos_spring", m->qpos_spring, m->nq);
  MJMODEL_POINTERS_BODY
  MJMODEL_POINTERS_JOINT
  MJMODEL_POINTERS_DOF
  MJMODEL_POINTERS_TREE
  MJMODEL_POINTERS_GEOM
  MJMODEL_POINTERS_SITE
  MJMODEL_POINTERS_CAMERA
  MJMODEL_POINTERS_HFIELD
  MJMODEL_POINTERS_PAIR
  MJMODEL_POINTERS_EXCLUDE
  MJMODEL_POINTERS_EQUALITY
  MJMODEL_POINTERS_TENDON
  add("wrap_type", m->wrap_type, m->nwrap);
  add("wrap_objid", m->wrap_objid, m->nwrap);
  add("wrap_prm", m->wrap_prm, m->nwrap);
  MJMODEL_POINTERS_ACTUATOR
  MJMODEL_POINTERS_SENSOR
#undef X
#undef MJ_M
#define MJ_M(size) size
  for (const Bytes& array : arrays_) size_ += array.size;
}

std::span<const std::string_view> ModelDigest::left_out() { return kLeftOut; }

std::uint64_t ModelDigest::calc() const noexcept {
  Sums sums;
  for (const Bytes& array : arrays_) sums.add(array.first, array.size);
  return sums.join();
}

bool ModelDigest::has(std::uint64_t digest) {
  if (digest != 0 && digest == copied_) {
    const unsigned char* copy = copy_.data();
    for (const Bytes& array : arrays_) {
      if (std::memcmp(array.first, copy, array.size) != 0) return false;
      copy += array.size;
    }
    return true;
  }
  if (calc() != digest) return false;
  copy_.resize(size_);
  unsigned char* copy = copy_.data();
  for (const Bytes& array : arrays_) copy = std::copy_n(array.first, array.size, copy);
  copied_ = digest;
  return true;
}

}  // namespace stiction::plant
