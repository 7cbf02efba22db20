// Patches of pressure-field contact. Arrays are views of the report that owns them.
#include <cstdio>
#include <string>
#include <vector>

#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "report_arrays.hpp"
#include "report_state.hpp"
#include "stiction/sim/report/patch_report.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;
using sim::PatchReport;

/// A range of rows of an array.
struct Rows {
  std::size_t first, count;
};

/// One patch of a report.
struct Patch {
  nb::object owner;  // the PatchReport
  const PatchReport* report;
  int index;

  Rows faces() const { return make_rows(report->face_start, index, index + 1); }
  Rows vertices() const {
    const auto [first, count] = faces();
    return make_rows(report->vertex_start, first, first + count);
  }
  std::size_t num_faces() const { return faces().count; }

 private:
  static Rows make_rows(const std::vector<int>& starts, std::size_t begin, std::size_t end) {
    const auto first = static_cast<std::size_t>(starts[begin]);
    return {first, starts[end] - first};
  }
};

/// Exposes an array with one row per face or per vertex.
template <class T>
void def_rows(nb::class_<Patch>& c, const char* name, Rows (Patch::*rows)() const,
              std::vector<T> PatchReport::*member, std::size_t width, const char* doc) {
  c.def_prop_ro(
      name,
      [=](const Patch& p) {
        const auto [first, count] = (p.*rows)();
        return view_rows(p.report->*member, first, count, width, p.owner);
      },
      nb::rv_policy::reference, doc);
}

/// Exposes an array with one row per patch, such as the force.
template <class T>
void def_vector(nb::class_<Patch>& c, const char* name, std::vector<T> PatchReport::*member,
                std::size_t size, const char* doc) {
  c.def_prop_ro(
      name,
      [=](const Patch& p) {
        return view_rows(p.report->*member, p.index * size, size, 1, p.owner);
      },
      nb::rv_policy::reference, doc);
}

void bind_patch(nb::module_& m) {
  nb::class_<Patch> c(
      m, "ContactPatch",
      "A patch of pressure-field contact, as read-only arrays over its n faces and their k "
      "vertices.\n\nForces and tractions act on the second body and are means over the step. "
      "Vectors are in the world. Source: [masterjohn2022].");
  def_vector(c, "bodies", &PatchReport::bodies, 2,
             "Ids of the first and the second body, int32 (2,).");
  def_vector(c, "geoms", &PatchReport::geoms, 2,
             "Ids of the first and the second geom, int32 (2,).");
  c.def_prop_ro(
      "area", [](const Patch& p) { return p.report->area[p.index]; }, "Area of all faces [m^2].");
  def_vector(c, "center", &PatchReport::center, 3, "Center of the area [m], (3,).");
  def_vector(c, "force", &PatchReport::force, 3, "Force [N], (3,).");
  def_vector(c, "torque", &PatchReport::torque, 3, "Torque about the center [N m], (3,).");
  c.def_prop_ro(
      "is_deep", [](const Patch& p) { return p.report->is_deep[p.index] != 0; },
      "True if the overlap is deeper than the fields cover: it passes a medial axis, or the force "
      "of the fields decreases with the depth.");
  c.def_prop_ro(
      "is_thin", [](const Patch& p) { return p.report->is_thin[p.index] != 0; },
      "True if the bodies approach by more than half the thickness of one within the step.");

  def_rows(c, "face_center", &Patch::faces, &PatchReport::face_center, 3,
           "Center of each face [m], (n, 3).");
  def_rows(c, "face_normal", &Patch::faces, &PatchReport::face_normal, 3,
           "Unit normal of each face, from the first into the second body, (n, 3).");
  def_rows(c, "face_area", &Patch::faces, &PatchReport::face_area, 1,
           "Area of each face [m^2], (n,).");
  def_rows(
      c, "pressure", &Patch::faces, &PatchReport::pressure, 1,
      "Pressure of the fields at the center of each face at the start of the step [Pa], (n,).");
  def_rows(c, "normal_traction", &Patch::faces, &PatchReport::normal_traction, 1,
           "Normal part of the traction: the pressure at the end of the step, with dissipation "
           "[Pa], (n,).");
  def_rows(c, "traction", &Patch::faces, &PatchReport::traction, 3,
           "Traction on the second body [Pa], (n, 3).");
  def_rows(c, "slip_velocity", &Patch::faces, &PatchReport::slip_velocity, 3,
           "Tangential velocity of the second body relative to the first after the step [m/s], "
           "(n, 3).");
  c.def_prop_ro(
      "slipping",
      [](const Patch& p) {
        const auto [first, count] = p.faces();
        return view_flags(p.report->slipping, first, count, p.owner);
      },
      nb::rv_policy::reference, "True if the face slips, bool (n,).");
  def_rows(c, "vertices", &Patch::vertices, &PatchReport::vertices, 3,
           "Vertices of one face after the other, counter-clockwise about the normal [m], (k, 3).");
  def_rows(c, "vertex_pressure", &Patch::vertices, &PatchReport::vertex_pressure, 1,
           "Pressure of the fields at the vertices at the start of the step [Pa], (k,).");
  c.def_prop_ro(
      "faces",
      [](const Patch& p) {
        const auto first_vertex = static_cast<int>(p.vertices().first);
        const auto [first, count] = p.faces();
        auto* starts = new std::vector<int>;
        for (std::size_t f = first; f <= first + count; ++f)
          starts->push_back(p.report->vertex_start[f] - first_vertex);
        const nb::capsule owner(starts,
                                [](void* x) noexcept { delete static_cast<std::vector<int>*>(x); });
        return nb::ndarray<nb::numpy, int, nb::c_contig>(starts->data(), {starts->size()}, owner);
      },
      nb::rv_policy::reference,
      "Start of each face in `vertices`: the vertices of face i are "
      "`vertices[faces[i]:faces[i + 1]]`, int32 (n + 1,).");
  c.def("__len__", &Patch::num_faces, "Number of faces.");
  c.def("__repr__", [](const Patch& p) {
    char text[160];
    const double* f = p.report->force.data() + 3 * p.index;
    std::snprintf(text, sizeof text,
                  "ContactPatch(geoms=(%d, %d), faces=%zu, area=%.3e m^2, "
                  "force=(%.3g, %.3g, %.3g) N)",
                  p.report->geoms[2 * p.index], p.report->geoms[2 * p.index + 1], p.num_faces(),
                  p.report->area[p.index], f[0], f[1], f[2]);
    return std::string(text);
  });
}

