#include "stiction/sim/report/report_writer.hpp"

#include <algorithm>
#include <limits>

#include "stiction/math/six.hpp"

namespace stiction::sim {
namespace {

using math::load_three;
using math::store_three;
using math::Vec3;
using math::Vec4;

void append(const Vec3& v, std::vector<double>* to) {
  for (const double x : {v.x, v.y, v.z}) to->push_back(x);
}
void add(const Vec3& v, double* to) {
  to[0] += v.x;
  to[1] += v.y;
  to[2] += v.z;
}

/// Appends the geometry and pressure of a surface.
/// @return its center of area
Vec3 append_surface(const geometry::ContactSurface& surface, PatchReport* out) {
  double area = 0;
  Vec3 moment;
  const int first_vertex = out->num_vertices();
  for (const geometry::SurfaceFace& face : surface.faces) {
    area += face.area;
    moment += face.area * face.centroid;
    append(face.centroid, &out->face_center);
    append(face.normal, &out->face_normal);
    out->face_area.push_back(face.area);
    out->pressure.push_back(face.pressure);
    out->vertex_start.push_back(first_vertex + face.first_vertex + face.num_vertices);
  }
  for (const Vec3& vertex : surface.vertices) append(vertex, &out->vertices);
  out->vertex_pressure.insert(out->vertex_pressure.end(), surface.vertex_pressure.begin(),
                              surface.vertex_pressure.end());
  out->face_start.push_back(out->num_faces());
  out->area.push_back(area);
  const Vec3 center = moment * (1 / area);
  append(center, &out->center);
  return center;
}

/// Appends the impulses of a step, summed over the points of each face and of the patch.
void append_forces(const plant::PatchPair& pair, const Vec3& center,
                   const contact::ContactProblem& problem, const contact::ContactSolution& solution,
                   PatchReport* out) {
  const auto first_face = out->normal_traction.size();
  const std::size_t num_faces = out->num_faces();
  out->normal_traction.resize(num_faces, 0.0);
  out->traction.resize(3 * num_faces, 0.0);
  out->slip_velocity.resize(3 * num_faces, 0.0);
  out->slipping.resize(num_faces, 0);
  Vec3 force, torque;
  for (std::size_t i = 0; i < pair.points.size(); ++i) {
    const geometry::QuadraturePoint& point = pair.points[i];
    const int index = pair.first_contact + static_cast<int>(i);
    const auto& R = problem.contacts[index].R_WC;
    const Vec3 t1{R[0], R[1], R[2]}, t2{R[3], R[4], R[5]}, n{R[6], R[7], R[8]};
    const auto& gamma = solution.impulses[index];
    const auto v = contact::calc_slip_velocity(problem, solution, index);
    const Vec3 f = (gamma[0] * t1 + gamma[1] * t2 + gamma[2] * n) * (1 / problem.time_step);
    force += f;
    torque += cross(point.position - center, f);

    const std::size_t face = first_face + point.face;
    const double area = out->face_area[face];
    out->normal_traction[face] += gamma[2] / (problem.time_step * area);
    add(f * (1 / area), &out->traction[3 * face]);
    add((v[0] * t1 + v[1] * t2) * (point.area / area), &out->slip_velocity[3 * face]);
    out->slipping[face] |= solution.slipping[index] && gamma[2] > 0;
  }
  append(force, &out->force);
  append(torque, &out->torque);
}

/// Appends the forces of the fields' pressure alone.
void append_pressure_forces(const geometry::ContactSurface& surface, const Vec3& center,
                            PatchReport* out) {
  Vec3 force, torque;
  for (const geometry::SurfaceFace& face : surface.faces) {
    const Vec3 traction = face.pressure * face.normal;
    force += face.area * traction;
    torque += cross(face.centroid - center, face.area * traction);
    out->normal_traction.push_back(face.pressure);
    append(traction, &out->traction);
    append(Vec3{}, &out->slip_velocity);
    out->slipping.push_back(0);
  }
  append(force, &out->force);
  append(torque, &out->torque);
}

/// Appends all entries of a patch except its forces.
/// @return the center of area
Vec3 append_patch(const mjModel* m, const plant::PatchPair& pair, PatchReport* out) {
  for (const int geom : pair.geoms) {
    out->geoms.push_back(geom);
    out->bodies.push_back(m->geom_bodyid[geom]);
  }
  out->is_deep.push_back(pair.is_deep);
  out->is_thin.push_back(pair.is_thin);
  return append_surface(pair.surface, out);
}

}  // namespace

void clear_report(StepReport* report) {
  static const CallFindings none;
  withdraw_step(none, report);
  report->num_steps = 0;
  report->momentum_error = 0;
  report->statistics = {};
  report->timings = {};
  report->advance = {};
  report->missing_memory = 0;
  report->anchors = {};
}

void withdraw_step(const CallFindings& before, StepReport* report) {
  report->status = kOk;
  report->message.clear();
  report->certificate = before.certificate;
  // Texts of all kinds take as long as a short stage of a step, and hardly any step warns.
  if (before.num_warnings > 0 || report->num_warnings > 0)
    static_cast<CallFindings&>(*report) = before;
}

void add_work(const StepStatistics& part, StepStatistics* all) {
  all->iterations += part.iterations;
  all->num_lemke += part.num_lemke;
  all->num_contact_space += part.num_contact_space;
  all->num_left_contact_space += part.num_left_contact_space;
}

void add_statistics(const StepStatistics& part, StepStatistics* all) {
  all->num_contacts = std::max(all->num_contacts, part.num_contacts);
  all->num_rows = std::max(all->num_rows, part.num_rows);
  all->num_islands = std::max(all->num_islands, part.num_islands);
  add_work(part, all);
  all->max_iterations = std::max(all->max_iterations, part.max_iterations);
  all->max_substeps = std::max(all->max_substeps, part.max_substeps);
  all->line_search_evaluations += part.line_search_evaluations;
  all->residual = std::max(all->residual, part.residual);
  ++all->num_parts;
}

void add_timings(const StepTimings& part, StepTimings* sum) {
  for (double StepTimings::*stage : kStages) sum->*stage += part.*stage;
}

void write_contacts(const mjModel* m, const mjData* d, const contact::ContactProblem& problem,
                    const contact::ContactSolution& solution, ContactReport* out,
                    const plant::ContactPatches* patches) {
  const int n = problem.num_contacts();
  resize_arrays(n, out);
  // MuJoCo's own step computes no mobilities.
  const bool has_delassus = static_cast<int>(problem.delassus.size()) == n;
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
      std::copy(pair.half_gap.begin(), pair.half_gap.end(), &out->half_gap[3 * i]);
      store_three(&out->normal[3 * i], normal);
      store_three(&out->impulse[3 * i], t1 * gamma[0] + t2 * gamma[1] + normal * gamma[2]);
      store_three(&out->torque_impulse[3 * i], normal * gamma[3] + t1 * gamma[4] + t2 * gamma[5]);
      const auto slip = contact::calc_slip_velocity(problem, solution, i);
      store_three(&out->slip_velocity[3 * i], t1 * slip[0] + t2 * slip[1]);
      out->distance[i] = c.phi0;
      out->normal_impulse[i] = gamma[2];
      out->normal_velocity[i] = v_c[2];
      out->slipping[i] = solution.slipping[i] && gamma[2] > 0;
      out->friction[i] = c.sliding_friction();
      out->delassus[i] =
          has_delassus ? problem.delassus[i] : std::numeric_limits<double>::quiet_NaN();
    }
  }
}

