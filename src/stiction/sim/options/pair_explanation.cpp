#include "stiction/sim/options/pair_explanation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "stiction/base/error.hpp"
#include "stiction/contact/gaps.hpp"
#include "stiction/contact/law_tables.hpp"
#include "stiction/contact/momentum_factor.hpp"
#include "stiction/contact/normal_laws.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/plant/collision/geom_pair.hpp"
#include "stiction/plant/materials/material_properties.hpp"
#include "stiction/plant/materials/materials.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/plant/mujoco/contact_marks.hpp"
#include "stiction/plant/patches/contact_patches.hpp"
#include "stiction/plant/rows/contact_rows.hpp"
#include "stiction/plant/shapes/local_shape.hpp"
#include "stiction/sim/options/option_values.hpp"

namespace stiction::sim {
namespace {

std::string to_text(double value) { return base::to_text(value, 4); }

/// The value of a property of one surface, and its source.
struct SurfaceValue {
  double value = 0;
  std::string from;
};

/// Returns "rule of 2e+05 (file:3, material 'rubber') and 1e+07 (default)".
std::string describe(std::string_view rule, const SurfaceValue& a, const SurfaceValue& b) {
  return std::string(rule) + " of " + to_text(a.value) + " (" + a.from + ") and " +
         to_text(b.value) + " (" + b.from + ")";
}

/// The numbers of the contact of two geoms.
struct Pair {
  Pair(const mjModel* m, const plant::MaterialTable& materials, const StepOptions& options,
       const plant::GeomPair& geom_pair, const std::array<plant::GeomBody, 2>* patch);

  /// The material of the first or the second geom, in the order of MuJoCo's contact.
  const plant::Material& material(int i) const { return materials.geoms[geoms[i]]; }
  const plant::MaterialSource& source(int i) const { return materials.sources[geoms[i]]; }
  std::string describe_geom(int i) const { return plant::describe(m, mjOBJ_GEOM, geoms[i]); }
  double time_step() const { return options.time_step.value_or(m->opt.timestep); }
  void add(std::string name, double value, std::string_view unit, std::string from, bool is_used,
           std::string note = "") {
    out.push_back(
        {std::move(name), value, std::string(unit), std::move(from), is_used, std::move(note)});
  }

