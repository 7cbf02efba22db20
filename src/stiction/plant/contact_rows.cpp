#include "stiction/plant/contact_rows.hpp"

#include <algorithm>

#include "stiction/math/spatial.hpp"

namespace stiction::plant {
namespace {

using contact::Contact;
using contact::ContactProblem;
using contact::Segment;

/// Column of a body point's spatial velocity for one dof: MuJoCo's cdof, moved to the point.
void calc_column(const mjModel* m, const mjData* d, int body, int dof, const double* point,
                 double sign, double* column) {
  const mjtNum* cdof = d->cdof + 6 * dof;
  const mjtNum* com = d->subtree_com + 3 * m->body_rootid[body];
  const double r[3] = {point[0] - com[0], point[1] - com[1], point[2] - com[2]};
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    column[i] += sign * cdof[i];
    column[3 + i] += sign * (cdof[3 + i] + cdof[j] * r[k] - cdof[k] * r[j]);
  }
}

/// Adds the segment of one body, or of both if they are in one tree (`other` >= 0).
void add_segment(const mjModel* m, const mjData* d, const Model& plant, const double* origin,
                 int body, double sign, int other, ContactProblem* problem) {
  Segment segment;
  segment.tree = plant.tree_of_body(body);
  const Model::Tree& tree = plant.trees()[segment.tree];
  if (tree.is_free_body) {
    segment.is_rigid_body = true;
    segment.sign = sign;
    const mjtNum* P = d->xpos + 3 * tree.body;
    for (int i = 0; i < 3; ++i) segment.offset[i] = origin[i] - P[i];
    problem->segments.push_back(segment);
    return;
  }
  segment.first_column = static_cast<int>(problem->column_dof.size());
  const auto dofs = plant.dofs_of_body(body);
  const auto other_dofs = other >= 0 ? plant.dofs_of_body(other) : std::span<const int>();
  // Both lists are ascending: merge them. Dofs above both bodies move them alike and cancel.
  for (std::size_t i = 0, j = 0; i < dofs.size() || j < other_dofs.size();) {
    const int a = i < dofs.size() ? dofs[i] : m->nv;
    const int b = j < other_dofs.size() ? other_dofs[j] : m->nv;
    const int dof = std::min(a, b);
    i += a == dof;
    j += b == dof;
    if (a == b) continue;
    problem->column_dof.push_back(dof - tree.dof_start);
    problem->columns.resize(problem->columns.size() + 6, 0.0);
    double* column = problem->columns.data() + problem->columns.size() - 6;
    calc_column(m, d, a == dof ? body : other, dof, origin, a == dof ? sign : -sign, column);
  }
  segment.num_columns = static_cast<int>(problem->column_dof.size()) - segment.first_column;
  problem->segments.push_back(segment);
}

/// Starts a pair of bodies A and B. @return false if no dof moves them relatively.
bool add_pair(const mjModel* m, const mjData* d, const Model& plant, int body_A, int body_B,
              const double* point, ContactProblem* problem) {
  const int tree_A = plant.tree_of_body(body_A), tree_B = plant.tree_of_body(body_B);
  if (tree_A < 0 && tree_B < 0) return false;
  // A free body's own reference point as the origin spares shifting its part of the Hessian.
  const auto is_free = [&](int tree) { return tree >= 0 && plant.trees()[tree].is_free_body; };
  const double* origin = is_free(tree_B)   ? d->xpos + 3 * plant.trees()[tree_B].body
                         : is_free(tree_A) ? d->xpos + 3 * plant.trees()[tree_A].body
                                           : point;
  contact::BodyPair pair;
  std::copy_n(origin, 3, pair.origin.begin());
  pair.first_segment = static_cast<int>(problem->segments.size());
  pair.first_contact = problem->num_contacts();
  if (tree_A == tree_B) {
    if (plant.trees()[tree_A].is_free_body) return false;  // one body with itself
    add_segment(m, d, plant, origin, body_B, 1, body_A, problem);
    if (problem->segments.back().num_columns == 0) {
      problem->segments.pop_back();
      return false;
    }
  } else {
    if (tree_A >= 0) add_segment(m, d, plant, origin, body_A, -1, -1, problem);
    if (tree_B >= 0) add_segment(m, d, plant, origin, body_B, 1, -1, problem);
  }
  pair.num_segments = static_cast<int>(problem->segments.size()) - pair.first_segment;
  problem->pairs.push_back(pair);
  return true;
}

Contact make_contact(const mjModel* m, const mjContact& con, const PairProperties& properties,
                     const std::array<double, 3>& origin) {
  Contact c;
  // MuJoCo's frame has rows n, t1, t2; ours columns t1, t2, n.
  std::copy_n(con.frame + 3, 3, c.R_WC.data());
  std::copy_n(con.frame + 6, 3, c.R_WC.data() + 3);
  std::copy_n(con.frame, 3, c.R_WC.data() + 6);
  c.phi0 = con.dist - con.includemargin;
  c.stiffness = properties.stiffness;
  c.fn0 = -c.stiffness * c.phi0;
  c.dissipation = properties.dissipation;
  c.relaxation_time = properties.relaxation_time;
  // con.pos is halfway between the surfaces; the point is where the two springs meet.
  const double shift = -0.5 * c.phi0 * (1 - 2 * properties.share_of_first);
  for (int i = 0; i < 3; ++i) c.offset[i] = con.pos[i] + shift * con.frame[i] - origin[i];

  c.dim = con.dim;
  if (con.dim > 1) {
    std::copy_n(con.friction, 5, c.friction.data());
    if (properties.friction_is_ours) c.friction[0] = c.friction[1] = properties.friction;
    // Directions beyond dim have no friction.
    std::fill(c.friction.begin() + con.dim - 1, c.friction.end(), 0.0);
  }
  if (m->flg_surfacevel) {
    c.bias = {con.surfacevel[0], con.surfacevel[1], 0};
    c.spin_bias = con.surfacevel[2];
  }
  return c;
}

}  // namespace

void add_contacts(const mjModel* m, const mjData* d, const Model& plant,
                  const MaterialTable& materials, ContactProblem* problem) {
  int pair_A = -1, pair_B = -1;  // bodies of the open pair
  bool pair_moves = false;
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& con = d->contact[i];
    if (con.exclude != 0 || con.geom[0] < 0 || con.geom[1] < 0) continue;
    const int body_A = m->geom_bodyid[con.geom[0]], body_B = m->geom_bodyid[con.geom[1]];
    if (body_A != pair_A || body_B != pair_B) {
      pair_A = body_A;
      pair_B = body_B;
      pair_moves = add_pair(m, d, plant, body_A, body_B, con.pos, problem);
    }
    if (!pair_moves) continue;
    contact::BodyPair& pair = problem->pairs.back();
    const PairProperties properties =
        combine_materials(m, materials, con.geom[0], con.geom[1], con.friction[0]);
    Contact c = make_contact(m, con, properties, pair.origin);
    c.source = i;
    problem->contacts.push_back(c);
    ++pair.num_contacts;
  }
}

}  // namespace stiction::plant
