#include "stiction/sim/report/report_writer.hpp"

#include <algorithm>
#include <limits>

#include "stiction/math/six.hpp"

namespace stiction::sim {
namespace {

using math::load_three;
using math::store_three;
using math::Vec4;

/// Calls f(array of a, the same array of b) for all arrays of two reports.
template <class F>
void for_each_array(const ContactReport& a, ContactReport* b, F&& f) {
  f(a.bodies, &b->bodies);
  f(a.geoms, &b->geoms);
  f(a.point, &b->point);
  f(a.normal, &b->normal);
  f(a.distance, &b->distance);
  f(a.impulse, &b->impulse);
  f(a.torque_impulse, &b->torque_impulse);
  f(a.normal_impulse, &b->normal_impulse);
  f(a.normal_velocity, &b->normal_velocity);
  f(a.slip_velocity, &b->slip_velocity);
  f(a.slipping, &b->slipping);
  f(a.friction, &b->friction);
  f(a.delassus, &b->delassus);
  f(a.is_fallback, &b->is_fallback);
  f(a.patch, &b->patch);
}

}  // namespace

void clear_contacts(ContactReport* report) {
  for_each_array(*report, report, [](const auto&, auto* array) { array->clear(); });
}

void append_contacts(const ContactReport& part, ContactReport* all) {
  for_each_array(part, all, [](const auto& from, auto* to) {
    to->insert(to->end(), from.begin(), from.end());
  });
}

void add_statistics(const StepStatistics& part, StepStatistics* all) {
  all->num_contacts = std::max(all->num_contacts, part.num_contacts);
  all->num_rows = std::max(all->num_rows, part.num_rows);
  all->num_islands = std::max(all->num_islands, part.num_islands);
  all->iterations += part.iterations;
  all->num_lemke += part.num_lemke;
  all->max_iterations = std::max(all->max_iterations, part.max_iterations);
  all->max_substeps = std::max(all->max_substeps, part.max_substeps);
  all->line_search_evaluations += part.line_search_evaluations;
  all->residual = std::max(all->residual, part.residual);
  ++all->num_parts;
}

void add_timings(const StepTimings& part, StepTimings* sum) {
  for (double StepTimings::*stage : kStages) sum->*stage += part.*stage;
}

void clear_report(StepReport* report) {
  report->status = kOk;
  report->message.clear();
  report->num_steps = 0;
  report->certificate = {};
  report->momentum_error = 0;
  report->statistics = {};
  report->timings = {};
  report->advance = {};
  report->missing_memory = 0;
  report->anchors = {};
  report->num_warnings = 0;
  report->warning.clear();
  for (WarningReport& warnings : report->warnings) {
    warnings.count = 0;
    warnings.text.clear();
  }
}

void write_contacts(const mjModel* m, const mjData* d, const contact::ContactProblem& problem,
                    const contact::ContactSolution& solution, ContactReport* out,
                    const plant::ContactPatches* patches) {
  const int n = problem.num_contacts();
  for (auto* ids : {&out->bodies, &out->geoms}) ids->resize(2 * n);
  for (auto* vectors :
       {&out->point, &out->normal, &out->impulse, &out->torque_impulse, &out->slip_velocity})
    vectors->resize(3 * n);
  for (auto* scalars : {&out->distance, &out->normal_impulse, &out->normal_velocity, &out->friction,
                        &out->delassus})
    scalars->resize(n);
  // MuJoCo's own step computes no mobilities.
  const bool has_delassus = static_cast<int>(problem.delassus.size()) == n;
  out->slipping.resize(n);
  out->patch.resize(n);
  out->is_fallback.resize(n);
  int num_patches = 0;
  for (const contact::BodyPair& pair : problem.pairs) {
    const bool is_patch = problem.contacts[pair.first_contact].face >= 0;
    num_patches += is_patch;
    const Vec4 origin = load_three(pair.origin.data());
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      const contact::Contact& c = problem.contacts[i];
      out->patch[i] = is_patch ? num_patches - 1 : -1;
      const mjContact& con = d->contact[c.source];
      out->is_fallback[i] = !is_patch && patches &&
                            (patches->body(con.geom[0]).body || patches->body(con.geom[1]).body);
      const auto& gamma = solution.impulses[i];
      const auto& v_c = solution.contact_velocities[i];
      for (int side = 0; side < 2; ++side) {
        out->geoms[2 * i + side] = con.geom[side];
        out->bodies[2 * i + side] = m->geom_bodyid[con.geom[side]];
      }
      const double* R = c.R_WC.data();
      const Vec4 t1 = load_three(R), t2 = load_three(R + 3), normal = load_three(R + 6);
      store_three(&out->point[3 * i], origin + load_three(c.offset.data()));
      store_three(&out->normal[3 * i], normal);
      store_three(&out->impulse[3 * i], t1 * gamma[0] + t2 * gamma[1] + normal * gamma[2]);
      store_three(&out->torque_impulse[3 * i], normal * gamma[3] + t1 * gamma[4] + t2 * gamma[5]);
      store_three(&out->slip_velocity[3 * i], t1 * v_c[0] + t2 * v_c[1]);
      out->distance[i] = c.phi0;
      out->normal_impulse[i] = gamma[2];
      out->normal_velocity[i] = v_c[2];
      out->slipping[i] = solution.slipping[i];
      out->friction[i] = c.sliding_friction();
      out->delassus[i] =
          has_delassus ? problem.delassus[i] : std::numeric_limits<double>::quiet_NaN();
    }
  }
}

void write_statistics(const contact::ContactProblem& problem,
                      const contact::ContactSolution& solution, StepReport* report) {
  StepStatistics& s = report->statistics;
  s = {};
  s.num_contacts = problem.num_contacts();
  s.num_rows = problem.num_rows();
  s.num_islands = static_cast<int>(solution.islands.size());
  for (const contact::IslandStatistics& island : solution.islands) {
    s.iterations += island.iterations;
    s.max_iterations = std::max(s.max_iterations, island.iterations);
    s.max_substeps = std::max(s.max_substeps, island.num_substeps);
    s.line_search_evaluations += island.line_search_evaluations;
    s.num_lemke += island.num_lemke;
    if (island.scale > 0) s.residual = std::max(s.residual, island.residual / island.scale);
  }
  report->islands.assign(solution.islands.begin(), solution.islands.end());
}

}  // namespace stiction::sim
