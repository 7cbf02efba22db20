#include "stiction/plant/rows/contact_rows.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "stiction/plant/model/model.hpp"
#include "stiction/plant/mujoco/contact_marks.hpp"
#include "stiction/plant/mujoco/data_arrays.hpp"
#include "stiction/plant/shapes/local_shape.hpp"

namespace stiction::plant {
namespace {

using contact::Contact;
using contact::ContactProblem;
using contact::Segment;

/// Computes the Jacobian column of one dof for the spatial velocity of a body at a point: MuJoCo's
/// cdof, shifted to the point.
std::array<double, 6> calc_column(const mjModel* m, const mjData* d, int body, int dof,
                                  const double* point, double sign) {
  const mjtNum* cdof = d->cdof + 6 * dof;
  const mjtNum* com = d->subtree_com + 3 * m->body_rootid[body];
  const double r[3] = {point[0] - com[0], point[1] - com[1], point[2] - com[2]};
  std::array<double, 6> column{};
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    column[i] = sign * cdof[i];
    column[3 + i] = sign * (cdof[3 + i] + cdof[j] * r[k] - cdof[k] * r[j]);
  }
  return column;
}

/// The dofs that move each of two bodies.
using DofsOfTwo = std::array<std::span<const int>, 2>;

/// Returns the free body to which all dofs of a body belong, or null.
const Model::Block* find_free_body(const Model& plant, std::span<const int> dofs) {
  if (dofs.empty()) return nullptr;
  const Model::Block& block = plant.block(plant.block_of_dof(dofs[0]));
  return block.is_free_body ? &block : nullptr;
}

/// The origin of a pair on each of its bodies.
using Origins = std::array<std::array<double, 3>, 2>;

/// Adds the segment of a free body.
void add_free_segment(const mjData* d, const Model& plant, const double* origin,
                      const Model::Block& block, double sign, ContactProblem* problem) {
  Segment segment;
  segment.block = plant.block_of_dof(block.dof_start);
  segment.is_rigid_body = true;
  segment.sign = sign;
  const mjtNum* P = d->xpos + 3 * block.body;
  for (int i = 0; i < 3; ++i) segment.offset[i] = origin[i] - P[i];
  problem->segments.push_back(segment);
}

/// Adds the segments of the joints that move B relative to A. Joints that move both bodies cancel
/// and are skipped.
/// @param dofs of the joints that move each body
void add_joint_segments(const mjModel* m, const mjData* d, const Model& plant,
                        const Origins& origins, const std::array<int, 2>& bodies,
                        const DofsOfTwo& dofs, ContactProblem* problem) {
  const auto [body_A, body_B] = bodies;
  const auto [dofs_A, dofs_B] = dofs;
  int open_block = -1;
  for (std::size_t a = 0, b = 0; a < dofs_A.size() || b < dofs_B.size();) {
    // Both lists are ascending: merge them.
    const int dof_A = a < dofs_A.size() ? dofs_A[a] : static_cast<int>(m->nv);
    const int dof_B = b < dofs_B.size() ? dofs_B[b] : static_cast<int>(m->nv);
    const int dof = std::min(dof_A, dof_B);
    a += dof_A == dof;
    b += dof_B == dof;
    if (dof_A == dof_B) continue;
    const int block = plant.block_of_dof(dof);
    if (block != open_block) {
      open_block = block;
      Segment segment;
      segment.block = block;
      segment.first_column = static_cast<int>(problem->column_dof.size());
      problem->segments.push_back(segment);
    }
    ++problem->segments.back().num_columns;
    problem->column_dof.push_back(dof - plant.block(block).dof_start);
    const bool is_B = dof == dof_B;
    const auto column =
        calc_column(m, d, is_B ? body_B : body_A, dof, origins[is_B].data(), is_B ? 1 : -1);
    problem->columns.insert(problem->columns.end(), column.begin(), column.end());
  }
}

/// Returns the masses that contacts between two bodies feel at most [kg].
std::array<double, 2> calc_masses(const mjModel* m, const mjData* d, const DofsOfTwo& dofs) {
  const auto [dofs_A, dofs_B] = dofs;
  // The dofs that move both bodies are the first ones of both lists.
  const auto own = std::mismatch(dofs_A.begin(), dofs_A.end(), dofs_B.begin(), dofs_B.end()).first;
  const std::ptrdiff_t num_shared = own - dofs_A.begin();
  return {calc_moved_mass(m, d, dofs_A.subspan(num_shared)),
          calc_moved_mass(m, d, dofs_B.subspan(num_shared))};
}

/// True if contact i takes part.
bool selects(const ContactSelection& selection, const mjContact& con, int i) {
  return selection.acts.empty() ? is_listed(con) : selection.acts[i] != 0;
}

/// Data that all contact points of two geoms share.
struct PairPoints {
  std::array<int, 2> geoms = {-1, -1};
  int num_points = 0;
  Contact contact{};          // has the properties, not the point
  double share_of_first = 0;  // part of the penetration that the first geom takes [-]
};

/// Returns an id in (0, 2^63) for the n-th contact point of two geoms. It is the same in every
/// step.
std::uint64_t make_id(const std::array<int, 2>& geoms, int point) {
  const auto bits = [](int number, int count) {
    return static_cast<std::uint64_t>(number) & ((std::uint64_t{1} << count) - 1);
  };
  return (bits(geoms[0], 24) << 39 | bits(geoms[1], 24) << 15 | bits(point, 15)) + 1;
}

/// Returns half the vector from A's surface point to B's, for the contacts [begin, ...) of two
/// geoms [m]. It is that of the nearest contact that takes part, and 0 if this one touches.
std::array<double, 3> find_half_gap(const mjData* d, const ContactSelection& selection, int begin) {
  const mjContact* nearest = &d->contact[begin];
  for (int i = begin + 1, end = find_end_of_pair(d, begin); i < end; ++i) {
    const mjContact& con = d->contact[i];
    if (selects(selection, con, i) && con.dist < nearest->dist) nearest = &con;
  }
  std::array<double, 3> half{};
  if (is_carried(*nearest))
    std::copy_n(get_carried(*nearest), 3, half.begin());
  else if (calc_gap(*nearest) > 0)
    for (int i = 0; i < 3; ++i) half[i] = 0.5 * calc_gap(*nearest) * nearest->frame[i];
  return half;
}

/// Appends the contact of one point, with its position relative to the pair's origin.
Contact& add_contact(const mjModel* m, const mjContact& con, const PairPoints& geom_pair,
                     const std::array<double, 3>& origin, ContactProblem* problem) {
  Contact& c = problem->contacts.emplace_back(geom_pair.contact);
  // MuJoCo's frame has the rows n, t1, t2. Ours has the columns t1, t2, n.
  for (int i = 0; i < 9; ++i) c.R_WC[i] = con.frame[(i + 3) % 9];
  c.phi0 = calc_gap(con);
  c.fn0 = -c.law.stiffness * c.phi0;
  // A point that overlaps is where the two springs meet.
  const double shift = c.phi0 > 0 ? 0 : -0.5 * c.phi0 * (1 - 2 * geom_pair.share_of_first);
  for (int i = 0; i < 3; ++i) c.offset[i] = con.pos[i] + shift * con.frame[i] - origin[i];

  if (m->flg_surfacevel) {
    c.bias = {con.surfacevel[0], con.surfacevel[1], 0};
    c.spin_bias = con.surfacevel[2];
  }
  return c;
}

}  // namespace

