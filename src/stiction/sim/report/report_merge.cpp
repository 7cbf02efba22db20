#include "stiction/sim/report/report_merge.hpp"

#include "stiction/sim/report/report_writer.hpp"

namespace stiction::sim {
namespace {

template <class T>
void append(const std::vector<T>& from, std::vector<T>* to) {
  to->insert(to->end(), from.begin(), from.end());
}

/// Appends starts, which begin with 0, after those of a list that has `first` items.
void append_starts(const std::vector<int>& from, int first, std::vector<int>* to) {
  for (std::size_t i = 1; i < from.size(); ++i) to->push_back(first + from[i]);
}

void append_patches(const PatchReport& part, PatchReport* all) {
  append_starts(part.face_start, all->num_faces(), &all->face_start);
  append_starts(part.vertex_start, all->num_vertices(), &all->vertex_start);
  append(part.bodies, &all->bodies);
  append(part.geoms, &all->geoms);
  append(part.area, &all->area);
  append(part.center, &all->center);
  append(part.force, &all->force);
  append(part.torque, &all->torque);
  append(part.is_deep, &all->is_deep);
  append(part.is_thin, &all->is_thin);
  append(part.face_center, &all->face_center);
  append(part.face_normal, &all->face_normal);
  append(part.face_area, &all->face_area);
  append(part.pressure, &all->pressure);
  append(part.normal_traction, &all->normal_traction);
  append(part.traction, &all->traction);
  append(part.slip_velocity, &all->slip_velocity);
  append(part.slipping, &all->slipping);
  append(part.vertices, &all->vertices);
  append(part.vertex_pressure, &all->vertex_pressure);
}

}  // namespace

ContactReport merge(const std::vector<ContactReport>& reports, std::vector<int>* offsets) {
  ContactReport all;
  offsets->assign(1, 0);
  for (const ContactReport& report : reports) {
    append_contacts(report, &all);
    offsets->push_back(all.size());
    if (all.time_step == 0) all.time_step = report.time_step;
  }
  return all;
}

PatchReport merge(const std::vector<PatchReport>& reports, std::vector<int>* offsets) {
  PatchReport all;
  offsets->assign(1, 0);
  for (const PatchReport& report : reports) {
    append_patches(report, &all);
    offsets->push_back(all.size());
  }
  return all;
}

}  // namespace stiction::sim
