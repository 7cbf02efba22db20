#include "stiction/plant/patches/patch_continuation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stiction::plant {
namespace {

using math::RigidTransform;
using math::Vec3;

/// Force that fluctuates by less, as meshes slide over each other, is that of healthy fields.
constexpr double kFluctuation = 0.01;

const RigidTransform& pose_of_S(const PatchContinuation::Pair& pair) {
  return pair.is_A_smaller ? pair.X_WA : pair.X_WB;
}

const RigidTransform& pose_of_O(const PatchContinuation::Pair& pair) {
  return pair.is_A_smaller ? pair.X_WB : pair.X_WA;
}

/// The bodies approach if A moves along the normal, or B against it.
double approach_sign(const PatchContinuation::Pair& pair) { return pair.is_A_smaller ? 1 : -1; }

using math::RigidTransform;
using math::Vec3;

constexpr double kLoss = 0.05;

/// Returns 2 sin(angle / 2) of the rotation between two frames.
double calc_turn(const RigidTransform& a, const RigidTransform& b) {
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    const Vec3 difference = a.R.row[i] - b.R.row[i];
    sum += dot(difference, difference);
  }
  return std::sqrt(sum / 2);
}

}  // namespace

Vec3 PatchContinuation::sum_force(const geometry::ContactSurface& surface) {
  Vec3 sum;
  for (const geometry::SurfaceFace& face : surface.faces)
    sum += face.area * face.pressure * face.normal;
  return sum;
}

void PatchContinuation::remember(const Vec3& force, const Pair& pair) {
  const double size = norm(force);
  if (!(size > 0)) return forget();
  const bool is_past_peak = !is_empty() && depth_since_peak() > 0 && size < peak_;
  past_peak_ = is_past_peak ? depth_since_peak() : 0;
  if (!is_past_peak) peak_ = size;
  depth_ = 0;
  normal_ = force * (1 / size);
  store_pose(pair);
}

void PatchContinuation::move(const Pair& pair) {
  const RigidTransform& X_WO = pose_of_O(pair);
  normal_ = X_WO.R * normal_O_;
  depth_ = approach_sign(pair) * dot(normal_, pose_of_S(pair).p - X_WO * p_OS_);
}

bool PatchContinuation::has_lost(double force) const {
  return depth_since_peak() > 0 && force < (1 - kFluctuation) * peak_;
}

PatchContinuation::Pair PatchContinuation::retreat(const Pair& pair, double depth) const {
  Pair out = pair;
  (pair.is_A_smaller ? out.X_WA : out.X_WB).p -= approach_sign(pair) * depth * normal_;
  return out;
}

void PatchContinuation::extend(const Pair& pair, geometry::ContactSurface* surface) const {
  const Vec3 shift = approach_sign(pair) * depth_ * normal_;
  for (Vec3& x : surface->vertices) x += shift;
  for (geometry::SurfaceFace& face : surface->faces) {
    const double added = geometry::stiffness_per_area(face) * dot(face.normal, normal_) * depth_;
    face.centroid += shift;
    face.pressure = std::max(0.0, face.pressure + added);
    for (int i = 0; i < face.num_vertices; ++i) {
      double& pressure = surface->vertex_pressure[face.first_vertex + i];
      pressure = std::max(0.0, pressure + added);
    }
  }
}

void PatchContinuation::follow(const Vec3& force, const Pair& pair) {
  normal_ = force * (1 / norm(force));
  store_pose(retreat(pair, depth_));
}

void PatchContinuation::store_pose(const Pair& pair) {
  const RigidTransform& X_WO = pose_of_O(pair);
  normal_O_ = transpose_times(X_WO.R, normal_);
  p_OS_ = transpose_times(X_WO.R, pose_of_S(pair).p - X_WO.p);
}

template <class F>
void PatchContinuation::for_each_number(F&& f) {
  for (double* x : {&peak_, &past_peak_, &normal_O_.x, &normal_O_.y, &normal_O_.z, &p_OS_.x,
                    &p_OS_.y, &p_OS_.z})
    f(*x);
}

void PatchContinuation::write_memory(base::WordWriter* words) const {
  PatchContinuation copy = *this;
  copy.for_each_number([words](double x) { words->put(x); });
}

void PatchContinuation::read_memory(base::WordReader* words) {
  for_each_number([words](double& x) { x = words->take_double(); });
}

PatchPeak::Loss PatchPeak::find_loss(const Vec3& force, const PatchContinuation::Pair& pair,
                                     double radius) {
  const double size = norm(force);
  if (!(size > 0)) {
    forget();
    return Loss::kNone;
  }
  const RigidTransform& X_WO = pair.is_A_smaller ? pair.X_WB : pair.X_WA;
  const RigidTransform& X_WS = pair.is_A_smaller ? pair.X_WA : pair.X_WB;
  const Vec3 force_O = transpose_times(X_WO.R, force);
  const RigidTransform X_OS = math::inverse_times(X_WO, X_WS);
  const double component = dot(force_O, normal_);
  // The force acts on B and points from A into B: A approaches along it, and B against it.
  const Vec3 motion = X_OS.p - X_OS_.p;
  const double along = (pair.is_A_smaller ? 1 : -1) * dot(normal_, motion);
  const double aside = norm(cross(normal_, motion)) + radius * calc_turn(X_OS, X_OS_);
  if (!(largest_ > 0) || aside > std::abs(along)) {
    largest_ = size;
    normal_ = force_O * (1 / size);
    X_OS_ = X_OS;
  } else if (component >= largest_) {
    largest_ = component;
    X_OS_ = X_OS;
  }
  if (!(along > aside && component < (1 - kLoss) * largest_)) return Loss::kNone;
  return component < (1 - kLoss) * size ? Loss::kTurn : Loss::kDecrease;
}

template <class F>
void PatchPeak::for_each_number(F&& f) {
  const auto visit = [&f](Vec3& v) {
    for (double* x : {&v.x, &v.y, &v.z}) f(*x);
  };
  f(largest_);
  visit(normal_);
  visit(X_OS_.p);
  for (Vec3& row : X_OS_.R.row) visit(row);
}

void PatchPeak::write_memory(base::WordWriter* words) const {
  PatchPeak copy = *this;
  copy.for_each_number([words](double x) { words->put(x); });
}

void PatchPeak::read_memory(base::WordReader* words) {
  for_each_number([words](double& x) { x = words->take_double(); });
}

}  // namespace stiction::plant
