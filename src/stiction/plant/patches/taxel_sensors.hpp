#pragma once

#include <array>
#include <string>
#include <variant>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/geometry/sensor_cells.hpp"

namespace stiction::plant {

/// A rectangular grid of taxels that a user declares on a geom.
struct TaxelGrid {
  std::string name;
  int geom = -1;
  math::Vec3 pos = {};                // center of the grid in the geom's frame [m]
  math::Vec3 normal = {0, 0, 1};      // outward, in the geom's frame; of any length above 0
  math::Vec3 first_axis = {1, 0, 0};  // direction of the first axis; not parallel to the normal
  std::array<double, 2> size{};       // extents along both axes, > 0 [m]
  std::array<int, 2> shape{};         // number of taxels along both axes, > 0
};

/// The axes of a taxel: the directions of its two shears, and the outward normal.
struct TaxelFrame {
  math::Vec3 shear1, shear2, normal;
};

/// The taxels of a sensor. Each place of the surface belongs to the nearest taxel.
struct TaxelSensor {
  std::string name;  // unique among the sensors of a model
  int geom = -1;
  int sensor = -1;             // id of MuJoCo's sensor; -1: declared in contact properties
  std::vector<int> geoms;      // the geoms whose contacts it reads, ascending
  std::array<int, 2> shape{};  // of the grid; the number of taxels and 1 for a mesh
  math::RigidTransform X_GS;   // pose of the sensor in the frame of its geom
  // The members below are in the sensor's frame.
  std::variant<geometry::GridCells, geometry::NearestCells> cells;
  std::vector<math::Vec3> positions;  // [m]
  std::vector<TaxelFrame> frames;
  std::vector<double> areas;  // [m^2]

  int size() const { return static_cast<int>(areas.size()); }
};

/// Makes the sensor of a declared grid. It reads the contacts of its geom.
TaxelSensor make_taxel_sensor(const TaxelGrid& grid);

/// Returns the name of a tactile sensor of MJCF: its own, or # and its id if it has none, as in
/// '#3'. It has more # if another sensor has this name.
std::string name_tactile_sensor(const mjModel* model, int sensor);

/// Returns the sensors of MJCF's <tactile> elements. The vertices of the mesh are the taxels, where
/// MuJoCo puts them: in the frame of the geom, without the pose of the mesh. The area of a taxel is
/// a third of that of the triangles at its vertex, and its normal is their mean. Meshes that MuJoCo
/// builds for sensors have shear directions; other meshes get some. As in MuJoCo, a sensor reads
/// the contacts of all geoms that are fixed to its geom.
std::vector<TaxelSensor> read_tactile_sensors(const mjModel* model);

}  // namespace stiction::plant
