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

/// Collects the numbers of the contact of two geoms.
class Explainer {
 public:
  Explainer(const mjModel* m, const plant::MaterialTable& materials, const StepOptions& options,
            const plant::GeomPair& pair, const std::array<plant::GeomBody, 2>* patch)
      : m_(m),
        materials_(materials),
        options_(options),
        traits_(contact::traits(options.contact_model)),
        law_(contact::find_normal_law(options.contact_model, options.parameters.normal_law)),
        use_(contact::calc_property_use(options.contact_model, options.parameters)),
        pair_(pair),
        geoms_{pair.contact.geom[0], pair.contact.geom[1]},
        patch_(patch) {
    is_elastic_ = !patch_ && plant::has_elastic_stiffness(material(0), material(1), law_);
    if (is_elastic_) curvature_ = plant::find_typical_hertz_curvature(m, geoms_[0], geoms_[1]);
    properties_ =
        plant::set_properties(m, materials, pair.contact, &contact_, law_,
                              is_elastic_ ? plant::calc_hertz_factor(curvature_) : plant::kNaN);
    if (patch_)
      contact_.law.dissipation =
          plant::combine_by_modulus((*patch_)[0].modulus, material(0).law.dissipation,
                                    (*patch_)[1].modulus, material(1).law.dissipation);
  }

  std::vector<ExplainedNumber> explain() {
    if (traits_.is_mj_step) {
      add_mujoco_compliance();
      add_mujoco_friction(pair_.contact.friction, pair_.contact.dim);
    } else {
      if (patch_) add_patch();
      for (const plant::MaterialProperty& property : plant::law_properties())
        if (is_shown(property)) add_property(property);
      add_friction();
      add_slip_tolerance();
      add_tables();
    }
    add_geometry();
    return std::move(out_);
  }

 private:
  /// The material of the first or the second geom, in the order of MuJoCo's contact.
  const plant::Material& material(int i) const { return materials_.geoms[geoms_[i]]; }
  const plant::MaterialSource& source(int i) const { return materials_.sources[geoms_[i]]; }
  std::string describe_geom(int i) const { return plant::describe(m_, mjOBJ_GEOM, geoms_[i]); }
  double time_step() const { return options_.time_step.value_or(m_->opt.timestep); }

  void add(std::string name, double value, std::string_view unit, std::string from, bool is_used,
           std::string note = "") {
    out_.push_back({.name = std::move(name),
                    .value = value,
                    .unit = std::string(unit),
                    .from = std::move(from),
                    .is_used = is_used,
                    .note = std::move(note)});
  }

  /// Returns "not used by" with the name of the model, or of its law if that is not the default.
  std::string ignored() const {
    const bool is_of_law = traits_.takes_laws && law_ != contact::ModelParameters().normal_law;
    return "not used by " + std::string(is_of_law ? contact::traits(law_).name : traits_.name);
  }

  // ---- properties -------------------------------------------------------------------------------

  bool is_used(const plant::MaterialProperty& property) const {
    return use_.*contact::kLawProperties<bool>[property.law_property];
  }

  bool is_shown(const plant::MaterialProperty& property) const {
    // Faces of a contact surface have the stiffness of their pressures.
    if (patch_ && property.group == plant::PropertyGroup::stiffness) return false;
    const auto is_given = [&](int i) {
      return property.source(source(i)) != plant::MaterialSource::kDefault;
    };
    return property.is_always_shown || is_used(property) || is_given(0) || is_given(1);
  }

  void add_property(const plant::MaterialProperty& property) {
    if (is_elastic_ && property.law_property == contact::find_law_property("hertz_stiffness"))
      return add_elastic_stiffness();
    const double value = contact_.law.*contact::kLawProperties<double>[property.law_property];
    const auto surface = [&](int i) -> SurfaceValue {
      return {plant::find_value(property, material(i), law_), property.source(source(i))};
    };
    const std::string_view rule = !property.rule.empty() ? property.rule
                                  : patch_ ? "weighted by softness, (E2 d1 + E1 d2)/(E1 + E2),"
                                           : plant::find_stiffness(law_).mean_rule;
    add(std::string(property.name), value, property.unit, describe(rule, surface(0), surface(1)),
        is_used(property), is_used(property) ? find_note(property, value) : ignored());
  }

