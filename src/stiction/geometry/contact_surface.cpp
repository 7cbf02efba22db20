#include "stiction/geometry/contact_surface.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "stiction/base/work_limits.hpp"
#include "stiction/geometry/candidates.hpp"
#include "stiction/geometry/face_kernels.hpp"

namespace stiction::geometry {
namespace {

/// Lengths below this fraction of the bodies' size are round-off.
constexpr double kTolerance = 1e-12;

bool is_finite(const RigidTransform& X) {
  return math::is_finite(X.p) && math::is_finite(X.R.row[0]) && math::is_finite(X.R.row[1]) &&
         math::is_finite(X.R.row[2]);
}

/// Looks at the limits of the step once in so many faces.
class LimitPace {
 public:
  void check() {
    constexpr int kBetweenChecks = 64;
    if (++count_ % kBetweenChecks == 0) base::check_limits();
  }

 private:
  int count_ = 0;
};

/// The poses of bodies O and T, and the surface to which faces are added.
struct PosedPair {
  const RigidTransform &X_WO, &X_WT;
  bool is_T_first;
  const FaceRules& rules;
  ContactSurface* surface;
};

/// Returns the highest pressure of a body's field; 0 if there is no highest pressure.
double get_max_pressure(const ContactBody& body) {
  const auto* tets = std::get_if<CompliantBody>(&body);
  return tets ? tets->max_pressure() : 0;
}

void set_pressure_share(const ContactBody& A, const ContactBody& B, ContactSurface* surface) {
  const double most = surface->max_pressure();
  for (const ContactBody* body : {&A, &B})
    if (const double field_most = get_max_pressure(*body); field_most > 0)
      surface->pressure_share = std::max(surface->pressure_share, most / field_most);
}

}  // namespace

double stiffness_per_area(const SurfaceFace& face) {
  const double a = face.gradient_A, b = face.gradient_B;
  return a > 0 && b > 0 ? 1 / (1 / a + 1 / b) : 0;
}

void ContactSurface::clear() {
  faces.clear();
  vertices.clear();
  vertex_pressure.clear();
  pressure_share = discarded_area = discarded_pressure = dropped_area = 0;
}

double ContactSurface::area() const {
  double sum = 0;
  for (const SurfaceFace& face : faces) sum += face.area;
  return sum;
}

double ContactSurface::max_pressure() const {
  double most = 0;
  for (const double p : vertex_pressure) most = std::max(most, p);
  return most;
}

bool passes_medial_axis(const ContactSurface& surface) {
  if (surface.pressure_share > kMedialShare) return true;
  const double discarded = surface.discarded_area;
  return discarded > kPassedShare * (surface.area() + discarded) &&
         surface.discarded_pressure > surface.max_pressure();
}

struct SurfaceQuery::Scratch {
  void add_faces(const TetBodyData& O, const TetBodyData& T, const PosedPair& pair);
  void add_faces(const TriangleBodyData& O, const TetBodyData& T, const PosedPair& pair);
  void add_faces(const HalfSpace& O, const TetBodyData& T, const PosedPair& pair);
  void add_faces(const TriangleBodyData& O, const HalfSpace& T, const PosedPair& pair);

