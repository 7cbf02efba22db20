#pragma once

#include <random>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::support {

/// Owns a MuJoCo model and its data.
class Scene {
 public:
  /// Compiles a scene, or ends the test program with a message.
  /// @param xml a whole MJCF document
  explicit Scene(const std::string& xml);
  /// Copies the model and makes new data in the same state.
  Scene(const Scene& other);
  Scene& operator=(const Scene&) = delete;
  ~Scene();

  mjModel* operator->() const { return model; }

  // Indices of named elements. An unknown name ends the test program.
  int body(const char* name) const { return find(mjOBJ_BODY, name); }
  int geom(const char* name) const { return find(mjOBJ_GEOM, name); }
  int sensor(const char* name) const { return find(mjOBJ_SENSOR, name); }
  // Indices of the first dof and of the first position of a joint.
  int dof(const char* joint) const { return model->jnt_dofadr[find(mjOBJ_JOINT, joint)]; }
  int qpos(const char* joint) const { return model->jnt_qposadr[find(mjOBJ_JOINT, joint)]; }

  /// Returns the state and the inputs that a step starts from.
  std::vector<mjtNum> state() const;
  void set_state(const std::vector<mjtNum>& state);

  /// Sets random positions at a distance of about `size` from the reference, random velocities,
  /// controls in their ranges and activations in [0, 1].
  void randomize(double size, std::mt19937_64* rng);

  mjModel* model = nullptr;
  mjData* data = nullptr;

 private:
  int find(mjtObj type, const char* name) const;
};

/// Returns an MJCF document.
/// @param option attributes of the <option> element
/// @param body   further elements of <mujoco>
std::string make_mjcf(const std::string& option, const std::string& body);

/// Returns the asset `prism`: a mesh with faces of 12 corners, 0.1 m from its axis and 0.1 m high.
std::string make_prism_mesh();

}  // namespace stiction::support
