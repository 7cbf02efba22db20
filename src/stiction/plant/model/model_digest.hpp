#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// A number that tells whether the values of a model that a step reads have changed: all options
/// and MuJoCo's arrays of bodies, joints, geoms and so on. Any change of one value changes it. The
/// vertices, polygons and bounding volumes of meshes are left out, because MuJoCo does not allow to
/// change them, and so are colors and numbers of the user.
class ModelDigest {
 public:
  /// @param model must outlive this object, like its arrays
  explicit ModelDigest(const mjModel* model);

  std::uint64_t calc() const noexcept;
  /// True if the values have a digest. It compares them with a copy of those that had the same
  /// digest in the last call, which takes less time than to compute it.
  bool has(std::uint64_t digest);

  /// The arrays of bodies, joints, geoms and so on that are left out, because no step reads them.
  static std::span<const std::string_view> left_out();

 private:
  struct Bytes {
    const unsigned char* first;
    std::size_t size;
  };
  std::vector<Bytes> arrays_;
  std::size_t size_ = 0;             // of all arrays
  std::vector<unsigned char> copy_;  // their values when they had the digest copied_
  std::uint64_t copied_ = 0;         // 0: there is no copy
};

}  // namespace stiction::plant