bool add_body_pair(const mjModel* m, const mjData* d, const Model& plant,
                   const std::array<int, 2>& bodies, const double* point,
                   const std::array<double, 3>& half_gap, ContactProblem* problem) {
  DofsOfTwo dofs = {plant.dofs_of_body(bodies[0]), plant.dofs_of_body(bodies[1])};
  const Model::Block* free_A = find_free_body(plant, dofs[0]);
  const Model::Block* free_B = find_free_body(plant, dofs[1]);
  if (free_A && free_A == free_B) return false;  // both move with the same free body
  // With the reference point of a free body as the origin, its part of the Hessian needs no shift.
  const double* origin = free_B   ? d->xpos + 3 * free_B->body
                         : free_A ? d->xpos + 3 * free_A->body
                                  : point;
  contact::BodyPair pair;
  std::copy_n(origin, 3, pair.origin.begin());
  pair.half_gap = half_gap;
  Origins origins;
  for (int i = 0; i < 3; ++i) {
    origins[0][i] = origin[i] - half_gap[i];
    origins[1][i] = origin[i] + half_gap[i];
  }
  pair.first_segment = static_cast<int>(problem->segments.size());
  pair.first_contact = problem->num_contacts();
  pair.masses = calc_masses(m, d, dofs);
  if (free_A) {
    add_free_segment(d, plant, origins[0].data(), *free_A, -1, problem);
    dofs[0] = {};
  }
  if (free_B) {
    add_free_segment(d, plant, origins[1].data(), *free_B, 1, problem);
    dofs[1] = {};
  }
  add_joint_segments(m, d, plant, origins, bodies, dofs, problem);
  pair.num_segments = static_cast<int>(problem->segments.size()) - pair.first_segment;
  if (pair.num_segments == 0) return false;
  problem->pairs.push_back(pair);
  return true;
}

