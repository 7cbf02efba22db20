#include "stiction/formulations/rigid/impacts.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/contact/gaps.hpp"
#include "stiction/formulations/rigid/reduced_system.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {

using numerics::LcpReport;

namespace {

/// Marks the contacts with restitution that have an impact and an impulse, and removes their gap
/// terms. Contacts that rebounded before keep their mark.
/// @return true if any contact rebounds
bool find_rebounds(const RigidTerms& terms, const RigidMotion& motion, RigidIterate* iterate) {
  bool is_any = false;
  for (int i = 0; i < terms.num_contacts(); ++i) {
    const contact::Contact& c = terms.contact(i);
    if (c.law.restitution == 0) continue;
    if (!iterate->rebounds[i] && !(motion.contact_impulses[i][2] > 0)) continue;
    const DenseJacobian<3> J = terms.contact_jacobian(i);
    const double v_n0 = J.multiply(terms.v0).z() + c.bias[2];
    const double v_n_star = J.multiply(terms.v_star).z() + c.bias[2];
    if (!contact::is_impact(v_n0, v_n_star)) continue;
    iterate->rebounds[i] = 1;
    iterate->gaps.contacts[i] = 0;
    is_any = true;
  }
  return is_any;
}

/// Returns the restitution of contact i; 0 if it does not rebound [-].
double calc_restitution(const RigidTerms& terms, const RigidIterate& iterate, int i) {
  return iterate.rebounds[i] ? terms.contact(i).law.restitution : 0;
}

/// Returns the share of phases.rebound that adds no energy. The work of an impulse is its product
/// with the mean of the relative velocities of the surfaces before and after compression. If
/// tangents worked against the normals in compression, compression took less energy. Restitution
/// does not change their impulses. The work of contacts whose overlap is corrected is left out,
/// because it does not belong to the impact.
double find_rebound_share(const RigidTerms& terms, const RigidIterate& iterate,
                          const ReducedSystem& system, const ImpactPhases& phases) {
  const int n = terms.num_dofs(), num_contacts = terms.num_contacts();
  const WhitenedRows& rows = system.whitened.rows;
  const RigidImpulses& impulses = phases.impulses;
  const double* const before = system.projected.u_hat.data();
  const double* const after = phases.compressed.data();
  double taken = 0, separating = 0;
  const auto add_work = [&](const std::vector<double>& J, std::size_t i, double b, double impulse) {
    const double* row = J.data() + i * n;
    taken -= impulse * (b + 0.5 * (math::dot(n, row, before) + math::dot(n, row, after)));
  };
  for (int i = 0; i < num_contacts; ++i) {
    const double bias = terms.contact(i).bias[2];
    const double* row = rows.N.data() + static_cast<std::size_t>(i) * n;
    separating += calc_restitution(terms, iterate, i) * impulses.unilateral[i] *
                  (bias + math::dot(n, row, after));
    if (iterate.gaps.contacts[i] < 0) continue;
    add_work(rows.N, i, bias, impulses.unilateral[i]);
    if (impulses.tangents.empty()) continue;
    for (int t = 2 * i; t < 2 * i + 2; ++t) add_work(rows.T, t, rows.b_t[t], impulses.tangents[t]);
  }
  for (int i = 0; i < terms.num_limits(); ++i)
    if (iterate.gaps.limits[i] >= 0)
      add_work(rows.N, num_contacts + i, terms.row(terms.limits[i]).bias,
               impulses.unilateral[num_contacts + i]);
  for (std::size_t i = 0; i < impulses.dry.size(); ++i)
    add_work(rows.F, i, rows.b_f[i], impulses.dry[i]);
  const double moving = 0.5 * math::dot(n, phases.rebound.data(), phases.rebound.data());
  return calc_rebound_share(taken, separating, moving);
}

/// Adds restitution: each contact gives back a share of its normal impulse of compression.
void restitute(const RigidTerms& terms, const RigidIterate& iterate, const ReducedSystem& system,
               ImpactPhases* phases) {
  const int n = terms.num_dofs();
  std::vector<double>& normal = phases->impulses.unilateral;
  phases->rebound.assign(n, 0.0);
  for (int i = 0; i < terms.num_contacts(); ++i)
    math::add_multiple(n, calc_restitution(terms, iterate, i) * normal[i],
                       system.projected.N.data() + static_cast<std::size_t>(i) * n,
                       phases->rebound.data());
  const double share = find_rebound_share(terms, iterate, system, *phases);
  phases->restituted = phases->compressed;
  math::add_multiple(n, share, phases->rebound.data(), phases->restituted.data());
  for (int i = 0; i < terms.num_contacts(); ++i)
    normal[i] *= 1 + share * calc_restitution(terms, iterate, i);
}

/// Returns true if restitution made a row close faster than compression left it.
bool closes_again(const RigidTerms& terms, const ProjectedProblem& projected,
                  const ImpactPhases& phases) {
  const int n = terms.num_dofs();
  for (int i = 0; i < terms.num_unilateral(); ++i) {
    const double* row = projected.N.data() + static_cast<std::size_t>(i) * n;
    const double w = math::dot(n, row, phases.restituted.data()) + projected.b_n[i];
    const double w_compressed = math::dot(n, row, phases.compressed.data()) + projected.b_n[i];
    if (w < -kClosingSpeed && w < w_compressed) return true;
  }
  return false;
}

/// Solves an impact: compression, restitution, and a solve that stops rows that close then.
LcpReport solve_phases(const RigidTerms& terms, ConflictFallbacks* fallbacks, RigidIterate* iterate,
                       ReducedSystem* system, ImpactPhases* phases) {
  const LcpReport compression = fallbacks->solve(terms, iterate, system);
  if (!compression.is_solved()) return compression;
  LawSolver& solver = fallbacks->law_solver();
  RigidImpulses& impulses = phases->impulses;
  impulses = solver.solution.impulses;
  phases->compressed = solver.solution.u;

  restitute(terms, *iterate, *system, phases);
  if (!closes_again(terms, system->projected, *phases)) return compression;

  // Friction that does not grow with normal impulses has acted in compression already.
  FrictionConstants& friction = phases->proportional;
  friction = terms.friction;
  std::fill(friction.nu.begin(), friction.nu.end(), 0.0);
  std::fill(friction.dry_bounds.begin(), friction.dry_bounds.end(), 0.0);
  const LcpReport stop = solve_reduced(terms, friction, phases->restituted, system, &solver);
  const auto add = [](const std::vector<double>& more, std::vector<double>* sum) {
    STICTION_ASSERT(more.size() == sum->size());
    for (std::size_t i = 0; i < sum->size(); ++i) (*sum)[i] += more[i];
  };
  add(solver.solution.impulses.unilateral, &impulses.unilateral);
  add(solver.solution.impulses.tangents, &impulses.tangents);
  return stop;
}

}  // namespace

ImpactResult resolve_impacts(const RigidTerms& terms, ConflictFallbacks* fallbacks,
                             RigidIterate* iterate, ReducedSystem* system, ImpactPhases* phases,
                             RigidMotion* motion) {
  ImpactResult result;
  while (find_rebounds(terms, *motion, iterate)) {
    base::check_limits();
    result.status = whiten(terms, *iterate, {}, &system->whitened);
    if (result.status != contact::SolveStatus::kConverged) break;
    const LcpReport report = solve_phases(terms, fallbacks, iterate, system, phases);
    result.status = to_solve_status(report.status);
    if (!report.is_solved()) break;
    expand_solution(terms, *iterate, phases->impulses, system, motion);
    result.has_impacts = true;
    if (!iterate->sticking.add_pressing(terms, *motion)) break;
  }
  return result;
}

double calc_rebound_share(double taken, double separating, double moving) {
  STICTION_ASSERT(!(moving < 0));
  if (separating + moving <= taken * (1 + kEnergyRoundOff)) return 1;
  const double root = std::sqrt(std::max(0.0, separating * separating + 4 * moving * taken));
  return moving > 0 ? std::clamp(0.5 * (root - separating) / moving, 0.0, 1.0) : 0;
}

}  // namespace stiction::formulations
