#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// A model with the user's arrays and other options, for calls to MuJoCo that serve one purpose,
/// such as collision with wider gaps or a step without sleep. The member that holds it names the
/// purpose.
///
/// A shadow shares the arrays of the model that it follows, so a change of their values counts at
/// once. Its owner calls `follow` before a use, which copies the few numbers that mjModel holds
/// itself (400 bytes), and then makes its edits:
///
///     mjModel* shadow = without_contacts_.follow(model);
///     shadow->opt.disableflags |= mjDSBL_CONTACT;
///     mj_forward(shadow, data);
///
/// MuJoCo's callbacks identify a model by its address. Pass them the user's model where its options
/// already serve.
class ShadowModel {
 public:
  /// Makes a shadow that has no arrays before the first `follow`.
  ShadowModel() = default;
  explicit ShadowModel(const mjModel* model) { follow(model); }
  ShadowModel(const ShadowModel&) = delete;
  ShadowModel& operator=(const ShadowModel&) = delete;
  ShadowModel(ShadowModel&&) noexcept = default;
  ShadowModel& operator=(ShadowModel&&) noexcept = default;

  /// Takes the values of a model that may change between steps: the options and flags. Undoes the
  /// edits of these; arrays of `own` stay. The first call, and a call with a model in other memory,
  /// copies the whole struct.
  /// @param model the user's model or a shadow of it; its arrays must outlive this
  /// @return the shadow, for edits
  mjModel* follow(const mjModel* model) {
    source_ = model;
    if (model_.body_parentid != model->body_parentid) {
      model_ = *model;
      return &model_;
    }
    model_.opt = model->opt;
    model_.flg_gravcomp = model->flg_gravcomp;
    model_.flg_surfacevel = model->flg_surfacevel;
    model_.flg_adhesion = model->flg_adhesion;
    model_.vis.global.bvactive = model->vis.global.bvactive;
    model_.stat.meaninertia = model->stat.meaninertia;
    return &model_;
  }

  /// Gives the shadow an array of its own, with the present values of the model that it follows.
  /// Only the first call allocates.
  /// @param array such as &mjModel::geom_gap
  /// @param size  its number of values, the same in every call
  /// @return the array, for edits
  template <class T>
  T* own(T* mjModel::*array, mjtSize size) {
    T*& values = model_.*array;
    const std::ptrdiff_t place =
        reinterpret_cast<char*>(&values) - reinterpret_cast<char*>(&model_);
    auto at = std::find_if(arrays_.begin(), arrays_.end(),
                           [&](const Array& own) { return own.place == place; });
    const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(T);
    if (at == arrays_.end()) at = arrays_.insert(at, {place, std::make_unique<std::byte[]>(bytes)});
    values = reinterpret_cast<T*>(at->bytes.get());
    if (bytes > 0) std::memcpy(values, source_->*array, bytes);
    return values;
  }

  /// The shadow, for edits that last until the next `follow`.
  mjModel* edit() { return &model_; }
  const mjModel* get() const { return &model_; }
  const mjModel* operator->() const { return &model_; }

 private:
  /// An array of `own`.
  struct Array {
    std::ptrdiff_t place;  // of its pointer in mjModel [bytes]
    std::unique_ptr<std::byte[]> bytes;
  };

  mjModel model_ = {};
  const mjModel* source_ = nullptr;  // the model that it follows
  std::vector<Array> arrays_;
};

/// Lets sleeping trees take part.
inline void disable_sleep(mjModel* shadow) { shadow->opt.enableflags &= ~mjENBL_SLEEP; }

/// Collides each geom of two bodies with each, without the trees of their bounding volumes. The
/// trees are wrong if the shadow has other shapes, and slow if the bodies have few geoms.
inline void disable_midphase(mjModel* shadow) { shadow->opt.disableflags |= mjDSBL_MIDPHASE; }

}  // namespace stiction::plant
