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

/// Returns the velocity at which a contact must leave so that its energy is e^2 times that with
/// which it arrived, both above the height at which the surfaces touch [m/s]. Semi-implicit steps
/// conserve v^2 / 2 + a phi + a dt v / 2 under a constant approach acceleration a, with a negative
/// v before the impact. Source: [theory:rebound-height].
/// @param closing speed at the start of the step, >= 0 [m/s]
/// @param gap     speed at which an open gap closes within the step, phi / dt >= 0 [m/s]
/// @param pushed  by which forces increase the closing speed in the step, a dt [m/s]
/// @return <= 0 if the energy does not lift the contact over the gap
double calc_rebound_velocity(double e, double closing, double gap, double pushed) {
  const double twice_energy =
      e * e * (closing * (closing + pushed) + 2 * pushed * gap) - 2 * pushed * gap;
  return std::sqrt(std::max(0.0, 0.25 * pushed * pushed + twice_energy)) - 0.5 * pushed;
}

/// Marks the contacts with restitution that hit and have an impulse, and writes the gap terms of
/// the impact, in which overlaps are not corrected. Contacts that hit reach their rebound velocity
/// after the forces of the step have acted.
/// @param gaps those of the step
/// @return true if any contact hits
bool find_hits(const RigidTerms& terms, const RigidMotion& motion, const GapTerms& gaps,
               std::vector<char>* hits, GapTerms* out) {
  const auto open = [](double b) { return std::max(0.0, b); };
  out->contacts.resize(gaps.contacts.size());
  out->limits.resize(gaps.limits.size());
  std::ranges::transform(gaps.contacts, out->contacts.begin(), open);
  std::ranges::transform(gaps.limits, out->limits.begin(), open);
  out->equalities = gaps.equalities;  // an equality may drive what hits
  hits->assign(terms.num_contacts(), 0);
  bool is_any = false;
  for (int i = 0; i < terms.num_contacts(); ++i) {
    const contact::Contact& c = terms.contact(i);
    const double e = c.law.restitution;
    if (e == 0 || !(motion.contact_impulses[i][2] > 0)) continue;
    const DenseJacobian<3> J = terms.contact_jacobian(i);
    const double v_n0 = J.multiply(terms.v0).z() + c.bias[2];
    const double v_n_star = J.multiply(terms.v_star).z() + c.bias[2];
    if (!contact::is_impact(v_n0, v_n_star)) continue;
    const double pushed = v_n0 - v_n_star;
    const double v =
        calc_rebound_velocity(e, -v_n0, open(c.phi0 / terms.problem->time_step), pushed);
    if (!(v > 0)) continue;
    // Compression to w = -b and the rebound lead to -e v_n0 - (1 + e) b = v + pushed.
    (*hits)[i] = 1;
    out->contacts[i] = -(v + pushed + e * v_n0) / (1 + e);
    is_any = true;
  }
  return is_any;
}

/// Returns the share of phases.rebound that adds no energy. The work of an impulse is its product
/// with the mean of the relative velocities of the surfaces before and after compression. If
/// tangents worked against the normals in compression, compression took less energy. Restitution
/// does not change their impulses.
double find_rebound_share(const RigidTerms& terms, const ReducedSystem& system,
                          const ImpactPhases& phases) {
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
    // The energies of a contact that hits are those about the velocity at which it is compressed.
    const double bias = terms.contact(i).bias[2] + (phases.hits[i] ? phases.gaps.contacts[i] : 0.0);
    const double* row = rows.N.data() + static_cast<std::size_t>(i) * n;
    separating += terms.contact(i).law.restitution * impulses.unilateral[i] *
                  (bias + math::dot(n, row, after));
    add_work(rows.N, i, bias, impulses.unilateral[i]);
    if (impulses.tangents.empty()) continue;
    for (int t = 2 * i; t < 2 * i + 2; ++t) add_work(rows.T, t, rows.b_t[t], impulses.tangents[t]);
  }
  for (int i = 0; i < terms.num_limits(); ++i)
    add_work(rows.N, num_contacts + i, terms.row(terms.limits[i]).bias,
             impulses.unilateral[num_contacts + i]);
  for (std::size_t i = 0; i < impulses.dry.size(); ++i)
    add_work(rows.F, i, rows.b_f[i], impulses.dry[i]);
  const double moving = 0.5 * math::dot(n, phases.rebound.data(), phases.rebound.data());
  return calc_rebound_share(taken, separating, moving);
}

/// True if nothing drives the island: no surface moves, and there are no equalities and limits.
bool is_undriven(const RigidTerms& terms) {
  const auto rests = [](double b) { return b == 0; };
  for (int i = 0; i < terms.num_contacts(); ++i)
    if (!std::ranges::all_of(terms.contact(i).bias, rests)) return false;
  return terms.num_equalities() == 0 && terms.num_limits() == 0;
}

