#pragma once

#include <mujoco/mujoco.h>

#include "stiction/contact/momentum_factor.hpp"
#include "stiction/plant/shapes/local_shape.hpp"

/// The curvature of two geoms where they touch, for Hertz's law; see [theory:hertz-ellipse].
namespace stiction::plant {

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