void write_patches(const mjModel* m, const plant::ContactPatches& patches,
                   const contact::ContactProblem& problem, const contact::ContactSolution& solution,
                   PatchReport* out) {
  clear_arrays(out);
  for (const plant::PatchPair& pair : patches.pairs())
    if (pair.first_contact >= 0)
      append_forces(pair, append_patch(m, pair, out), problem, solution, out);
}

void write_surfaces(const mjModel* m, const plant::ContactPatches& patches, PatchReport* out) {
  clear_arrays(out);
  for (const plant::PatchPair& pair : patches.pairs())
    if (!pair.surface.faces.empty())
      append_pressure_forces(pair.surface, append_patch(m, pair, out), out);
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
    s.num_contact_space += island.uses_contact_space;
    s.num_left_contact_space += island.leaves_contact_space;
    if (island.scale > 0) s.residual = std::max(s.residual, island.residual / island.scale);
  }
  report->islands.assign(solution.islands.begin(), solution.islands.end());
}

void clear_trace(TraceReport* report) {
  for (auto* numbers : {&report->solve, &report->island, &report->run, &report->iteration})
    numbers->clear();
  for (auto* values : {&report->cost, &report->gradient_norm, &report->step_length})
    values->clear();
  report->num_solves = 0;
}

void append_traces(const contact::ContactSolution& solution, TraceReport* report) {
  if (solution.traces.empty()) return;
  for (std::size_t island = 0; island < solution.traces.size(); ++island) {
    for (const numerics::NewtonIterate& iterate : solution.traces[island].iterates()) {
      report->solve.push_back(report->num_solves);
      report->island.push_back(static_cast<int>(island));
      report->run.push_back(iterate.run);
      report->iteration.push_back(iterate.iteration);
      report->cost.push_back(iterate.cost);
      report->gradient_norm.push_back(iterate.gradient_norm);
      report->step_length.push_back(iterate.step_length);
    }
  }
  ++report->num_solves;
}

}  // namespace stiction::sim
