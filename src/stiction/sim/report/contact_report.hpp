#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "stiction/sim/report/report_arrays.hpp"

/// The reports of contacts and patches. `list_arrays` says what each array contains; a new array is
/// a member and a row there, and the code that computes it.
namespace stiction::sim {

/// The contacts of a step. They include speculative contacts that did not touch; their distance is
/// above 0 and their impulse is 0. A step that is divided lists the contacts of each part, each
/// with the impulse of that part. Vectors are in the world.
struct ContactReport {
  std::vector<int> bodies, geoms, patch;
  std::vector<double> point, half_gap, normal, distance, impulse, torque_impulse, normal_impulse,
      normal_velocity, slip_velocity, friction, delassus;
  std::vector<std::uint8_t> slipping, is_fallback;
  double time_step = 0;  // of the whole step [s]; force = impulse / time_step

  int size() const { return static_cast<int>(distance.size()); }
};

constexpr auto list_arrays(const ContactReport*) {
  using R = ContactReport;
  using Ids = ReportArray<R, int>;
  using Numbers = ReportArray<R, double>;
  using Flags = ReportArray<R, std::uint8_t>;
  using enum ReportItem;
  using enum Average;
  return std::tuple{
      Ids{"bodies", &R::bodies, 2, "", kContact, "Ids of the first and the second body"}
          .unrecorded(),
      Ids{"geoms", &R::geoms, 2, "", kContact, "Ids of the first and the second geom"},
      Numbers{"point", &R::point, 3, "m", kContact,
              "Contact point, halfway between the points of both bodies that meet"}
          .averaged(kMean),
      Numbers{"half_gap", &R::half_gap, 3, "m", kContact,
              "Half the vector from the first body's point to the second's at the start of the "
              "step; 0 if the bodies touch"}
          .averaged(kMean),
      Numbers{"normal", &R::normal, 3, "", kContact,
              "Unit normal from the first into the second body"},
      Numbers{"distance", &R::distance, 1, "m", kContact,
              "Signed distance at the start of the step; negative is penetration"},
      Numbers{"impulse", &R::impulse, 3, "N s", kContact, "Impulse on the second body"}.averaged(
          kSum),
      Numbers{"torque_impulse", &R::torque_impulse, 3, "N m s", kContact,
              "Torque impulse of torsional and rolling friction on the second body"}
          .averaged(kSum),
      Numbers{"normal_impulse", &R::normal_impulse, 1, "N s", kContact,
              "Normal part of the impulse, at least 0"}
          .averaged(kSum)
          .unrecorded(),
      Numbers{"normal_velocity", &R::normal_velocity, 1, "m/s", kContact,
              "Normal velocity after the step; positive is separation"}
          .unrecorded(),
      Numbers{"slip_velocity", &R::slip_velocity, 3, "m/s", kContact,
              "Tangential velocity of the second body relative to the first after the step"},
      Flags{"slipping", &R::slipping, 1, "", kContact,
            "True if friction is at its bound, within 1 % under laws that only approach it; False "
            "if the contact sticks, also if it creeps, or has no force"},
      Numbers{"friction", &R::friction, 1, "-", kContact,
              "Coefficient of sliding friction; 0 for a frictionless contact"}
          .unrecorded(),
      Numbers{"delassus", &R::delassus, 1, "1/kg", kContact,
              "Mobility w of the contact point, with which models regularize friction; NaN for "
              "'mujoco'"}
          .unrecorded(),
      Flags{"is_fallback", &R::is_fallback, 1, "", kContact,
            "True for a point contact of a geom that takes part in pressure-field contact, for a "
            "reason that Simulator.explain gives"}
          .unrecorded(),
      Ids{"patch", &R::patch, 1, "", kContact,
          "Index of the patch in the step; -1 for a contact point"}
          .averaged(kLastPatch)};
}

static_assert(sizeof(ContactReport) ==
                  count_arrays<ContactReport>() * sizeof(std::vector<int>) + sizeof(double),
              "each array has a row");

/// The patches of pressure-field contact in a step. Forces act on the second body and are means
/// over the step. Vectors are in the world. A face has its vertices counter-clockwise about its
/// normal, one face after the other.
struct PatchReport {
  std::vector<int> bodies, geoms, face_start{0}, vertex_start{0};
  std::vector<double> area, center, force, torque;
  std::vector<double> face_center, face_normal, face_area, pressure, normal_traction, traction,
      slip_velocity;
  std::vector<double> vertices, vertex_pressure;
  std::vector<std::uint8_t> is_deep, is_thin, slipping;

