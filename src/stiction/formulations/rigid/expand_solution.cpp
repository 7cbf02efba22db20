#include "stiction/formulations/rigid/expand_solution.hpp"

#include <algorithm>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {
namespace {

/// Adds rows^T impulses to y.
void add_rows(const std::vector<double>& rows, const std::vector<double>& impulses,
              std::vector<double>* y) {
  const std::size_t n = y->size();
  STICTION_ASSERT(rows.size() >= n * impulses.size());
  for (std::size_t i = 0; i < impulses.size(); ++i)
    math::add_multiple(static_cast<int>(n), impulses[i], rows.data() + i * n, y->data());
}

/// Sets the impulses of contacts: normals, and tangents that follow from the law or from viscous
/// friction.
void set_contact_impulses(const RigidTerms& terms, const StickingSet& sticking,
                          const RigidImpulses& impulses, RigidMotion* out) {
  const bool is_viscous = terms.tangents == contact::TangentPolicy::kViscous;
  for (int i = 0; i < terms.num_contacts(); ++i) {
    std::array<double, 3>& impulse = out->contact_impulses[i];
    impulse = {0, 0, impulses.unilateral[i]};
    if (!impulses.tangents.empty())
      std::copy_n(impulses.tangents.data() + 2 * i, 2, impulse.data());
    if (!is_viscous || !sticking.contains(i)) continue;
    const math::Vector3& v = out->contact_velocities[terms.contacts[i]];
    for (int t = 0; t < 2; ++t)
      impulse[t] = -terms.problem->time_step * terms.contact(i).law.viscous_friction * v[t];
  }
}

/// Sets the impulses of bilateral constraints: equalities, and tangents of contacts that stick.
void set_bilateral_impulses(const RigidTerms& terms, const ProjectedProblem& projected,
                            RigidMotion* out) {
  const std::span<const int> kept = projected.bilateral.kept();
  const std::span<const double> impulses = projected.bilateral.impulses();
  for (std::size_t k = 0; k < kept.size(); ++k) {
    const int tangent = kept[k] - terms.num_equalities();
    if (tangent < 0) {
      out->row_impulses[terms.equalities[kept[k]]] = impulses[k];
      continue;
    }
    const std::array<double, 2> direction = projected.bilateral.direction(kept[k]);
    std::array<double, 3>& impulse = out->contact_impulses[projected.sticking[tangent / 2]];
    for (int t = 0; t < 2; ++t) impulse[t] += impulses[k] * direction[t];
  }
}

/// Sets the impulses of springs, which are functions of the velocity.
void set_spring_impulses(const RigidTerms& terms, RigidMotion* out) {
  for (const int r : terms.springs) {
    const contact::Row& row = terms.row(r);
    out->row_impulses[r] = (row.target - terms.calc_row_velocity(r, out->v)) / row.regularization;
  }
}

}  // namespace

void expand_solution(const RigidTerms& terms, const RigidIterate& iterate,
                     const RigidImpulses& impulses, ReducedSystem* system, RigidMotion* out) {
  STICTION_ASSERT(static_cast<int>(impulses.unilateral.size()) == terms.num_unilateral());
  STICTION_ASSERT(impulses.dry.size() == terms.dry_joints.size());
  const WhitenedProblem& whitened = system->whitened;

  // Velocities.
  out->y = whitened.y_free;
  add_rows(whitened.rows.N, impulses.unilateral, &out->y);
  add_rows(whitened.rows.T, impulses.tangents, &out->y);
  add_rows(whitened.rows.F, impulses.dry, &out->y);
  system->projected.bilateral.satisfy(out->y.data());
  out->v = out->y;
  whitened.whitening.to_v(out->v.data());
  calc_contact_velocities(terms, out);

  // Impulses.
  out->contact_impulses.resize(terms.num_contacts());
  set_contact_impulses(terms, iterate.sticking, impulses, out);
  out->row_impulses.assign(terms.island.num_rows(), 0.0);
  for (int i = 0; i < terms.num_limits(); ++i)
    out->row_impulses[terms.limits[i]] = impulses.unilateral[terms.num_contacts() + i];
  for (std::size_t i = 0; i < terms.dry_joints.size(); ++i)
    out->row_impulses[terms.dry_joints[i]] = impulses.dry[i];
  set_bilateral_impulses(terms, system->projected, out);
  set_spring_impulses(terms, out);
}

void calc_contact_velocities(const RigidTerms& terms, RigidMotion* out) {
  out->contact_velocities.resize(terms.island.num_contacts());
  for (int i = 0; i < terms.island.num_contacts(); ++i) {
    const auto& bias = terms.problem->contacts[terms.island.contacts()[i]].bias;
    math::Vector3& v = out->contact_velocities[i];
    v = terms.island.contact_jacobian(i).multiply(out->v);
    for (int r = 0; r < 3; ++r) v[r] += bias[r];
  }
}

}  // namespace stiction::formulations