/// Exposes the arrays of all patches.
void bind_arrays(nb::class_<PatchReport>& c) {
  using R = PatchReport;
  def_array(c, "bodies", &R::bodies, 2, "Ids of the first and the second body, int32 (n, 2).");
  def_array(c, "geoms", &R::geoms, 2, "Ids of the first and the second geom, int32 (n, 2).");
  def_array(c, "area", &R::area, 1, "Area [m^2], (n,).");
  def_array(c, "center", &R::center, 3, "Center of the area, in the world [m], (n, 3).");
  def_array(c, "force", &R::force, 3, "Mean force on the second body, in the world [N], (n, 3).");
  def_array(c, "torque", &R::torque, 3,
            "Mean torque on the second body about the center, in the world [N m], (n, 3).");
  def_flags(c, "is_deep", &R::is_deep, "True if deeper than the fields cover, bool (n,).");
  def_flags(c, "is_thin", &R::is_thin,
            "True if it moves by more than half a body's thickness in the step, bool (n,).");
  def_array(c, "face_start", &R::face_start, 1,
            "The faces of patch i are [face_start[i], face_start[i + 1]), int32 (n + 1,).");
  def_array(c, "face_center", &R::face_center, 3, "Centers of the faces [m], (m, 3).");
  def_array(c, "face_normal", &R::face_normal, 3,
            "Unit normals of the faces, from the first into the second body, (m, 3).");
  def_array(c, "face_area", &R::face_area, 1, "Areas of the faces [m^2], (m,).");
  def_array(c, "pressure", &R::pressure, 1,
            "Pressure at the center of each face at the start of the step [Pa], (m,).");
  def_array(c, "normal_traction", &R::normal_traction, 1,
            "Pressure at the end of the step, with dissipation [Pa], (m,).");
  def_array(c, "traction", &R::traction, 3, "Force per area on the second body [Pa], (m, 3).");
  def_array(c, "slip_velocity", &R::slip_velocity, 3,
            "Tangential velocity of the second body relative to the first after the step [m/s], "
            "(m, 3).");
  def_flags(c, "slipping", &R::slipping, "True if a point of the face slips, bool (m,).");
  def_array(c, "vertex_start", &R::vertex_start, 1,
            "The vertices of face f are [vertex_start[f], vertex_start[f + 1]), int32 (m + 1,).");
  def_array(c, "vertices", &R::vertices, 3, "Vertices of the faces [m], (k, 3).");
  def_array(c, "vertex_pressure", &R::vertex_pressure, 1,
            "Pressure at the vertices at the start of the step [Pa], (k,).");
}

}  // namespace

void bind_patches(nb::module_& m) {
  bind_patch(m);
  nb::class_<PatchReport> patches(
      m, "PatchReport",
      "The patches of a step: a sequence of ContactPatch, and arrays of all n patches with their m "
      "faces and k vertices.");
  def_pickle(patches);
  bind_arrays(patches);
  patches.def("__len__", &PatchReport::size, "Number of patches.")
      .def(
          "__getitem__",
          [](nb::handle self, int index) {
            const auto& report = nb::cast<const PatchReport&>(self);
            const int i = index < 0 ? index + report.size() : index;
            if (i < 0 || i >= report.size()) throw nb::index_error("patch index out of range");
            return Patch{nb::borrow(self), &report, i};
          },
          "index"_a, "Returns a patch; negative indices count from the end.")
      .def(
          "__iter__",
          [](nb::handle self) {
            const auto& report = nb::cast<const PatchReport&>(self);
            nb::list patches;
            for (int i = 0; i < report.size(); ++i)
              patches.append(Patch{nb::borrow(self), &report, i});
            return nb::iter(patches);
          },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[ContactPatch]"),
          "Iterates over the patches.")
      .def_prop_ro("num_faces", &PatchReport::num_faces, "Number of faces of all patches.");
}

}  // namespace stiction::python