  const mjModel* m;
  const plant::MaterialTable& materials;
  const StepOptions& options;
  const contact::ContactModelTraits& traits;
  const contact::NormalLawKind law;
  const contact::PropertyUse use;
  const plant::GeomPair& geom_pair;
  std::array<int, 2> geoms;                     // in the order of MuJoCo's contact
  const std::array<plant::GeomBody, 2>* patch;  // their bodies; null: they touch in points
  contact::Contact combined;                    // with the properties of the pair
  plant::PairProperties properties;
  bool is_elastic = false;          // true if Hertz's law has its stiffness from a Young's modulus
  plant::HertzCurvature curvature;  // at a typical place, if is_elastic
  std::vector<ExplainedNumber> out;
};

Pair::Pair(const mjModel* m, const plant::MaterialTable& materials, const StepOptions& options,
           const plant::GeomPair& geom_pair, const std::array<plant::GeomBody, 2>* patch)
    : m(m),
      materials(materials),
      options(options),
      traits(contact::traits(options.contact_model)),
      law(contact::find_normal_law(options.contact_model, options.parameters.normal_law)),
      use(contact::calc_property_use(options.contact_model, options.parameters)),
      geom_pair(geom_pair),
      geoms{geom_pair.contact.geom[0], geom_pair.contact.geom[1]},
      patch(patch) {
  is_elastic = !patch && plant::has_elastic_stiffness(material(0), material(1), law);
  if (is_elastic) curvature = plant::find_typical_hertz_curvature(m, geoms[0], geoms[1]);
  properties =
      plant::set_properties(m, materials, geom_pair.contact, &combined, law,
                            is_elastic ? plant::calc_hertz_factor(curvature) : plant::kNaN);
  if (patch)
    combined.law.dissipation =
        plant::combine_by_modulus((*patch)[0].modulus, material(0).law.dissipation,
                                  (*patch)[1].modulus, material(1).law.dissipation);
}

/// Returns "not used by" with the name of the model, or of its law if that is not the default.
std::string ignored(const Pair& p) {
  const bool is_of_law = p.traits.takes_laws && p.law != contact::ModelParameters().normal_law;
  return "not used by " + std::string(is_of_law ? contact::traits(p.law).name : p.traits.name);
}

// ---- properties -------------------------------------------------------------------------------

bool is_used(const Pair& p, const plant::MaterialProperty& property) {
  return p.use.*contact::kLawProperties<bool>[property.law_property];
}

bool is_shown(const Pair& p, const plant::MaterialProperty& property) {
  // Faces of a contact surface have the stiffness of their pressures.
  if (p.patch && property.group == plant::PropertyGroup::stiffness) return false;
  const auto is_given = [&](int i) {
    return property.source(p.source(i)) != plant::MaterialSource::kDefault;
  };
  return property.is_always_shown || is_used(p, property) || is_given(0) || is_given(1);
}

std::string find_note(const Pair& p, const plant::MaterialProperty& property, double value) {
  constexpr int kStiffness = contact::find_law_property("stiffness");
  // The near-rigid stiffness of a contact with mobility w is (2 pi / (beta dt))^2 / w. beta is 1
  // unless the model has a limit of its own, near_rigid_factor.
  const double rigid = math::square(2 * std::numbers::pi / p.time_step());
  const double beta = p.options.parameters.near_rigid_factor;
  const bool has_limit =
      property.law_property == kStiffness && p.traits.options.near_rigid_factor && beta > 0;
  constexpr int kTangential = contact::find_law_property("tangential_stiffness");
  if (std::isinf(value) && property.law_property == kTangential)
    return std::string(property.note_if_infinite);
  if (std::isinf(value))
    return "near-rigid: the largest stiffness that the time step resolves, " + to_text(rigid) +
           " N/m for each kg that the contact moves" + std::string(property.note_if_infinite) +
           (has_limit ? "; under a load of n times its mass, a body sinks n times as deep"
                      : ", and up to 1000 times as much beside a body of more than ten times the "
                        "mass");
  if (has_limit)
    return "at most " + to_text(rigid / (beta * beta)) +
           " N/m for each kg that the contact moves; near_rigid_factor=0 removes this limit";
  return std::string(property.note);
}

/// Adds the stiffness of Hertz's law that follows from Young's moduli.
void add_elastic_stiffness(Pair& p) {
  const double factor = plant::calc_hertz_factor(p.curvature);
  const auto describe_surface = [&](int i) -> std::string {
    const plant::Material& surface = p.material(i);
    if (!plant::has_elastic_stiffness(surface))
      return to_text(surface.law.hertz_stiffness) + " N/m^1.5 (" + p.source(i).law.hertz_stiffness +
             ")";
    const bool has_ratio = !std::isnan(surface.poissons_ratio);
    const double nu = has_ratio ? surface.poissons_ratio : plant::kDefaultPoissonsRatio;
    return "E = " + to_text(surface.youngs_modulus) + " Pa (" + p.source(i).youngs_modulus +
           ") and nu = " + to_text(nu) + (has_ratio ? "" : " (default)");
  };
  const double k = p.combined.law.hertz_stiffness;
  p.add("contact_modulus", k / factor, "Pa",
        "1/E* = (1 - nu1^2)/E1 + (1 - nu2^2)/E2 of " + describe_surface(0) + ", and " +
            describe_surface(1),
        true, "E* of the pair; hertz_stiffness is 4/3 E* sqrt(R) for spheres");
  std::string note = "radii of the relative curvature " + to_text(1 / p.curvature.most) + " and " +
                     to_text(1 / p.curvature.least) + " m";
  const bool is_constant = plant::has_constant_curvature(p.m, p.geoms[0]) &&
                           plant::has_constant_curvature(p.m, p.geoms[1]);
  if (!is_constant)
    note +=
        " where the geoms touch with sides or faces, crossed; each step takes the curvature "
        "at each contact";
  if (p.curvature.is_crowned) note += "; a line or a face counts as crowned by 0.1 mm";
  p.add("hertz_stiffness", k, "N/m^1.5", "Hertz's law of the contact modulus and the shapes", true,
        std::move(note));
  for (int i = 0; i < 2; ++i)
    if (const double radius = plant::find_edge_radius(p.m, p.geoms[i]); radius > 0)
      p.add("edge radius, " + p.describe_geom(i), radius, "m", "its smallest half size", true,
            "where it touches with a sharp edge or corner, that counts as rounded with this "
            "radius");
}

void add_property(Pair& p, const plant::MaterialProperty& property) {
  if (p.is_elastic && property.law_property == contact::find_law_property("hertz_stiffness"))
    return add_elastic_stiffness(p);
  const double value = p.combined.law.*contact::kLawProperties<double>[property.law_property];
  const auto surface = [&](int i) -> SurfaceValue {
    return {plant::find_value(property, p.material(i), p.law), property.source(p.source(i))};
  };
  const std::string_view rule = !property.rule.empty() ? property.rule
                                : p.patch ? "weighted by softness, (E2 d1 + E1 d2)/(E1 + E2),"
                                          : plant::find_stiffness(p.law).mean_rule;
  p.add(std::string(property.name), value, property.unit, describe(rule, surface(0), surface(1)),
        is_used(p, property), is_used(p, property) ? find_note(p, property, value) : ignored(p));
}

/// Adds the numbers that a contact surface has instead of a point's stiffness.
void add_patch(Pair& p) {
  for (int i = 0; i < 2; ++i) {
    const plant::GeomBody& body = (*p.patch)[i];
    const bool is_rigid = std::isinf(body.modulus);
    const std::string of = ", " + p.describe_geom(i);
    const bool is_elastic = !is_rigid && std::isnan(p.material(i).hydroelastic_modulus);
    const std::string& from = p.source(i).pressure_field != plant::MaterialSource::kDefault
                                  ? p.source(i).pressure_field
                              : is_rigid   ? p.source(i).rigid
                              : is_elastic ? p.source(i).youngs_modulus
                                           : p.source(i).hydroelastic_modulus;
    p.add("hydroelastic_modulus" + of, body.modulus, "Pa", from, true,
          is_rigid     ? "rigid"
          : is_elastic ? "pressure at the deepest point, E/(1 - nu^2) of its youngs_modulus"
                       : "pressure at the deepest point");
    if (body.num_elements > 0)
      p.add("mesh" + of, body.num_elements, is_rigid ? "triangles" : "tets",
            p.source(i).resolution_hint, true);
    if (std::isfinite(body.depth))
      p.add("thickness" + of, 2 * body.depth, "m", "its mesh", true,
            "twice the largest distance of an inner point to the boundary; a body that moves by "
            "more than half of it in a step may be missed");
  }
  const bool drops = p.options.surfaces.tilted_faces == geometry::TiltedFaces::drop;
  p.add("largest tilt of a face", drops ? 90 : 112.5, "deg",
        "tilted_faces = " + std::string(contact::name_of(p.options.surfaces.tilted_faces)), true,
        drops ? "faces beyond this angle to a pressure gradient are dropped, as published"
              : "faces beyond 90 degrees to a pressure gradient push with constant pressure");
  const bool extends = p.options.surfaces.deep_patches == contact::DeepPatches::extend;
  p.add("end of the fields", geometry::kMedialShare, "of the highest pressure",
        "deep_patches = " + std::string(contact::name_of(p.options.surfaces.deep_patches)), true,
        extends
            ? "where bodies overlap beyond a medial axis, or the force of the fields decreases "
              "with the depth, which is_deep reports, the force goes on with the depth along the "
              "last tangent of the fields"
            : "where bodies overlap beyond a medial axis, which is_deep reports, the force "
              "decreases and vanishes, as published");
}

// ---- friction ---------------------------------------------------------------------------------

/// Returns the source of a friction coefficient that MuJoCo combines.
std::string find_friction_source(const Pair& p, plant::FrictionKind kind) {
  using plant::FrictionSource;
  const auto surface = [&](int i) -> SurfaceValue {
    return {p.m->geom_friction[3 * p.geoms[i] + static_cast<int>(kind)],
            "MJCF friction of " + p.describe_geom(i)};
  };
  switch (plant::find_mujoco_friction(p.m, p.geoms, p.geom_pair.pair, kind).source) {
    case FrictionSource::kOption: return "MJCF o_friction of <option>";
    case FrictionSource::kPair:
      return "MJCF friction of " + plant::describe(p.m, mjOBJ_PAIR, p.geom_pair.pair);
    case FrictionSource::kPriority: {
      const bool is_first = p.m->geom_priority[p.geoms[0]] > p.m->geom_priority[p.geoms[1]];
      return surface(is_first ? 0 : 1).from + ", whose priority is higher";
    }
    case FrictionSource::kLarger: break;
  }
  return describe("larger", surface(0), surface(1));
}

/// Adds the speed at which a contact that bears only torsion turns at 71 % of its bound.
void add_turning_tolerance(Pair& p, const double* friction, int dim) {
  contact::Contact c{.dim = dim,
                     .rim_radius = plant::find_smaller_radius(p.m, p.geom_pair.contact)};
  std::copy_n(friction, dim - 1, c.friction.begin());
  const double v_s = p.options.parameters.stiction_tolerance;
  const bool is_used =
      friction[2] > 0 && !is_replaced_by_springs(find_option("stiction_tolerance"), p.options);
  p.add("turning tolerance", friction[2] > 0 ? v_s * contact::calc_slip_scale(c) / friction[2] : 0,
        "rad/s", "stiction_tolerance at the radius of the smaller geom", is_used,
        "the contact holds torsion below this speed of turning");
}

void add_torsion(Pair& p, const double* friction, int dim) {
  const auto add_one = [&](const char* name, double value, plant::FrictionKind kind) {
    p.add(name, value, "m", find_friction_source(p, kind), p.traits.takes_torsion,
          p.traits.takes_torsion ? "" : "not used by " + std::string(p.traits.name));
  };
  if (dim > 3) add_one("torsional friction", friction[2], plant::FrictionKind::kTorsional);
  if (dim > 3 && p.traits.takes_torsion) add_turning_tolerance(p, friction, dim);
  if (dim <= 4) return;
  add_one("rolling friction", friction[3], plant::FrictionKind::kRolling);
  if (friction[4] != friction[3])
    add_one("rolling friction, second tangent", friction[4], plant::FrictionKind::kRolling);
}

/// Adds friction as MuJoCo combines it.
void add_mujoco_friction(Pair& p, const double* friction, int dim) {
  if (dim == 1) return p.add("friction", 0, "", "condim 1", true, "frictionless");
  const std::string from = find_friction_source(p, plant::FrictionKind::kSliding);
  const bool is_used = p.traits.uses_friction;
  if (friction[0] == friction[1]) {
    p.add("friction", friction[0], "", from, is_used, is_used ? "" : ignored(p));
  } else {
    const std::string mean = std::string(p.traits.name) + " uses the mean, " +
                             to_text(0.5 * (friction[0] + friction[1]));
    const std::string note = p.traits.takes_torsion ? "" : is_used ? mean : ignored(p);
    p.add("friction, first tangent", friction[0], "", from, is_used, note);
    p.add("friction, second tangent", friction[1], "", from, is_used, note);
  }
  add_torsion(p, friction, dim);
}

void add_friction(Pair& p) {
  if (!p.properties.friction_is_ours || p.combined.dim == 1)
    return add_mujoco_friction(p, p.combined.friction.data(), p.combined.dim);
  const auto add = [&](const char* name, double mu, bool is_used, const std::string& why_not) {
    const plant::MaterialProperty& row = *plant::find_material_property(name);
    const auto surface = [&](int i) -> SurfaceValue {
      const plant::Material& own = p.material(i);
      if (!std::isnan(row.value(own))) return {row.value(own), row.source(p.source(i))};
      if (!std::isnan(own.friction)) return {own.friction, p.source(i).friction};
      return {p.m->geom_friction[3 * p.geoms[i]], "MJCF friction of " + p.describe_geom(i)};
    };
    p.add(name, mu, "", describe(row.rule, surface(0), surface(1)), is_used,
          is_used ? "" : why_not);
  };
  add("friction", p.combined.friction[0], p.traits.uses_friction, ignored(p));
  const double mu_s = plant::combine_static_friction(p.m, p.materials, p.geoms[0], p.geoms[1]);
  if (!std::isnan(mu_s))
    add("static_friction", mu_s, p.use.tangential_stiffness, "friction_law 'elastic' uses it");
  add_torsion(p, p.combined.friction.data(), p.combined.dim);
}

void add_option(Pair& p, std::string_view name, const char* note) {
  const Option& option = find_option(name);
  const OptionValue value = get_value(option, p.options);
  const bool is_used = sim::is_used(option, p.options);
  p.add(std::string(name), std::get<double>(value), option.unit,
        value == get_default(option) ? "default" : "given to the Simulator", is_used,
        is_used ? note
        : is_replaced_by_springs(option, p.options)
            ? "not used by friction_law 'elastic', whose contacts stick by springs"
            : "not used by " + std::string(p.traits.name));
}

void add_slip_tolerance(Pair& p) {
  add_option(p, "stiction_tolerance", "the contact sticks below this slip speed");
  add_option(p, "friction_regularization",
             p.traits.options.stiction_tolerance
                 ? "the slip tolerance is sigma w mu gamma_n if that is larger"
                 : "the slip tolerance is sigma w mu gamma_n");
}

/// Adds the sizes of the tables of the laws.
void add_tables(Pair& p) {
  if (!p.traits.takes_laws) return;
  const contact::ModelParameters& parameters = p.options.parameters;
  if (p.law == contact::NormalLawKind::custom && parameters.custom_law->table()) {
    const contact::NormalLawTable& table = *parameters.custom_law->table();
    p.add("normal law", static_cast<double>(table.force.size()), "points", "table of the caller",
          true,
          to_text(table.force.back()) + " N at " + to_text(table.penetration.back()) +
              " m, the last penetration; beyond it the force goes on along its tangent");
  }
  if (parameters.friction_law == contact::FrictionRegularizationKind::custom)
    p.add("friction law", static_cast<double>(parameters.custom_friction->table().slip.size()),
          "points", "table of the caller", true,
          "reaches Coulomb's friction at " +
              to_text(parameters.custom_friction->table().slip.back()) + " slip tolerances");
}

// ---- MuJoCo's numbers, and the distance at which the contact acts -----------------------------

/// Returns the element of the MJCF that has the numbers: a pair, or both geoms.
std::string find_mjcf_source(const Pair& p, const char* rule) {
  if (p.geom_pair.pair >= 0) return "MJCF " + plant::describe(p.m, mjOBJ_PAIR, p.geom_pair.pair);
  return "MJCF of " + p.describe_geom(0) + " and " + p.describe_geom(1) + rule;
}

void add_mujoco_compliance(Pair& p) {
  const std::string from = p.m->opt.enableflags & mjENBL_OVERRIDE
                               ? "MJCF override of <option>"
                               : find_mjcf_source(p, ", mixed by solmix and priority");
  for (int i = 0; i < mjNREF; ++i)
    p.add("solref[" + std::to_string(i) + "]", p.geom_pair.contact.solref[i], "", from, true);
  for (int i = 0; i < mjNIMP; ++i)
    p.add("solimp[" + std::to_string(i) + "]", p.geom_pair.contact.solimp[i], "", from, true);
}

void add_reach(Pair& p) {
  const contact::Reach reach =
      contact::calc_reach(p.options.contact_model, p.options.parameters, p.time_step(), p.combined);
  p.add("gliding gap", reach.slip * reach.time, "m per m/s of slip",
        "contact model " + std::string(p.traits.name), true,
        reach.slip > 0
            ? "sliding lifts a body by this distance: " + to_text(reach.time) + " s times friction"
            : "none: the contact acts when bodies touch; contacts that may close within a step are "
              "speculative");
  if (reach.slip > 0 && p.law == contact::NormalLawKind::hunt_crossley && p.use.dissipation)
    p.add("stiffening by slip", reach.slip * p.combined.law.dissipation, "per m/s of slip",
          "contact model " + std::string(p.traits.name), true,
          "friction times dissipation: while the contact slips, its stiffness is larger, and its "
          "dissipation smaller, by the factor 1 + this number times the slip speed");
  if (reach.distance > 0)
    p.add("reach", reach.distance, "m", "normal law " + std::string(contact::traits(p.law).name),
          true, "the contact acts below this distance");
}

void add_geometry(Pair& p) {
  const std::string from = find_mjcf_source(p, "");
  const bool is_cut = p.geom_pair.contact.dim > 3 && !p.traits.takes_torsion;
  p.add("condim", p.geom_pair.contact.dim, "", from, true,
        is_cut ? "as 3 under " + std::string(p.traits.name) : "");
  if (p.patch) return;  // a contact surface has neither a margin nor a gap
  p.add("margin - gap", p.geom_pair.contact.includemargin, "m", from, true,
        "a force acts below this distance");
  if (!p.traits.is_mj_step) add_reach(p);
}

void add_all(Pair& p) {
  if (p.traits.is_mj_step) {
    add_mujoco_compliance(p);
    add_mujoco_friction(p, p.geom_pair.contact.friction, p.geom_pair.contact.dim);
  } else {
    if (p.patch) add_patch(p);
    for (const plant::MaterialProperty& property : plant::law_properties())
      if (is_shown(p, property)) add_property(p, property);
    add_friction(p);
    add_slip_tolerance(p);
    add_tables(p);
  }
  add_geometry(p);
}

}  // namespace

PairExplanation explain_pair(const mjModel* m, const plant::MaterialTable& materials,
                             const StepOptions& options, int geom1, int geom2) {
  validate(options);
  for (const int geom : {geom1, geom2})
    if (geom < 0 || geom >= m->ngeom)
      throw Error(ErrorCode::kUnknownName, "geom",
                  "there is no geom " + std::to_string(geom) + "; the model has " +
                      std::to_string(m->ngeom) + " geoms");
  const plant::GeomPair pair = plant::probe_geom_pair(m, geom1, geom2);
  PairExplanation out{
      .geom1 = geom1, .geom2 = geom2, .collides = pair.collides, .reason = pair.reason};
  if (!pair.collides) return out;
  const int first = pair.contact.geom[0], second = pair.contact.geom[1];
  const std::array<plant::GeomBody, 2> bodies = {plant::make_geom_body(m, materials, first),
                                                 plant::make_geom_body(m, materials, second)};
  const bool takes_patches = contact::traits(options.contact_model).takes_patches;
  out.why_points = plant::explain_points(m, first, bodies[0], second, bodies[1]);
  out.is_patch = takes_patches && bodies[0].body && bodies[1].body && out.why_points.empty();
  if (!takes_patches && (bodies[0].body || bodies[1].body))
    out.why_points = "'" + std::string(contact::traits(options.contact_model).name) +
                     "' has no pressure fields" +
                     (contact::traits(options.contact_model).is_rigid
                          ? ", because they press only where bodies overlap; use a compliant "
                            "contact model, such "
                            "as 'coulomb', for patches"
                          : "");
  Pair numbers(m, materials, options, pair, out.is_patch ? &bodies : nullptr);
  add_all(numbers);
  out.numbers = std::move(numbers.out);
  return out;
}

}  // namespace stiction::sim
