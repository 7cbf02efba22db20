#pragma once

#include <cstdint>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/patches/taxel_sensors.hpp"
#include "stiction/sim/report/step_report.hpp"

namespace stiction::sim {

/// Distributes the contact forces of a step to taxels. The traction of a face is uniform, so each
/// taxel gets the share of the face's area that is nearest to it. The force of a contact point
/// belongs to the nearest taxel. A taxel does not read a surface whose outward normal is more than
/// 120 degrees from its own. Forces and torques are conserved: apart from such surfaces, the
/// taxels' wrenches add up to those of the patches and points.
class TaxelReader {
 public:
  TaxelReader() = default;
  explicit TaxelReader(std::vector<plant::TaxelSensor> sensors);

  bool empty() const { return sensors_.empty(); }
  /// True if MuJoCo's data has readings, which cannot wait until somebody asks for them.
  bool has_tactile() const;

  /// Writes the layout and the poses of the sensors, without readings.
  /// @param data with the poses of the step's start
  void start(const mjData* data, TaxelReport* out) const;
  /// Adds the readings to a report that has been started.
  void read(const StepReport& report, TaxelReport* out);

  /// Writes the readings of MuJoCo's tactile sensors into data->sensordata, up to their cutoff: the
  /// pressures of all taxels, then their first shears, then their second ones [Pa].
  void write_sensordata(const mjModel* model, const TaxelReport& report, mjData* data) const;

 private:
  /// A force on the sensor, and its torque about the origin of the sensor's frame, in this frame.
  struct Load {
    math::Vec3 force, torque;  // [N], [N m]
  };
  void write_layout(TaxelReport* out) const;
  void read_patch(const PatchReport& patches, int patch);
  void split_face(const PatchReport& patches, int face, double projected);
  void read_point(const ContactReport& contacts, int contact);
  math::Vec3 to_sensor(const math::Vec3& x) const;
  Load make_load(const math::Vec3& force, const math::Vec3& point, const math::Vec3& couple) const;
  void add(const Load& load, const math::Vec3& outward, const geometry::PolygonShare& share);
  void write(int first, TaxelReport* out);

  std::vector<plant::TaxelSensor> sensors_;
  std::uint64_t layout_id_ = 0;
  // The sensor that is read, its pose, and the sums over its taxels. Most taxels have none, so the
  // time of a step does not depend on their number.
  plant::TaxelSensor* sensor_ = nullptr;
  math::RigidTransform X_WS_;
  std::vector<Load> loads_;
  std::vector<std::uint8_t> is_pressed_;
  std::vector<int> pressed_;
  // Scratch.
  std::vector<math::Vec3> polygon_;
  std::vector<geometry::PolygonShare> shares_;
};

}  // namespace stiction::sim