  /// Adds the stiffness of Hertz's law that follows from Young's moduli.
  void add_elastic_stiffness() {
    const double factor = plant::calc_hertz_factor(curvature_);
    const auto describe_surface = [&](int i) -> std::string {
      const plant::Material& surface = material(i);
      if (!plant::has_elastic_stiffness(surface))
        return to_text(surface.law.hertz_stiffness) + " N/m^1.5 (" + source(i).law.hertz_stiffness +
               ")";
      const bool has_ratio = !std::isnan(surface.poissons_ratio);
      const double nu = has_ratio ? surface.poissons_ratio : plant::kDefaultPoissonsRatio;
      return "E = " + to_text(surface.youngs_modulus) + " Pa (" + source(i).youngs_modulus +
             ") and nu = " + to_text(nu) + (has_ratio ? "" : " (default)");
    };
    const double k = contact_.law.hertz_stiffness;
    add("contact_modulus", k / factor, "Pa",
        "1/E* = (1 - nu1^2)/E1 + (1 - nu2^2)/E2 of " + describe_surface(0) + ", and " +
            describe_surface(1),
        true, "E* of the pair; hertz_stiffness is 4/3 E* sqrt(R) for spheres");
    std::string note = "radii of the relative curvature " + to_text(1 / curvature_.most) + " and " +
                       to_text(1 / curvature_.least) + " m";
    const bool is_constant = plant::has_constant_curvature(m_, geoms_[0]) &&
                             plant::has_constant_curvature(m_, geoms_[1]);
    if (!is_constant)
      note +=
          " where the geoms touch with sides or faces, crossed; each step takes the curvature "
          "at each contact";
    if (curvature_.is_crowned) note += "; a line or a face counts as crowned by 0.1 mm";
    add("hertz_stiffness", k, "N/m^1.5", "Hertz's law of the contact modulus and the shapes", true,
        std::move(note));
    for (int i = 0; i < 2; ++i)
      if (const double radius = plant::find_edge_radius(m_, geoms_[i]); radius > 0)
        add("edge radius, " + describe_geom(i), radius, "m", "its smallest half size", true,
            "where it touches with a sharp edge or corner, that counts as rounded with this "
            "radius");
  }

