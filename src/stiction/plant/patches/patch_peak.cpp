#include "stiction/plant/patches/patch_peak.hpp"

#include <bit>
#include <cmath>
#include <cstddef>

namespace stiction::plant {
namespace {

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

void PatchPeak::write_memory(std::vector<std::uint64_t>* words) const {
  PatchPeak copy = *this;
  copy.for_each_number([&](double& x) { words->push_back(std::bit_cast<std::uint64_t>(x)); });
}

void PatchPeak::read_memory(std::span<const std::uint64_t> words) {
  std::size_t next = 0;
  for_each_number([&](double& x) { x = std::bit_cast<double>(words[next++]); });
}

}  // namespace stiction::plant