  CandidateSearch search;
};

void SurfaceQuery::Scratch::add_faces(const TetBodyData& O, const TetBodyData& T,
                                      const PosedPair& pair) {
  const double size = O.radius + T.radius;
  const RigidTransform X_TO = inverse_times(pair.X_WT, pair.X_WO);
  FaceWriter writer(pair.X_WT, pair.is_T_first, size, pair.rules, pair.surface);
  search.find(O, T, X_TO);
  if (!search.is_complete()) pair.surface->pressure_share = 1;
  search.sort(pair.is_T_first);
  MovedTet moved;
  LimitPace pace;
  int last = -1;
  for (const auto& [i, j] : search.candidates()) {
    pace.check();
    if (i != last) moved = move_tet(X_TO, O.tets[i]);  // Candidates of one O are often adjacent.
    last = i;
    add_equilibrium_face(moved, T.tets[j], i, j, kTolerance * size, &writer);
  }
}

void SurfaceQuery::Scratch::add_faces(const TriangleBodyData& O, const TetBodyData& T,
                                      const PosedPair& pair) {
  const double size = O.radius + T.radius;
  FaceWriter writer(pair.X_WT, pair.is_T_first, size, pair.rules, pair.surface);
  search.find(O, T, inverse_times(pair.X_WT, pair.X_WO));
  if (!search.is_complete()) pair.surface->pressure_share = 1;
  search.sort(pair.is_T_first);
  LimitPace pace;
  for (const auto& [i, j] : search.candidates()) {
    pace.check();
    add_triangle_face(search.move(O, i), T.tets[j], i, j, kTolerance * size, &writer);
  }
}

void SurfaceQuery::Scratch::add_faces(const HalfSpace& O, const TetBodyData& T,
                                      const PosedPair& pair) {
  const MovedHalfSpace half_space = move_half_space(inverse_times(pair.X_WT, pair.X_WO), O);
  FaceWriter writer(pair.X_WT, pair.is_T_first, T.radius, pair.rules, pair.surface);
  search.find(half_space, T);
  search.sort(pair.is_T_first);
  LimitPace pace;
  for (const auto& [_, j] : search.candidates()) {
    pace.check();
    add_half_space_face(half_space, T.tets[j], j, kTolerance * T.radius, &writer);
  }
}

void SurfaceQuery::Scratch::add_faces(const TriangleBodyData& O, const HalfSpace& T,
                                      const PosedPair& pair) {
  const MovedHalfSpace half_space = move_half_space(inverse_times(pair.X_WO, pair.X_WT), T);
  FaceWriter writer(pair.X_WO, pair.is_T_first, O.radius, pair.rules, pair.surface);
  search.find(O, half_space);
  search.sort(pair.is_T_first);
  LimitPace pace;
  for (const auto& [i, _] : search.candidates()) {
    pace.check();
    add_triangle_in_half_space(O.triangles[i], half_space, i, kTolerance * O.radius, &writer);
  }
}

SurfaceQuery::SurfaceQuery() : scratch_(std::make_unique<Scratch>()) {}
SurfaceQuery::~SurfaceQuery() = default;
SurfaceQuery::SurfaceQuery(SurfaceQuery&&) noexcept = default;
SurfaceQuery& SurfaceQuery::operator=(SurfaceQuery&&) noexcept = default;

void SurfaceQuery::calc(const ContactBody& A, const RigidTransform& X_WA, const ContactBody& B,
                        const RigidTransform& X_WB, const FaceRules& rules,
                        ContactSurface* surface) {
  surface->clear();
  if (!has_contact_surface(A, B) || !is_finite(X_WA) || !is_finite(X_WB)) return;
  const auto* tets_A = std::get_if<CompliantBody>(&A);
  const auto* tets_B = std::get_if<CompliantBody>(&B);
  // T is a compliant body. A mesh is preferred to a half space, then B to A.
  const bool is_T_first = tets_B ? false : tets_A ? true : is_compliant(A);
  const ContactBody& O = is_T_first ? B : A;
  const ContactBody& T = is_T_first ? A : B;
  const PosedPair pair = {.X_WO = is_T_first ? X_WB : X_WA,
                          .X_WT = is_T_first ? X_WA : X_WB,
                          .is_T_first = is_T_first,
                          .rules = rules,
                          .surface = surface};
  const auto add_faces = [&](const TetBodyData& data_T) {
    if (const auto* tets = std::get_if<CompliantBody>(&O))
      scratch_->add_faces(tets->data(), data_T, pair);
    else if (const auto* triangles = std::get_if<RigidBody>(&O))
      scratch_->add_faces(triangles->data(), data_T, pair);
    else
      scratch_->add_faces(*std::get_if<HalfSpace>(&O), data_T, pair);
  };
  if (const auto* tets = std::get_if<CompliantBody>(&T))
    add_faces(tets->data());
  else
    scratch_->add_faces(std::get_if<RigidBody>(&O)->data(), *std::get_if<HalfSpace>(&T), pair);
  set_pressure_share(A, B, surface);
}

}  // namespace stiction::geometry