  std::string find_note(const plant::MaterialProperty& property, double value) const {
    constexpr int kStiffness = contact::find_law_property("stiffness");
    // The near-rigid stiffness of a contact with mobility w is (2 pi / (beta dt))^2 / w. beta is 1
    // unless the model has a limit of its own, near_rigid_factor.
    const double rigid = math::square(2 * std::numbers::pi / time_step());
    const double beta = options_.parameters.near_rigid_factor;
    const bool has_limit =
        property.law_property == kStiffness && traits_.options.near_rigid_factor && beta > 0;
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

  /// Adds the numbers that a contact surface has instead of a point's stiffness.
  void add_patch() {
    for (int i = 0; i < 2; ++i) {
      const plant::GeomBody& body = (*patch_)[i];
      const bool is_rigid = std::isinf(body.modulus);
      const std::string of = ", " + describe_geom(i);
      const bool is_elastic = !is_rigid && std::isnan(material(i).hydroelastic_modulus);
      const std::string& from = source(i).pressure_field != plant::MaterialSource::kDefault
                                    ? source(i).pressure_field
                                : is_rigid   ? source(i).rigid
                                : is_elastic ? source(i).youngs_modulus
                                             : source(i).hydroelastic_modulus;
      add("hydroelastic_modulus" + of, body.modulus, "Pa", from, true,
          is_rigid     ? "rigid"
          : is_elastic ? "pressure at the deepest point, E/(1 - nu^2) of its youngs_modulus"
                       : "pressure at the deepest point");
      if (body.num_elements > 0)
        add("mesh" + of, body.num_elements, is_rigid ? "triangles" : "tets",
            source(i).resolution_hint, true);
      if (std::isfinite(body.depth))
        add("thickness" + of, 2 * body.depth, "m", "its mesh", true,
            "twice the largest distance of an inner point to the boundary; a body that moves by "
            "more than half of it in a step may be missed");
    }
    const bool drops = options_.surfaces.tilted_faces == geometry::TiltedFaces::drop;
    add("largest tilt of a face", drops ? 90 : 112.5, "deg",
        "tilted_faces = " + std::string(contact::name_of(options_.surfaces.tilted_faces)), true,
        drops ? "faces beyond this angle to a pressure gradient are dropped, as published"
              : "faces beyond 90 degrees to a pressure gradient push with constant pressure");
    const bool extends = options_.surfaces.deep_patches == contact::DeepPatches::extend;
    add("end of the fields", geometry::kMedialShare, "of the highest pressure",
        "deep_patches = " + std::string(contact::name_of(options_.surfaces.deep_patches)), true,
        extends
            ? "where bodies overlap beyond a medial axis, or the force of the fields decreases "
              "with the depth, which is_deep reports, the force goes on with the depth along the "
              "last tangent of the fields"
            : "where bodies overlap beyond a medial axis, which is_deep reports, the force "
              "decreases and vanishes, as published");
  }

  // ---- friction ---------------------------------------------------------------------------------

  void add_friction() {
    if (!properties_.friction_is_ours || contact_.dim == 1)
      return add_mujoco_friction(contact_.friction.data(), contact_.dim);
    const auto surface = [&](int i) -> SurfaceValue {
      if (!std::isnan(material(i).friction)) return {material(i).friction, source(i).friction};
      return {m_->geom_friction[3 * geoms_[i]], "MJCF friction of " + describe_geom(i)};
    };
    add("friction", contact_.friction[0], "",
        describe(plant::find_material_property("friction")->rule, surface(0), surface(1)),
        traits_.uses_friction, traits_.uses_friction ? "" : ignored());
    add_torsion(contact_.friction.data(), contact_.dim);
  }

  /// Adds friction as MuJoCo combines it.
  void add_mujoco_friction(const double* friction, int dim) {
    if (dim == 1) return add("friction", 0, "", "condim 1", true, "frictionless");
    const std::string from = find_friction_source(plant::FrictionKind::kSliding);
    const bool is_used = traits_.uses_friction;
    if (friction[0] == friction[1]) {
      add("friction", friction[0], "", from, is_used, is_used ? "" : ignored());
    } else {
      const std::string mean = std::string(traits_.name) + " uses the mean, " +
                               to_text(0.5 * (friction[0] + friction[1]));
      const std::string note = traits_.takes_torsion ? "" : is_used ? mean : ignored();
      add("friction, first tangent", friction[0], "", from, is_used, note);
      add("friction, second tangent", friction[1], "", from, is_used, note);
    }
    add_torsion(friction, dim);
  }

  void add_torsion(const double* friction, int dim) {
    const auto add_one = [&](const char* name, double value, plant::FrictionKind kind) {
      add(name, value, "m", find_friction_source(kind), traits_.takes_torsion,
          traits_.takes_torsion ? "" : "not used by " + std::string(traits_.name));
    };
    if (dim > 3) add_one("torsional friction", friction[2], plant::FrictionKind::kTorsional);
    if (dim <= 4) return;
    add_one("rolling friction", friction[3], plant::FrictionKind::kRolling);
    if (friction[4] != friction[3])
      add_one("rolling friction, second tangent", friction[4], plant::FrictionKind::kRolling);
  }

  /// Returns the source of a friction coefficient that MuJoCo combines.
  std::string find_friction_source(plant::FrictionKind kind) const {
    using plant::FrictionSource;
    const auto surface = [&](int i) -> SurfaceValue {
      return {m_->geom_friction[3 * geoms_[i] + static_cast<int>(kind)],
              "MJCF friction of " + describe_geom(i)};
    };
    switch (plant::find_mujoco_friction(m_, geoms_, pair_.pair, kind).source) {
      case FrictionSource::kOption: return "MJCF o_friction of <option>";
      case FrictionSource::kPair:
        return "MJCF friction of " + plant::describe(m_, mjOBJ_PAIR, pair_.pair);
      case FrictionSource::kPriority: {
        const bool is_first = m_->geom_priority[geoms_[0]] > m_->geom_priority[geoms_[1]];
        return surface(is_first ? 0 : 1).from + ", whose priority is higher";
      }
      case FrictionSource::kLarger: break;
    }
    return describe("larger", surface(0), surface(1));
  }

  void add_slip_tolerance() {
    add_option("stiction_tolerance", "the contact sticks below this slip speed");
    add_option("friction_regularization",
               traits_.options.stiction_tolerance
                   ? "the slip tolerance is sigma w mu gamma_n if that is larger"
                   : "the slip tolerance is sigma w mu gamma_n");
  }

  void add_option(std::string_view name, const char* note) {
    const Option& option = find_option(name);
    const OptionValue value = get_value(option, options_);
    const bool is_used = sim::is_used(option, options_);
    add(std::string(name), std::get<double>(value), option.unit,
        value == get_default(option) ? "default" : "given to the Simulator", is_used,
        is_used ? note
        : is_replaced_by_springs(option, options_)
            ? "not used by friction_law 'elastic', whose contacts stick by springs"
            : "not used by " + std::string(traits_.name));
  }

  /// Adds the sizes of the tables of the laws.
  void add_tables() {
    if (!traits_.takes_laws) return;
    const contact::ModelParameters& parameters = options_.parameters;
    if (law_ == contact::NormalLawKind::custom && parameters.custom_law->table()) {
      const contact::NormalLawTable& table = *parameters.custom_law->table();
      add("normal law", static_cast<double>(table.force.size()), "points", "table of the caller",
          true,
          to_text(table.force.back()) + " N at " + to_text(table.penetration.back()) +
              " m, the last penetration; beyond it the force goes on along its tangent");
    }
    if (parameters.friction_law == contact::FrictionRegularizationKind::custom)
      add("friction law", static_cast<double>(parameters.custom_friction->table().slip.size()),
          "points", "table of the caller", true,
          "reaches Coulomb's friction at " +
              to_text(parameters.custom_friction->table().slip.back()) + " slip tolerances");
  }

  // ---- MuJoCo's numbers, and the distance at which the contact acts -----------------------------

  void add_mujoco_compliance() {
    const std::string from = m_->opt.enableflags & mjENBL_OVERRIDE ? "MJCF override of <option>"
                             : pair_.pair >= 0
                                 ? "MJCF " + plant::describe(m_, mjOBJ_PAIR, pair_.pair)
                                 : "MJCF of " + describe_geom(0) + " and " + describe_geom(1) +
                                       ", mixed by solmix and priority";
    for (int i = 0; i < mjNREF; ++i)
      add("solref[" + std::to_string(i) + "]", pair_.contact.solref[i], "", from, true);
    for (int i = 0; i < mjNIMP; ++i)
      add("solimp[" + std::to_string(i) + "]", pair_.contact.solimp[i], "", from, true);
  }

  void add_geometry() {
    const std::string from = pair_.pair >= 0
                                 ? "MJCF " + plant::describe(m_, mjOBJ_PAIR, pair_.pair)
                                 : "MJCF of " + describe_geom(0) + " and " + describe_geom(1);
    const bool is_cut = pair_.contact.dim > 3 && !traits_.takes_torsion;
    add("condim", pair_.contact.dim, "", from, true,
        is_cut ? "as 3 under " + std::string(traits_.name) : "");
    if (patch_) return;  // a contact surface has neither a margin nor a gap
    add("margin - gap", pair_.contact.includemargin, "m", from, true,
        "a force acts below this distance");
    if (!traits_.is_mj_step) add_reach();
  }

  void add_reach() {
    const contact::Reach reach =
        contact::calc_reach(options_.contact_model, options_.parameters, time_step(), contact_);
    add("gliding gap", reach.slip * reach.time, "m per m/s of slip",
        "contact model " + std::string(traits_.name), true,
        reach.slip > 0
            ? "sliding lifts a body by this distance: " + to_text(reach.time) + " s times friction"
            : "none: the contact acts when bodies touch; contacts that may close within a step are "
              "speculative");
    if (reach.slip > 0 && law_ == contact::NormalLawKind::hunt_crossley && use_.dissipation)
      add("stiffening by slip", reach.slip * contact_.law.dissipation, "per m/s of slip",
          "contact model " + std::string(traits_.name), true,
          "friction times dissipation: while the contact slips, its stiffness is larger, and its "
          "dissipation smaller, by the factor 1 + this number times the slip speed");
    if (reach.distance > 0)
      add("reach", reach.distance, "m", "normal law " + std::string(contact::traits(law_).name),
          true, "the contact acts below this distance");
  }

  const mjModel* m_;
  const plant::MaterialTable& materials_;
  const StepOptions& options_;
  const contact::ContactModelTraits& traits_;
  const contact::NormalLawKind law_;
  const contact::PropertyUse use_;
  const plant::GeomPair& pair_;
  std::array<int, 2> geoms_;                     // in the order of MuJoCo's contact
  const std::array<plant::GeomBody, 2>* patch_;  // their bodies; null: they touch in points
  contact::Contact contact_;
  plant::PairProperties properties_;
  bool is_elastic_ = false;          // true if Hertz's law has its stiffness from a Young's modulus
  plant::HertzCurvature curvature_;  // at a typical place, if is_elastic_
  std::vector<ExplainedNumber> out_;
};

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
  PairExplanation out{.geom1 = geom1,
                      .geom2 = geom2,
                      .collides = pair.collides,
                      .reason = pair.reason,
                      .is_patch = false,
                      .why_points = "",
                      .numbers = {}};
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
  out.numbers = Explainer(m, materials, options, pair, out.is_patch ? &bodies : nullptr).explain();
  return out;
}

}  // namespace stiction::sim
