#pragma once

#include <random>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::support {

/// A MuJoCo model and its data, owned.
class Scene {
 public:
  /// @param xml a whole MJCF document; one that does not compile ends the test program
  explicit Scene(const std::string& xml);
  /// Another data of a copy of the same model, in the same state.
  Scene(const Scene& other);
  Scene& operator=(const Scene&) = delete;
  ~Scene();

  mjModel* operator->() const { return model; }

  int body(const char* name) const { return find(mjOBJ_BODY, name); }
  int geom(const char* name) const { return find(mjOBJ_GEOM, name); }
  int sensor(const char* name) const { return find(mjOBJ_SENSOR, name); }
  /// First dof and first position of a joint.
  int dof(const char* joint) const { return model->jnt_dofadr[find(mjOBJ_JOINT, joint)]; }
  int qpos(const char* joint) const { return model->jnt_qposadr[find(mjOBJ_JOINT, joint)]; }

  /// Everything of the state and the inputs that a step starts from.
  std::vector<mjtNum> state() const;
  void set_state(const std::vector<mjtNum>& state);

  /// Random positions within `size` of the reference, velocities, controls within their ranges and
  /// activations within [0, 1].
  void randomize(double size, std::mt19937_64* rng);

  mjModel* model = nullptr;
  mjData* data = nullptr;

 private:
  int find(mjtObj type, const char* name) const;
};

/// An MJCF document: an option element's attributes, and what stands inside <mujoco>.
std::string make_mjcf(const std::string& option, const std::string& body);

}  // namespace stiction::support
