#pragma once

#include <mujoco/mujoco.h>

#include "stiction/contact/momentum_factor.hpp"

/// The curvature of two geoms where they touch, for Hertz's law; see [theory:hertz-ellipse].
namespace stiction::plant {

/// The shape of a geom's surface near a contact, in the contact's tangent plane. Along flat
/// directions the normal does not change as the contact moves. In the other directions the contact
/// moves by R times the change of the normal. R holds the radii of curvature. It is the Hessian of
/// the support function and 0 at corners.
struct LocalShape {
  int num_flat = 0;        // number of flat directions: 0, 1 or 2
  double flat[2][3] = {};  // unit vectors in the tangent plane; two need not be orthogonal
  double R[9] = {};        // [m], symmetric, row-major, world frame; 0 along n and along `flat`
};

/// Finds the shape of a geom near a point with a given normal. For an edge or a face of a mesh it
/// searches all vertices of the mesh. A height field is treated as flat.
/// @param data   after mj_kinematics
/// @param point  on the geom's surface, world [m]
/// @param normal unit, out of the geom, world
/// @param tolerance a normal within this angle of the normals of a face or an edge belongs to it
/// [rad]
LocalShape find_local_shape(const mjModel* model, const mjData* data, int geom,
                            const double point[3], const double normal[3], double tolerance = 1e-5);

/// The principal relative curvatures of two surfaces at a contact, least <= most, > 0 [1/m].
///
/// Hertz's law needs two smooth surfaces that touch in a point. Elsewhere these conventions give
/// finite curvatures:
///
/// - Sharp edges and corners count as rounded with the smallest half size of their geom.
/// - Flat faces and straight sides count as crowned: the relative curvature is at least that of an
///   arc which falls by kCrown over half their length. A line or a face then has about the
///   stiffness of its full length or area at a depth of kCrown, and a smaller one before.
struct HertzCurvature {
  double least = 0, most = 0;
  bool is_rounded = false, is_crowned = false;  // true if a convention changed the curvature
};

inline constexpr double kCrown = contact::kNearRigidDepth;  // 0.1 mm

/// Computes the relative curvature of two geoms at a contact. Normals within 0.01 rad of those of a
/// face or a straight side belong to it.
/// @param data after mj_kinematics
/// @param con  geom, pos and frame are read
HertzCurvature calc_hertz_curvature(const mjModel* model, const mjData* data, const mjContact& con);

/// Returns the relative curvature of two geoms at a typical place, for explanations: capsules and
/// cylinders touch with their sides, with crossed axes, boxes and meshes with a face, and
/// ellipsoids with the ends of their shortest axes.
HertzCurvature find_typical_hertz_curvature(const mjModel* model, int geom1, int geom2);

/// True if the geom has the same curvature wherever it touches, as spheres and planes have.
bool has_constant_curvature(const mjModel* model, int geom);

/// Returns the radius with which the sharp edges and corners of a geom count as rounded [m]; 0 if
/// it has none.
double find_edge_radius(const mjModel* model, int geom);

/// Returns the factor G of f = E* G x^(3/2) [m^(1/2)], see contact::HertzEllipse.
double calc_hertz_factor(const HertzCurvature& curvature);

}  // namespace stiction::plant
