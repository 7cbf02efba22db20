#include "stiction/sim/report/taxel_reader.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "stiction/base/assert.hpp"

namespace stiction::sim {
namespace {

// The cosine of 120 degrees. Faces at the rim of a patch may be perpendicular to the taxels or a
// little beyond, and belong to the load. The back of a pad is opposite to them.
constexpr double kFacesAway = -0.5;

// The side of the largest face that counts as a square, over the pitch of the grid.
constexpr double kSmallFace = 0.5;

using math::RigidTransform;
using math::Vec3;

Vec3 read_vector(const std::vector<double>& values, std::size_t row) {
  const double* x = values.data() + 3 * row;
  return {x[0], x[1], x[2]};
}

void write_vector(const Vec3& v, std::size_t row, std::vector<double>* values) {
  double* x = values->data() + 3 * row;
  x[0] = v.x, x[1] = v.y, x[2] = v.z;
}

RigidTransform find_pose(const mjData* d, int geom) {
  const mjtNum* R = d->geom_xmat + 9 * geom;
  const mjtNum* p = d->geom_xpos + 3 * geom;
  return {{{{R[0], R[1], R[2]}, {R[3], R[4], R[5]}, {R[6], R[7], R[8]}}}, {p[0], p[1], p[2]}};
}

/// Returns 1 if a force between two geoms acts on the sensor as on the second geom, -1 if as on the
/// first geom, and 0 if neither geom is one of the sensor.
double find_sign(const plant::TaxelSensor& sensor, const int* geoms) {
  const auto is_own = [&](int geom) {
    return std::binary_search(sensor.geoms.begin(), sensor.geoms.end(), geom);
  };
  return is_own(geoms[1]) ? 1 : is_own(geoms[0]) ? -1 : 0;
}

/// Returns the part of a patch's torque that the forces at the centers of its faces do not make,
/// per area of the faces that press [N m/m^2]. It is rounding unless faces have several quadrature
/// points.
Vec3 calc_couple(const PatchReport& patches, int patch) {
  const Vec3 center = read_vector(patches.center, patch);
  Vec3 couple = read_vector(patches.torque, patch);
  double pressed = 0;
  for (int f = patches.face_start[patch]; f < patches.face_start[patch + 1]; ++f) {
    const Vec3 traction = read_vector(patches.traction, f);
    if (traction == Vec3{}) continue;
    const double area = patches.face_area[f];
    couple -= cross(read_vector(patches.face_center, f) - center, area * traction);
    pressed += area;
  }
  return pressed > 0 ? couple * (1 / pressed) : Vec3{};
}

/// Returns a number that no other call returns.
std::uint64_t make_layout_id() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

/// Clears the readings of the taxels that had one.
void clear_pressed(TaxelReport* out) {
  for (const int taxel : out->pressed)
    for (auto* vectors : {&out->traction, &out->force, &out->torque})
      write_vector({}, taxel, vectors);
  out->pressed.clear();
}

}  // namespace

TaxelReader::TaxelReader(std::vector<plant::TaxelSensor> sensors)
    : sensors_(std::move(sensors)), layout_id_(sensors_.empty() ? 0 : make_layout_id()) {
  std::size_t largest = 0;
  for (const plant::TaxelSensor& sensor : sensors_)
    largest = std::max<std::size_t>(largest, sensor.size());
  loads_.resize(largest);
  is_pressed_.resize(largest, 0);
}

bool TaxelReader::has_tactile() const {
  return std::ranges::any_of(sensors_, [](const auto& sensor) { return sensor.sensor >= 0; });
}

void TaxelReader::start(const mjData* d, TaxelReport* out) const {
  if (out->layout_id != layout_id_) write_layout(out);
  clear_pressed(out);
  for (std::size_t i = 0; i < sensors_.size(); ++i)
    out->pose[i] = find_pose(d, sensors_[i].geom) * sensors_[i].X_GS;
}

void TaxelReader::read(const StepReport& report, TaxelReport* out) {
  // The patches of a divided step are those of its last part. Its contacts are those of all parts.
  const bool has_faces = report.statistics.num_parts == 1;
  for (std::size_t i = 0; i < sensors_.size(); ++i) {
    sensor_ = &sensors_[i];
    X_WS_ = out->pose[i];
    pressed_.clear();
    for (int p = 0; has_faces && p < report.patches.size(); ++p) read_patch(report.patches, p);
    for (int c = 0; c < report.contacts.size(); ++c)
      if (!has_faces || report.contacts.patch[c] < 0) read_point(report.contacts, c);
    write(out->start[i], out);
  }
}

/// Writes what does not change from step to step into a report that has another layout.
void TaxelReader::write_layout(TaxelReport* out) const {
  *out = {};
  out->layout_id = layout_id_;
  for (const plant::TaxelSensor& sensor : sensors_) {
    out->names.push_back(sensor.name);
    out->shape.insert(out->shape.end(), sensor.shape.begin(), sensor.shape.end());
    out->start.push_back(out->start.back() + sensor.size());
    out->area.insert(out->area.end(), sensor.areas.begin(), sensor.areas.end());
    out->local_position.insert(out->local_position.end(), sensor.positions.begin(),
                               sensor.positions.end());
  }
  out->pose.resize(sensors_.size());
  for (auto* vectors : {&out->traction, &out->force, &out->torque})
    vectors->resize(3 * out->area.size());
  out->pressed.reserve(out->area.size());
}

void TaxelReader::read_patch(const PatchReport& patches, int patch) {
  const double sign = find_sign(*sensor_, &patches.geoms[2 * patch]);
  if (sign == 0) return;
  const Vec3 couple = sign * calc_couple(patches, patch);
  for (int f = patches.face_start[patch]; f < patches.face_start[patch + 1]; ++f) {
    const Vec3 traction = read_vector(patches.traction, f);
    if (traction == Vec3{}) continue;
    const double area = patches.face_area[f];
    const Vec3 outward = transpose_times(X_WS_.R, -sign * read_vector(patches.face_normal, f));
    split_face(patches, f, area * std::abs(outward.z));
    const Load load =
        make_load(sign * area * traction, read_vector(patches.face_center, f), area * couple);
    for (const geometry::PolygonShare& share : shares_) add(load, outward, share);
  }
}

/// Finds the shares of a face. A face that is much smaller than a taxel of a grid counts as a
/// square, because its shape cannot be seen.
/// @param projected area of the face in the plane of the grid [m^2]
void TaxelReader::split_face(const PatchReport& patches, int face, double projected) {
  if (auto* grid = std::get_if<geometry::GridCells>(&sensor_->cells)) {
    const double side = std::sqrt(projected);
    if (0 < side && side < kSmallFace * grid->pitch())
      return grid->split_square(to_sensor(read_vector(patches.face_center, face)), side, &shares_);
  }
  polygon_.clear();
  for (int v = patches.vertex_start[face]; v < patches.vertex_start[face + 1]; ++v)
    polygon_.push_back(to_sensor(read_vector(patches.vertices, v)));
  std::visit([&](auto& cells) { cells.split(polygon_, &shares_); }, sensor_->cells);
}

void TaxelReader::read_point(const ContactReport& contacts, int contact) {
  const double sign = find_sign(*sensor_, &contacts.geoms[2 * contact]);
  const Vec3 impulse = read_vector(contacts.impulse, contact);
  if (sign == 0 || impulse == Vec3{}) return;
  const double per_time = sign / contacts.time_step;
  const Vec3 point = read_vector(contacts.point, contact);
  const int cell =
      std::visit([&](const auto& cells) { return cells.find(to_sensor(point)); }, sensor_->cells);
  add(make_load(per_time * impulse, point,
                per_time * read_vector(contacts.torque_impulse, contact)),
      transpose_times(X_WS_.R, -sign * read_vector(contacts.normal, contact)), {cell, 1});
}

Vec3 TaxelReader::to_sensor(const Vec3& x) const { return transpose_times(X_WS_.R, x - X_WS_.p); }

/// Returns a force at a point and a couple, all in the world, as a load.
TaxelReader::Load TaxelReader::make_load(const Vec3& force, const Vec3& point,
                                         const Vec3& couple) const {
  const Vec3 f = transpose_times(X_WS_.R, force);
  return {f, cross(to_sensor(point), f) + transpose_times(X_WS_.R, couple)};
}

/// Adds the share of a load to its taxel, unless the surface faces away from it.
void TaxelReader::add(const Load& load, const Vec3& outward, const geometry::PolygonShare& share) {
  if (dot(sensor_->frames[share.cell].normal, outward) < kFacesAway) return;
  if (!is_pressed_[share.cell]) pressed_.push_back(share.cell);
  is_pressed_[share.cell] = 1;
  loads_[share.cell].force += share.weight * load.force;
  loads_[share.cell].torque += share.weight * load.torque;
}

/// Writes the sums of a sensor whose first taxel is `first`, and clears them.
void TaxelReader::write(int first, TaxelReport* out) {
  for (const int cell : pressed_) {
    const std::size_t row = first + cell;
    const Load load = std::exchange(loads_[cell], {});
    is_pressed_[cell] = 0;
    const Vec3 torque = load.torque - cross(sensor_->positions[cell], load.force);
    write_vector(X_WS_.R * load.force, row, &out->force);
    write_vector(X_WS_.R * torque, row, &out->torque);
    out->pressed.push_back(static_cast<int>(row));
    const plant::TaxelFrame& frame = sensor_->frames[cell];
    const double area = sensor_->areas[cell];
    if (!(area > 0)) continue;  // a vertex without triangles
    const Vec3 stress = load.force * (1 / area);
    write_vector({-dot(frame.normal, stress), dot(frame.shear1, stress), dot(frame.shear2, stress)},
                 row, &out->traction);
  }
}

void TaxelReader::write_sensordata(const mjModel* m, const TaxelReport& report, mjData* d) const {
  if (m->opt.disableflags & mjDSBL_SENSOR) return;
  for (std::size_t i = 0; i < sensors_.size(); ++i) {
    const int sensor = sensors_[i].sensor, size = sensors_[i].size();
    if (sensor < 0) continue;
    STICTION_ASSERT(m->sensor_dim[sensor] == 3 * size);
    const double cutoff = m->sensor_cutoff[sensor] > 0 ? m->sensor_cutoff[sensor]
                                                       : std::numeric_limits<double>::infinity();
    const double* traction = report.traction.data() + 3 * report.start[i];
    mjtNum* out = d->sensordata + m->sensor_adr[sensor];
    for (int k = 0; k < 3; ++k)
      for (int j = 0; j < size; ++j)
        out[k * size + j] = std::clamp(traction[3 * j + k], -cutoff, cutoff);
  }
}

}  // namespace stiction::sim
