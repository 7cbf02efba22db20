#include "stiction/plant/patch_continuation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "stiction/math/symmetric2.hpp"

namespace stiction::plant {
namespace {

using geometry::RigidTransform;
using math::Vec3;

/// The points have the second moments of the stiffness along two tangents.
constexpr std::array<std::array<double, 2>, 4> kCorners = {{{1, 1}, {-1, 1}, {-1, -1}, {1, -1}}};

/// The principal second moments of the force in the tangent plane.
struct TangentMoments {
  Vec3 tangent;               // unit, the direction of the larger moment
  std::array<double, 2> rms;  // [m], along the tangent and across it
};

TangentMoments calc_moments(const PatchContinuation::Sums& sums, const Vec3& normal) {
  const Vec3 t1 = math::make_tangent(normal), t2 = cross(normal, t1);
  // About the center of pressure.
  const Vec3 mean = sums.first * (1 / sums.weight);
  const auto moment = [&](const Vec3& a, const Vec3& b) {
    return sums.second.multiply(a, b) - sums.weight * dot(mean, a) * dot(mean, b);
  };
  const math::PrincipalAxes axes =
      math::calc_principal_axes({moment(t1, t1), moment(t1, t2), moment(t2, t2)});
  const auto rms = [&](double value) { return std::sqrt(std::max(0.0, value) / sums.weight); };
  return {t1 * axes.x + t2 * axes.y, {rms(axes.most), rms(axes.least)}};
}

/// Returns x in the frame of a pose.
Vec3 to_frame(const RigidTransform& X, const Vec3& x) { return transpose_times(X.R, x - X.p); }

/// True if a body is at a place, or within the depth of a patch beyond it. Patches lie on the
/// surface of a rigid body, and their four points a little above it where it is curved.
bool is_in(const geometry::ContactBody& body, const RigidTransform& X, const Vec3& place,
           const Vec3& inward, double depth) {
  for (const double share : {1e-3, 0.1, 1.0})
    if (geometry::contains(body, to_frame(X, place + inward * (share * depth)))) return true;
  return false;
}

}  // namespace

void PatchContinuation::Symmetric::add(double factor, const Vec3& v) {
  const double x = factor * v.x, y = factor * v.y;
  xx += x * v.x;
  xy += x * v.y;
  xz += x * v.z;
  yy += y * v.y;
  yz += y * v.z;
  zz += factor * v.z * v.z;
}

double PatchContinuation::Symmetric::multiply(const Vec3& a, const Vec3& b) const {
  return a.x * (xx * b.x + xy * b.y + xz * b.z) + a.y * (xy * b.x + yy * b.y + yz * b.z) +
         a.z * (xz * b.x + yz * b.y + zz * b.z);
}

PatchContinuation::Sums PatchContinuation::sum(const geometry::ContactSurface& surface) {
  Sums out;
  if (!surface.faces.empty()) out.origin = surface.faces[0].centroid;
  double square = 0;  // sum A p A / 12
  for (const geometry::SurfaceFace& face : surface.faces) {
    const double f = face.area * face.pressure, g = geometry::stiffness_per_area(face);
    const Vec3 r = face.centroid - out.origin;
    out.area += face.area;
    if (g == 0) out.decreasing_area += face.area;
    out.weight += f;
    out.force += f * face.normal;
    out.first += f * r;
    out.second.add(f, r);
    square += f * face.area / 12;
    out.stiffness.add(face.area * g, face.normal);
  }
  out.second.xx += square;
  out.second.yy += square;
  out.second.zz += square;
  return out;
}

void PatchContinuation::remember(const Sums& sums, const Pair& pair) {
  forget();
  const double force = norm(sums.force);
  if (!(force > 0)) return;
  const Vec3 normal = sums.force * (1 / force);
  const Vec3 center = sums.origin + sums.first * (1 / sums.weight);
  const TangentMoments moments = calc_moments(sums, normal);
  const RigidTransform& X_WS = pair.rides_with_A ? pair.X_WA : pair.X_WB;
  const RigidTransform& X_WO = pair.rides_with_A ? pair.X_WB : pair.X_WA;
  force_ = force;
  stiffness_ = sums.stiffness.multiply(normal, normal);
  area_ = sums.area;
  normal_S_ = transpose_times(X_WS.R, normal);
  tangent_S_ = transpose_times(X_WS.R, moments.tangent);
  const Vec3 across = cross(normal, moments.tangent);
  for (int i = 0; i < 4; ++i) {
    const Vec3 x = center + moments.tangent * (kCorners[i][0] * moments.rms[0]) +
                   across * (kCorners[i][1] * moments.rms[1]);
    points_[i] = {to_frame(X_WS, x), to_frame(X_WO, x)};
  }
  // Four rectangles of the shape of the moments have the area of the patch.
  const double ratio = std::sqrt(std::max(moments.rms[0], 1e-300) /
                                 std::max(moments.rms[1], 1e-3 * moments.rms[0] + 1e-300));
  const double side = std::sqrt(area_ / 16);
  half_width_ = {side * ratio, side / ratio};
}

void PatchContinuation::move(const Pair& pair) {
  const RigidTransform& X_WS = pair.rides_with_A ? pair.X_WA : pair.X_WB;
  const RigidTransform& X_WO = pair.rides_with_A ? pair.X_WB : pair.X_WA;
  const geometry::ContactBody& O = pair.rides_with_A ? pair.B : pair.A;
  normal_ = X_WS.R * normal_S_;
  tangent_ = X_WS.R * tangent_S_;
  // The bodies approach if A moves along n, or B against n.
  const double sign = pair.rides_with_A ? 1 : -1;
  const double depth_of_patch = stiffness_ > 0 ? force_ / stiffness_ : 0;
  depth_ = 0;
  for (int i = 0; i < 4; ++i) {
    const Vec3 x_S = X_WS * points_[i].in_S, x_O = X_WO * points_[i].in_O;
    const double d = sign * dot(normal_, x_S - x_O);
    depth_ += d / 4;
    position_[i] = x_S;
    // The place on O from which the point came. Sliding renews it.
    const Vec3 start = x_S - normal_ * (sign * d);
    points_[i].in_O = to_frame(X_WO, start);
    const double p = (force_ + stiffness_ * d) / area_;
    const bool is_over_O = is_in(O, X_WO, start, normal_ * sign, depth_of_patch);
    pressure_[i] = p > 0 && is_over_O ? p : 0;
  }
}

double PatchContinuation::force() const {
  double sum = 0;
  for (const double p : pressure_) sum += p * area_ / 4;
  return sum;
}

void PatchContinuation::write(geometry::ContactSurface* surface) const {
  surface->faces.clear();
  surface->vertices.clear();
  surface->vertex_pressure.clear();
  const Vec3 across = cross(normal_, tangent_);
  const double gradient = 2 * stiffness_ / area_;  // of each body, so that g = K / A
  for (int i = 0; i < 4; ++i) {
    if (!(pressure_[i] > 0)) continue;
    const int first = static_cast<int>(surface->vertices.size());
    for (const auto& [a, b] : kCorners) {
      surface->vertices.push_back(position_[i] + tangent_ * (a * half_width_[0]) +
                                  across * (b * half_width_[1]));
      surface->vertex_pressure.push_back(pressure_[i]);
    }
    surface->faces.push_back({.centroid = position_[i],
                              .normal = normal_,
                              .pressure_gradient = {},
                              .area = area_ / 4,
                              .pressure = pressure_[i],
                              .gradient_A = gradient,
                              .gradient_B = gradient,
                              .element_A = -1,
                              .element_B = -1,
                              .first_vertex = first,
                              .num_vertices = 4});
  }
}

template <class F>
void PatchContinuation::for_each_number(F&& f) {
  for (double* x : {&force_, &stiffness_, &area_, half_width_.data(), half_width_.data() + 1})
    f(*x);
  const auto visit = [&](Vec3& v) {
    f(v.x);
    f(v.y);
    f(v.z);
  };
  visit(normal_S_);
  visit(tangent_S_);
  for (Point& point : points_) {
    visit(point.in_S);
    visit(point.in_O);
  }
}

void PatchContinuation::write_memory(std::vector<std::uint64_t>* words) const {
  PatchContinuation copy = *this;
  copy.for_each_number([&](double& x) { words->push_back(std::bit_cast<std::uint64_t>(x)); });
}

void PatchContinuation::read_memory(std::span<const std::uint64_t> words) {
  std::size_t next = 0;
  for_each_number([&](double& x) { x = std::bit_cast<double>(words[next++]); });
}

}  // namespace stiction::plant
