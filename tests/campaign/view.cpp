#include "campaign/view.hpp"

#include <cstdio>

namespace stiction::campaign {
namespace {

using support::Scene;

std::string format(double x, double y, double z) {
  char text[96];
  std::snprintf(text, sizeof text, "%.17g %.17g %.17g", x, y, z);
  return text;
}

std::string format(const std::array<double, 4>& q) {
  char text[128];
  std::snprintf(text, sizeof text, "%.17g %.17g %.17g %.17g", q[0], q[1], q[2], q[3]);
  return text;
}

std::array<double, 4> invert(const std::array<double, 4>& q) { return {q[0], -q[1], -q[2], -q[3]}; }

/// Calls f(joint of `plain`, joint of `other`) for the joints with the same names.
template <class F>
void for_each_joint(const Scene& plain, const Scene& other, F&& f) {
  for (int j = 0; j < plain->njnt; ++j)
    f(j, mj_name2id(other.model, mjOBJ_JOINT, mj_id2name(plain.model, mjOBJ_JOINT, j)));
}

/// Reverses the sign of a mirrored polar vector's y, or of an axial vector's x and z.
void mirror_polar(double* v) { v[1] = -v[1]; }
void mirror_axial(double* v) {
  v[0] = -v[0];
  v[2] = -v[2];
}
/// The vector part of a quaternion is axial.
void mirror_quat(double* q) { mirror_axial(q + 1); }

void carry_position(const View& view, int type, const double* q, double* out) {
  if (type == mjJNT_FREE) {
    const std::array<double, 3> p = view.turn(q);
    for (int k = 0; k < 3; ++k) out[k] = p[k] + view.translation[k];
    double local[4];
    mju_copy4(local, q + 3);
    if (view.is_mirrored) mirror_quat(local);
    mju_mulQuat(out + 3, view.rotation.data(), local);
    return;
  }
  const int size = type == mjJNT_BALL ? 4 : 1;
  mju_copy(out, q, size);
  if (type == mjJNT_BALL && view.is_mirrored) mirror_quat(out);
}

void carry_velocity(const View& view, int type, const double* v, double* out) {
  if (type == mjJNT_FREE) {
    const std::array<double, 3> linear = view.turn(v);
    mju_copy3(out, linear.data());
    mju_copy3(out + 3, v + 3);
    if (view.is_mirrored) mirror_axial(out + 3);
    return;
  }
  const int size = type == mjJNT_BALL ? 3 : 1;
  mju_copy(out, v, size);
  if (type == mjJNT_BALL && view.is_mirrored) mirror_axial(out);
}

}  // namespace

std::string View::polar(double x, double y, double z) const {
  return format(x, is_mirrored ? -y : y, z);
}

std::string View::axial(double x, double y, double z) const {
  return is_mirrored ? format(-x, y, -z) : format(x, y, z);
}

std::string View::quat(const std::array<double, 4>& q) const {
  return format(is_mirrored ? std::array{q[0], -q[1], q[2], -q[3]} : q);
}

std::string View::wrap_world(const std::string& elements) const {
  return "<frame pos=\"" + format(translation[0], translation[1], translation[2]) + "\" quat=\"" +
         format(rotation) + "\">" + elements + "</frame>";
}

std::array<double, 3> View::turn(const double v[3]) const {
  double mirrored[3] = {v[0], v[1], v[2]};
  if (is_mirrored) mirror_polar(mirrored);
  std::array<double, 3> out;
  mju_rotVecQuat(out.data(), mirrored, rotation.data());
  return out;
}

std::array<double, 3> View::turn_axial(const double v[3]) const {
  double mirrored[3] = {v[0], v[1], v[2]};
  if (is_mirrored) mirror_axial(mirrored);
  std::array<double, 3> out;
  mju_rotVecQuat(out.data(), mirrored, rotation.data());
  return out;
}

void carry_state(const Scene& plain, const View& view, Scene* other) {
  for_each_joint(plain, *other, [&](int a, int b) {
    const int type = plain->jnt_type[a];
    carry_position(view, type, plain.data->qpos + plain->jnt_qposadr[a],
                   other->data->qpos + other->model->jnt_qposadr[b]);
    carry_velocity(view, type, plain.data->qvel + plain->jnt_dofadr[a],
                   other->data->qvel + other->model->jnt_dofadr[b]);
  });
  mju_copy(other->data->ctrl, plain.data->ctrl, plain->nu);
  mju_copy(other->data->act, plain.data->act, plain->na);
  for (int a = 1; a < plain->nbody; ++a) {
    const int b = other->body(mj_id2name(plain.model, mjOBJ_BODY, a));
    const mjtNum* from = plain.data->xfrc_applied + 6 * a;
    mju_copy3(other->data->xfrc_applied + 6 * b, view.turn(from).data());
    mju_copy3(other->data->xfrc_applied + 6 * b + 3, view.turn_axial(from + 3).data());
  }
  other->data->time = plain.data->time;
}

std::vector<double> carry_velocities_back(const Scene& plain, const View& view,
                                          const Scene& other) {
  // Mirrors are their own inverse. They act before the rotation, so after it on the way back.
  View rotate_back, mirror_back;
  rotate_back.rotation = invert(view.rotation);
  mirror_back.is_mirrored = view.is_mirrored;
  std::vector<double> out(plain->nv);
  for_each_joint(plain, other, [&](int a, int b) {
    const int type = plain->jnt_type[a];
    double turned[6];
    carry_velocity(rotate_back, type, other.data->qvel + other->jnt_dofadr[b], turned);
    carry_velocity(mirror_back, type, turned, out.data() + plain->jnt_dofadr[a]);
  });
  return out;
}

}  // namespace stiction::campaign