/// Returns the largest share of the rebound with which the island has no more energy, after the
/// forces of the step, than without the impact: |a + s rho|^2 <= |y_free|^2.
double find_bounded_share(const RigidTerms& terms, const ReducedSystem& system,
                          const ImpactPhases& phases) {
  const int n = terms.num_dofs();
  const std::vector<double>& free = system.whitened.y_free;
  const double* const rho = phases.rebound.data();
  double along = 0, excess = 0;  // a . rho and |a|^2 - |y_free|^2
  for (int i = 0; i < n; ++i) {
    const double a = phases.compressed[i] + free[i] - phases.start[i];
    along += a * rho[i];
    excess += a * a - free[i] * free[i];
  }
  return calc_rebound_share(-0.5 * excess, along, 0.5 * math::dot(n, rho, rho));
}

/// Adds restitution: each contact gives back a share of its normal impulse of compression.
void restitute(const RigidTerms& terms, const ReducedSystem& system, ImpactPhases* phases) {
  const int n = terms.num_dofs();
  std::vector<double>& normal = phases->impulses.unilateral;
  phases->rebound.assign(n, 0.0);
  for (int i = 0; i < terms.num_contacts(); ++i)
    math::add_multiple(n, terms.contact(i).law.restitution * normal[i],
                       system.projected.N.data() + static_cast<std::size_t>(i) * n,
                       phases->rebound.data());
  double share = find_rebound_share(terms, system, *phases);
  // The energies of contacts that hit are about different velocities, so their sum is no bound.
  if (is_undriven(terms)) share = std::min(share, find_bounded_share(terms, system, *phases));
  phases->restituted = phases->compressed;
  math::add_multiple(n, share, phases->rebound.data(), phases->restituted.data());
  for (int i = 0; i < terms.num_contacts(); ++i)
    normal[i] *= 1 + share * terms.contact(i).law.restitution;
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

void add(const RigidImpulses& more, RigidImpulses* sum) {
  const auto add_each = [](const std::vector<double>& x, std::vector<double>* y) {
    y->resize(x.size(), 0.0);
    for (std::size_t i = 0; i < x.size(); ++i) (*y)[i] += x[i];
  };
  add_each(more.unilateral, &sum->unilateral);
  add_each(more.tangents, &sum->tangents);
  add_each(more.dry, &sum->dry);
}

/// Solves the impact by itself, at the velocities of the start of the step: compression,
/// restitution, and a solve that stops rows that close then.
/// @return of the first phase without a solution; phases->restituted is the motion after the impact
LcpReport solve_impact(const RigidTerms& terms, double rank_tolerance, const StickingSet& sticking,
                       ReducedSystem* system, LawSolver* solver, ImpactPhases* phases) {
  // Friction that does not grow with normal impulses acts with the forces of the step.
  FrictionConstants& friction = phases->proportional;
  friction = terms.friction;
  std::fill(friction.nu.begin(), friction.nu.end(), 0.0);
  std::fill(friction.dry_bounds.begin(), friction.dry_bounds.end(), 0.0);

  set_constants(terms, phases->gaps, &system->whitened.rows);
  (void)project(terms, system->whitened, sticking, rank_tolerance, &system->projected);
  const LcpReport compression = solve_reduced(terms, friction, phases->start, system, solver);
  if (!compression.is_solved()) return compression;
  phases->impulses = solver->solution.impulses;
  phases->compressed = solver->solution.u;
  restitute(terms, *system, phases);
  if (!closes_again(terms, system->projected, *phases)) return compression;

  const LcpReport stop = solve_reduced(terms, friction, phases->restituted, system, solver);
  add(solver->solution.impulses, &phases->impulses);
  phases->restituted = solver->solution.u;
  return stop;
}

/// Solves the impact, and the step from the motion after it.
LcpReport solve_phases(const RigidTerms& terms, ConflictFallbacks* fallbacks, RigidIterate* iterate,
                       ReducedSystem* system, ImpactPhases* phases) {
  const int n = terms.num_dofs();
  LawSolver& solver = fallbacks->law_solver();
  phases->start = terms.v0;
  system->whitened.whitening.to_y(phases->start.data());
  const LcpReport impact =
      solve_impact(terms, fallbacks->rank_tolerance(), iterate->sticking, system, &solver, phases);
  if (!impact.is_solved()) return impact;

  phases->forced = phases->restituted;
  math::add_multiple(n, 1, system->whitened.y_free.data(), phases->forced.data());
  math::add_multiple(n, -1, phases->start.data(), phases->forced.data());
  set_constants(terms, iterate->gaps, &system->whitened.rows);
  const LcpReport step = fallbacks->solve(terms, phases->forced, iterate, system);
  add(solver.solution.impulses, &phases->impulses);
  return step;
}

}  // namespace

ImpactResult resolve_impacts(const RigidTerms& terms, ConflictFallbacks* fallbacks,
                             RigidIterate* iterate, ReducedSystem* system, ImpactPhases* phases,
                             RigidMotion* motion) {
  ImpactResult result;
  while (find_hits(terms, *motion, iterate->gaps, &phases->hits, &phases->gaps)) {
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
