#pragma once

#include <cstdint>
#include <vector>

namespace stiction::sim {

/// The patches of pressure-field contact in a step: arrays with one entry (or row) per patch, face
/// or vertex. Forces act on the second body, B, and are averages over the step. Vectors are in the
/// world frame.
///
/// The faces of patch i are [face_start[i], face_start[i + 1]), the vertices of face f
/// [vertex_start[f], vertex_start[f + 1]), counter-clockwise about its normal.
struct PatchReport {
  std::vector<int> bodies;            // 2 per patch: MuJoCo body ids of A and B
  std::vector<int> geoms;             // 2 per patch
  std::vector<int> face_start{0};     // size() + 1
  std::vector<double> area;           // [m^2]
  std::vector<double> center;         // 3, of the area [m]
  std::vector<double> force;          // 3 [N]
  std::vector<double> torque;         // 3, about the center [N m]
  std::vector<std::uint8_t> is_deep;  // 1: deeper than the fields cover, see PatchPair
  std::vector<std::uint8_t> is_thin;  // 1: moves by more than half a body's thickness in the step

  std::vector<int> vertex_start{0};     // num_faces() + 1
  std::vector<double> face_center;      // 3 [m]
  std::vector<double> face_normal;      // 3, unit, from A into B
  std::vector<double> face_area;        // [m^2]
  std::vector<double> pressure;         // at the face's center, at the start of the step [Pa]
  std::vector<double> normal_traction;  // pressure at the end, dissipation included [Pa]
  std::vector<double> traction;         // 3 [Pa]
  std::vector<double> slip_velocity;    // 3, of B relative to A, tangential, after the step [m/s]
  std::vector<std::uint8_t> slipping;   // 1: friction is at its bound at any point of the face

  std::vector<double> vertices;         // 3 [m]
  std::vector<double> vertex_pressure;  // at the start of the step [Pa]

  int size() const { return static_cast<int>(area.size()); }
  int num_faces() const { return static_cast<int>(face_area.size()); }
  int num_vertices() const { return static_cast<int>(vertex_pressure.size()); }
};

}  // namespace stiction::sim