  int size() const { return static_cast<int>(area.size()); }
  int num_faces() const { return static_cast<int>(face_area.size()); }
  int num_vertices() const { return static_cast<int>(vertex_pressure.size()); }
};

constexpr auto list_arrays(const PatchReport*) {
  using R = PatchReport;
  using Ids = ReportArray<R, int>;
  using Numbers = ReportArray<R, double>;
  using Flags = ReportArray<R, std::uint8_t>;
  using enum ReportItem;
  return std::tuple{
      Ids{"bodies", &R::bodies, 2, "", kPatch, "Ids of the first and the second body"}.unrecorded(),
      Ids{"geoms", &R::geoms, 2, "", kPatch, "Ids of the first and the second geom"},
      Ids{"face_start", &R::face_start, 1, "", kPatch,
          "The faces of patch i are [face_start[i], face_start[i + 1])"}
          .starting("faces"),
      Numbers{"area", &R::area, 1, "m^2", kPatch, "Area of all faces"},
      Numbers{"center", &R::center, 3, "m", kPatch, "Center of the area"},
      Numbers{"force", &R::force, 3, "N", kPatch, "Force on the second body"},
      Numbers{"torque", &R::torque, 3, "N m", kPatch, "Torque on the second body about the center"},
      Flags{"is_deep", &R::is_deep, 1, "", kPatch,
            "True if the overlap is deeper than the fields cover: it passes a medial axis, or the "
            "force of the fields decreases with the depth"},
      Flags{"is_thin", &R::is_thin, 1, "", kPatch,
            "True if the bodies approach by more than half the thickness of one within the step"},
      Ids{"vertex_start", &R::vertex_start, 1, "", kFace,
          "The vertices of face f are [vertex_start[f], vertex_start[f + 1])"}
          .starting("vertices"),
      Numbers{"face_center", &R::face_center, 3, "m", kFace, "Center of each face"},
      Numbers{"face_normal", &R::face_normal, 3, "", kFace,
              "Unit normal of each face, from the first into the second body"},
      Numbers{"face_area", &R::face_area, 1, "m^2", kFace, "Area of each face"},
      Numbers{"pressure", &R::pressure, 1, "Pa", kFace,
              "Pressure of the fields at the center of each face at the start of the step"},
      Numbers{"normal_traction", &R::normal_traction, 1, "Pa", kFace,
              "Normal part of the traction: the pressure at the end of the step, with dissipation"},
      Numbers{"traction", &R::traction, 3, "Pa", kFace, "Traction on the second body"},
      Numbers{"slip_velocity", &R::slip_velocity, 3, "m/s", kFace,
              "Tangential velocity of the second body relative to the first after the step"},
      Flags{"slipping", &R::slipping, 1, "", kFace,
            "True if friction of a point of the face is at its bound"},
      Numbers{"vertices", &R::vertices, 3, "m", kVertex,
              "Vertices of one face after the other, counter-clockwise about the normal"},
      Numbers{"vertex_pressure", &R::vertex_pressure, 1, "Pa", kVertex,
              "Pressure of the fields at the vertices at the start of the step"}};
}

static_assert(sizeof(PatchReport) == count_arrays<PatchReport>() * sizeof(std::vector<int>),
              "each array has a row");

}  // namespace stiction::sim