PairProperties set_properties(const mjModel* m, const MaterialTable& materials,
                              const mjContact& con, Contact* c, contact::NormalLawKind law,
                              double hertz_factor) {
  const PairProperties properties =
      combine_materials(m, materials, con.geom[0], con.geom[1], con.friction[0], law, hertz_factor);
  c->law = properties.law;
  c->dim = con.dim;
  if (con.dim > 3) c->rim_radius = find_smaller_radius(m, con);
  if (con.dim <= 1) c->law.viscous_friction = 0;
  for (int i = 0; i < 5; ++i) {
    const bool is_ours = properties.friction_is_ours && i < 2;
    const double friction = is_ours ? properties.friction : con.friction[i];
    c->friction[i] = i < con.dim - 1 ? friction : 0;
  }
  return properties;
}

void add_contacts(const mjModel* m, const mjData* d, const Model& plant,
                  const MaterialTable& materials, const ContactSelection& selection,
                  ContactProblem* problem) {
  int pair_A = -1, pair_B = -1;  // bodies of the current pair
  bool pair_moves = false;
  PairPoints geom_pair;
  std::array<double, 3> half_gap{};  // of the current pair
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& con = d->contact[i];
    if (con.geom[0] < 0 || con.geom[1] < 0) continue;
    if (!selects(selection, con, i)) continue;
    const int body_A = m->geom_bodyid[con.geom[0]], body_B = m->geom_bodyid[con.geom[1]];
    const std::array<int, 2> geoms = {con.geom[0], con.geom[1]};
    const bool is_new = geoms != geom_pair.geoms;
    const std::array<double, 3> half = is_new ? find_half_gap(d, selection, i) : half_gap;
    // A body pair holds consecutive contacts of the same two bodies with the same gap.
    if (body_A != pair_A || body_B != pair_B || half != half_gap) {
      pair_A = body_A;
      pair_B = body_B;
      half_gap = half;
      pair_moves = add_body_pair(m, d, plant, {body_A, body_B}, con.pos, half_gap, problem);
    }
    if (!pair_moves) continue;
    if (is_new) {
      geom_pair.geoms = geoms;
      geom_pair.num_points = 0;
    }
    // The stiffness of elastic surfaces depends on the place of each point.
    const bool is_elastic =
        has_elastic_stiffness(materials.geoms[geoms[0]], materials.geoms[geoms[1]], selection.law);
    if (is_new || is_elastic) {
      const double factor = is_elastic ? calc_hertz_factor(calc_hertz_curvature(m, d, con)) : kNaN;
      geom_pair.share_of_first =
          set_properties(m, materials, con, &geom_pair.contact, selection.law, factor)
              .share_of_first;
    }
    contact::BodyPair& pair = problem->pairs.back();
    Contact& c = add_contact(m, con, geom_pair, pair.origin, problem);
    if (selection.mocap && selection.mocap->is_any()) {
      const double point[3] = {pair.origin[0] + c.offset[0], pair.origin[1] + c.offset[1],
                               pair.origin[2] + c.offset[2]};
      selection.mocap->add_to_bias(m, d, {body_A, body_B}, point, pair.half_gap, &c);
    }
    c.source = i;
    c.id = make_id(geom_pair.geoms, geom_pair.num_points++);
    ++pair.num_contacts;
  }
}

}  // namespace stiction::plant
