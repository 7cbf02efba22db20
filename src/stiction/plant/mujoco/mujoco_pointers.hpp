#pragma once

#include <memory>

#include <mujoco/mujoco.h>

/// Owning pointers to objects that MuJoCo allocates.
namespace stiction::plant {

struct ModelDeleter {
  void operator()(mjModel* model) const { mj_deleteModel(model); }
};
struct DataDeleter {
  void operator()(mjData* data) const { mj_deleteData(data); }
};
using ModelPtr = std::unique_ptr<mjModel, ModelDeleter>;
using DataPtr = std::unique_ptr<mjData, DataDeleter>;

}  // namespace stiction::plant
