#include "stiction/plant/patches/patch_sum.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/plant/materials/materials.hpp"
#include "stiction/plant/mujoco/contact_marks.hpp"

namespace stiction::plant {

using contact::Contact;
using math::Vec3;

math::RigidTransform find_pose(const mjData* d, int geom) {
  const mjtNum* R = d->geom_xmat + 9 * geom;
  const mjtNum* p = d->geom_xpos + 3 * geom;
  return {{{{R[0], R[1], R[2]}, {R[3], R[4], R[5]}, {R[6], R[7], R[8]}}}, {p[0], p[1], p[2]}};
}

namespace {

/// Returns the velocity of a geom's moving surface relative to its body at the point x, world
/// frame [m/s].
Vec3 calc_surface_velocity(const mjModel* m, const mjData* d, int geom, const Vec3& x) {
  const mjtNum* v = m->geom_surfacevel + 6 * geom;
  const math::RigidTransform X_WG = find_pose(d, geom);
  const Vec3 linear{v[0], v[1], v[2]}, angular{v[3], v[4], v[5]};
  return X_WG.R * (linear + cross(angular, transpose_times(X_WG.R, x - X_WG.p)));
}

}  // namespace

void add_surface_velocity(const mjModel* m, const mjData* d, const PatchPair& pair, const Vec3& x,
                          Contact* c) {
  const Vec3 v =
      calc_surface_velocity(m, d, pair.geoms[1], x) - calc_surface_velocity(m, d, pair.geoms[0], x);
  const auto& R = c->R_WC;
  c->bias = {dot(v, Vec3{R[0], R[1], R[2]}), dot(v, Vec3{R[3], R[4], R[5]}), 0};
}

Contact make_properties(const mjModel* m, const MaterialTable& materials, const PatchPair& pair,
                        const GeomBody& A, const GeomBody& B) {
  const PairProperties properties =
      combine_materials(m, materials, pair.geoms[0], pair.geoms[1],
                        find_mujoco_friction(m, pair.geoms, pair.mujoco_pair).value);
  Contact c;
  c.law.dissipation = combine_by_modulus(A.modulus, materials.geoms[pair.geoms[0]].law.dissipation,
                                         B.modulus, materials.geoms[pair.geoms[1]].law.dissipation);
  c.law.relaxation_time = properties.law.relaxation_time;
  c.law.tangential_damping = properties.law.tangential_damping;
  // Several points of an area resist torsion and rolling without coefficients of their own.
  c.dim = std::min(pair.contact.dim, 3);
  if (c.dim > 1) c.friction = {properties.friction, properties.friction};
  return c;
}

PatchSum sum_faces(const geometry::ContactSurface& surface) {
  PatchSum sum;
  for (const geometry::SurfaceFace& face : surface.faces) {
    const double f = face.area * face.pressure;
    sum.force += f;
    sum.area += face.area;
    sum.stiffness += face.area * geometry::stiffness_per_area(face);
    sum.center += f * face.centroid;
    sum.normal += f * face.normal;
  }
  // The force of faces with almost no pressure may underflow to 0.
  sum.center = sum.force > 0 ? sum.center * (1 / sum.force) : surface.faces[0].centroid;
  // The normals of faces may cancel. Then use an arbitrary one.
  const double length = norm(sum.normal);
  sum.normal = length > 0 ? sum.normal * (1 / length) : Vec3{0, 0, 1};
  return sum;
}

mjContact make_mujoco_contact(const mjModel* m, const PatchPair& pair, const PatchSum& sum) {
  mjContact con = pair.contact;
  con.geom[0] = con.geom1 = pair.geoms[0];
  con.geom[1] = con.geom2 = pair.geoms[1];
  con.dist = sum.stiffness > 0 ? -sum.force / sum.stiffness : 0;
  con.includemargin = 0;
  const Vec3 t1 = math::make_tangent(sum.normal), t2 = cross(sum.normal, t1);
  for (int i = 0; i < 3; ++i) {
    con.pos[i] = sum.center[i];
    con.frame[i] = sum.normal[i];
    con.frame[3 + i] = t1[i];
    con.frame[6 + i] = t2[i];
  }
  con.dim = 6;
  // The last three coefficients are lengths: MuJoCo scales moments in a friction pyramid by them.
  const double mu = std::max(find_mujoco_friction(m, pair.geoms, pair.mujoco_pair).value, mjMINMU);
  std::fill_n(con.friction, 2, mu);
  std::fill_n(con.friction + 2, 3, mu * std::sqrt(sum.area));
  mark(kPatch, &con);
  con.efc_address = -1;
  return con;
}

}  // namespace stiction::plant
