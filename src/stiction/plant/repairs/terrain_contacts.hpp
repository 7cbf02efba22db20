#pragma once

#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/math/vec3.hpp"
#include "stiction/plant/repairs/convex_pair.hpp"

namespace stiction::plant {

class Grid;

/// A triangle of a height field, world frame.
struct Facet {
  math::Vec3 corners[3];  // counter-clockwise from above
  math::Vec3 normal;      // upwards

  /// True if a point is above or below the triangle, along its normal.
  bool contains(const math::Vec3& point, double tolerance) const;
  bool rises_above(const Facet& plane, double tolerance) const;
};

/// True if a convex geom is on a height field that is one plane within its reach. MuJoCo's list of
/// their contacts may then be incomplete: TerrainContacts has all of them.
/// @param pair the field is the first geom
bool is_on_flat_terrain(const mjModel* model, const mjData* data, const PairContacts& pair);

/// Gives a convex geom on a height field the contacts that it would have on the planes of the
/// field's triangles.
///
/// MuJoCo collides a geom with each of the field's prisms and takes one point of each. Where a face
/// lies on a triangle this point may be anywhere, and it changes from step to step. A box on a flat
/// field then rocks. MuJoCo also stops at mjMAXCONPAIR prisms, so that a foot on many small cells
/// is held at one end alone. Here each triangle is a plane. Of the contacts of this plane and the
/// geom, those whose foot is in the triangle stay:
///
/// - a point of the geom has one contact where triangles are in one plane or form a ridge, and one
///   with each triangle that rises above the others' planes, as in a valley or at a step;
/// - a face that goes on beyond the field has contacts on its border;
/// - MuJoCo's contacts stay on ridges and peaks. They go where the field is flat, where they are
///   in the convex hull of these points, have the same normal and are no deeper, and where the
///   field does not have their normal, because it goes on beyond the prism.
class TerrainContacts {
 public:
  /// Corrects the contacts of a height field and a convex geom. Call it inside a MuJoCoGuard.
  /// @param pair the field is the first geom
  /// @return true if there were any to correct
  bool correct(const mjModel* model, mjData* data, const PairContacts& pair);

 private:
  /// A contact whose foot is in a facet.
  struct Point {
    mjContact contact;
    Facet facet;
    math::Vec3 position;  // on the geom, world frame
  };
  void find_planes(const mjModel* m, const mjData* d, const PairContacts& pair, const Grid& grid);
  bool is_in(const Facet& facet, const Facet& plane) const;
  void find_points(const mjModel* m, mjData* d, const PairContacts& pair, const Grid& grid);
  void add_points(const mjModel* m, mjData* d, const PairContacts& pair, const Grid& grid,
                  const Facet& plane);
  void add_point(const mjContact& con, const Grid& grid, const Facet& plane);
  void keep_one_of_each(double tolerance);
  void sort(const mjData* d, int geom, double radius);
  bool covers(const mjContact& con, double slack, bool is_flat) const;

  double size_ = 0;            // of the geom or a cell, the smaller one [m]
  std::vector<Facet> planes_;  // one facet of each
  std::vector<Point> points_;
  std::vector<mjContact> kept_;
};

}  // namespace stiction::plant
