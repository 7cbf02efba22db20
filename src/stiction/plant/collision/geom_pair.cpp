#include "stiction/plant/collision/geom_pair.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "stiction/base/error.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/plant/mujoco/mujoco_guard.hpp"
#include "stiction/plant/mujoco/shadow_model.hpp"

namespace stiction::plant {
namespace {

/// True if an <exclude> element names the two bodies.
bool is_excluded(const mjModel* m, int body1, int body2) {
  for (int i = 0; i < m->nexclude; ++i) {
    const int first = m->exclude_signature[i] >> 16, second = m->exclude_signature[i] & 0xffff;
    if (std::minmax(first, second) == std::minmax(body1, body2)) return true;
  }
  return false;
}

/// True if MuJoCo has a collision function for the types of the two geoms.
bool has_function(const mjModel* m, int geom1, int geom2) {
  const auto [low, high] = std::minmax(m->geom_type[geom1], m->geom_type[geom2]);
  return mjCOLLISIONFUNC[low][high] != nullptr;
}

/// True if one body is the parent of the other, and both can move.
bool is_parent_and_child(const mjModel* m, int body1, int body2) {
  const int weld1 = m->body_weldid[body1], weld2 = m->body_weldid[body2];
  if (weld1 == 0 || weld2 == 0) return false;  // MuJoCo does not filter bodies fixed to the world
  return m->body_weldid[m->body_parentid[weld1]] == weld2 ||
         m->body_weldid[m->body_parentid[weld2]] == weld1;
}

/// Explains why two geoms do not collide.
std::string find_reason(const mjModel* m, int geom1, int geom2, bool has_pair) {
  const int body1 = m->geom_bodyid[geom1], body2 = m->geom_bodyid[geom2];
  if (geom1 == geom2) return "it is the same geom";
  if (m->opt.disableflags & (mjDSBL_CONTACT | mjDSBL_CONSTRAINT))
    return "contacts are disabled by <option><flag>";
  if (!has_function(m, geom1, geom2)) return "MuJoCo has no collision function for these two types";
  if (body1 == body2) return "they belong to the same " + describe(m, mjOBJ_BODY, body1);
  if (m->body_weldid[body1] == m->body_weldid[body2])
    return m->body_weldid[body1] == 0 ? "both are fixed to the world"
                                      : "their bodies are fixed to each other";
  if (!has_pair) {
    if (is_excluded(m, body1, body2)) return "an <exclude> element names their bodies";
    if (!(m->geom_contype[geom1] & m->geom_conaffinity[geom2]) &&
        !(m->geom_contype[geom2] & m->geom_conaffinity[geom1]))
      return "contype and conaffinity do not match";
    if (!(m->opt.disableflags & mjDSBL_FILTERPARENT) && is_parent_and_child(m, body1, body2))
      return "their bodies are parent and child, which collide only by a <pair>";
  }
  return "MuJoCo's collision skips them";
}

/// The contacts of two geoms fit in this memory, also where a scene needs gigabytes [B].
constexpr mjtSize kArena = mjtSize{16} << 20;

/// Makes all geoms unit spheres that do not collide.
void isolate_geoms(ShadowModel* shadow) {
  mjModel* const m = shadow->edit();
  const mjtSize n = m->ngeom;
  const auto fill = [&](auto mjModel::*array, mjtSize size, auto value) {
    std::fill_n(shadow->own(array, size), size, value);
  };
  fill(&mjModel::geom_type, n, static_cast<int>(mjGEOM_SPHERE));
  fill(&mjModel::geom_dataid, n, -1);
  fill(&mjModel::geom_contype, n, 0);
  fill(&mjModel::geom_conaffinity, n, 0);
  fill(&mjModel::geom_rbound, n, 1.0);
  fill(&mjModel::geom_size, 3 * n, 1.0);
  fill(&mjModel::geom_aabb, 6 * n, 0.0);
  for (mjtSize geom = 0; geom < n; ++geom) std::fill_n(m->geom_aabb + 6 * geom + 3, 3, 1.0);
  disable_midphase(m);
  disable_sleep(m);
  m->narena = std::min<mjtSize>(m->narena, kArena);
}

/// Moves a geom far away from all others.
void move_away(mjData* d, int geom) { std::fill_n(d->geom_xpos + 3 * geom, 3, 1e6 * (geom + 1)); }

}  // namespace

struct GeomPairProbe::Copy {
  explicit Copy(const mjModel* m) : model(m) { isolate_geoms(&model); }
  ShadowModel model;
  DataPtr data;
};

GeomPairProbe::GeomPairProbe(const mjModel* m) : model_(m), copy_(std::make_unique<Copy>(m)) {
  MuJoCoGuard guard;
  const mjModel* const isolated = copy_->model.get();
  mjData* raw_data = nullptr;
  const bool ok = guard.run([&] {
    raw_data = mj_makeData(isolated);
    mj_kinematics(isolated, raw_data);
    mj_comPos(isolated, raw_data);
    for (int geom = 0; geom < m->ngeom; ++geom) move_away(raw_data, geom);
  });
  copy_->data.reset(raw_data);
  if (!ok) throw Error(ErrorCode::kMuJoCo, "", std::string("MuJoCo: ") + guard.error());
}
GeomPairProbe::~GeomPairProbe() = default;

GeomPair GeomPairProbe::probe(int geom1, int geom2) {
  GeomPair out;
  out.pair = geom1 == geom2 ? -1 : find_pair(model_, geom1, geom2);
  if (geom1 != geom2 && has_function(model_, geom1, geom2)) {
    // Let only these two geoms collide, at the same place.
    mjModel* m = copy_->model.edit();
    mjData* d = copy_->data.get();
    for (const int geom : {geom1, geom2}) {
      m->geom_contype[geom] = model_->geom_contype[geom];
      m->geom_conaffinity[geom] = model_->geom_conaffinity[geom];
      std::fill_n(d->geom_xpos + 3 * geom, 3, 0.0);
    }
    MuJoCoGuard guard;
    const bool ok = guard.run([&] { mj_collision(m, d); });
    for (const int geom : {geom1, geom2}) {
      m->geom_contype[geom] = m->geom_conaffinity[geom] = 0;
      move_away(d, geom);
    }
    if (!ok) throw Error(ErrorCode::kMuJoCo, "", std::string("MuJoCo: ") + guard.error());
    for (int i = 0; i < d->ncon && !out.collides; ++i) {
      const mjContact& con = d->contact[i];
      if (std::minmax(con.geom[0], con.geom[1]) != std::minmax(geom1, geom2)) continue;
      out.collides = true;
      out.contact = con;
    }
  }
  if (!out.collides)
    out.reason = find_reason(model_, geom1, geom2, out.pair >= 0);
  else
    out.reason = out.pair >= 0 ? "by " + describe(model_, mjOBJ_PAIR, out.pair)
                               : "by contype and conaffinity";
  return out;
}

GeomPair probe_geom_pair(const mjModel* m, int geom1, int geom2) {
  return GeomPairProbe(m).probe(geom1, geom2);
}

}  // namespace stiction::plant
