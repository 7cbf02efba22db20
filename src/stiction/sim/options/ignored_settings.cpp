#include "stiction/sim/options/ignored_settings.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>

#include "stiction/base/error.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/numerics/lcp_solvers.hpp"
#include "stiction/plant/materials/material_properties.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/sim/options/option_values.hpp"

namespace stiction::sim {
namespace {

using plant::MaterialSource;
using plant::PropertyGroup;
using Texts = std::vector<std::string>;

/// The settings, and what the contact model reads of them.
struct Settings {
  const mjModel* m;
  const plant::MaterialTable& materials;
  const StepOptions& options;
  const contact::ContactModelTraits& traits;
  contact::PropertyUse use;
  std::string under;  // " under 'sap'"
};

template <class Text>
std::string join(const std::vector<Text>& parts) {
  std::string out;
  for (const Text& part : parts) (out += out.empty() ? "" : ", ") += part;
  return out;
}

/// Returns "geom 'a'", or "geom 'a' and 3 more".
std::string list_elements(const mjModel* m, mjtObj type, const std::vector<int>& ids) {
  std::string out = plant::describe(m, type, ids.front());
  if (ids.size() > 1) out += " and " + std::to_string(ids.size() - 1) + " more";
  return out;
}

/// Adds one text for all elements that `is_found` accepts, if there are any: the beginning, their
/// names, and the end.
template <class F>
void add_elements(const mjModel* m, mjtObj type, F&& is_found, const std::string& begin,
                  const std::string& end, Texts* out) {
  std::vector<int> ids;
  const int count = static_cast<int>(type == mjOBJ_GEOM ? m->ngeom : m->npair);
  for (int i = 0; i < count; ++i)
    if (is_found(i)) ids.push_back(i);
  if (!ids.empty()) out->push_back(begin + list_elements(m, type, ids) + end);
}

/// Adds a text for each source of a property that has no effect.
/// @param find_source returns the source of a geom's value; empty: none that matters
/// @param why         under what it has no effect, and the reason
template <class F>
void add_sources(const Settings& s, std::string_view name, F&& find_source, const std::string& why,
                 Texts* out) {
  std::set<std::string> sources;
  for (int geom = 0; geom < s.m->ngeom; ++geom)
    if (std::string source = find_source(geom); !source.empty()) sources.insert(std::move(source));
  for (const std::string& source : sources) {
    std::string text(name);
    out->push_back(text.append(" (").append(source).append(") has no effect").append(why));
  }
}

/// Adds the sources of a property's values that are given.
template <class F>
void add_given(const Settings& s, std::string_view name, F&& source_of, const std::string& why,
               Texts* out) {
  const MaterialSource defaults;
  const auto find_given = [&](int geom) -> std::string {
    const std::string& source = std::invoke(source_of, s.materials.sources[geom]);
    return source == std::invoke(source_of, defaults) ? "" : source;
  };
  add_sources(s, name, find_given, why, out);
}

// ---- options ------------------------------------------------------------------------------------

void check_options(const Settings& s, Texts* out) {
  StepOptions defaults;
  defaults.contact_model = s.options.contact_model;
  defaults = resolve(defaults, s.materials);
  for (const Option& option : option_table()) {
    if (is_used(option, s.options) || get_value(option, s.options) == get_value(option, defaults))
      continue;
    const std::string use =
        is_replaced_by_springs(option, s.options)
            ? " under the friction law 'elastic', whose contacts stick by springs; it has one "
              "under the other friction laws"
            : s.under + "; it has one under " + join(list_models(option));
    out->push_back(std::string(option.name) + " has no effect on contacts" + use);
  }
}

// ---- contact properties -------------------------------------------------------------------------

bool reads(const contact::PropertyUse& use, const plant::MaterialProperty& property) {
  return use.*contact::kLawProperties<bool>[property.law_property];
}

/// Returns "which uses barrier_stiffness and barrier_thickness" with the properties of a group that
/// the model reads, or "which " and `otherwise` if it reads none of the group.
std::string describe_use(const Settings& s, PropertyGroup group, const std::string& otherwise) {
  std::string names;
  for (const plant::MaterialProperty& property : plant::law_properties())
    if (property.group == group && reads(s.use, property))
      names += (names.empty() ? "" : " and ") + std::string(property.name);
  return "which " + (names.empty() ? otherwise : "uses " + names);
}

void check_properties(const Settings& s, Texts* out) {
  const std::string instead[] = {
      describe_use(s, PropertyGroup::stiffness, s.traits.is_rigid ? "is rigid" : "is your own law"),
      describe_use(s, PropertyGroup::dissipation, "does not dissipate"),
      s.traits.uses_friction ? "which has dry friction" : "which does not slip"};
  const std::string without_springs =
      " under the friction law '" +
      std::string(contact::name_of(s.options.parameters.friction_law)) +
      "'; it has one under 'elastic'";
  contact::ModelParameters with_springs = s.options.parameters;
  with_springs.friction_law = contact::FrictionRegularizationKind::elastic;
  const auto use_with_springs = contact::calc_property_use(s.options.contact_model, with_springs);
  for (const plant::MaterialProperty& property : plant::law_properties()) {
    if (reads(s.use, property)) continue;
    add_given(
        s, property.name, [&](const MaterialSource& m) { return property.source(m); },
        reads(use_with_springs, property)
            ? without_springs
            : s.under + ", " + instead[static_cast<int>(property.group)],
        out);
  }
  if (s.use.tangential_stiffness) return;
  add_given(s, "static_friction", &MaterialSource::static_friction,
            s.traits.takes_anchors
                ? without_springs
                : s.under +
                      ", whose contacts do not remember whether they have yielded; it has one "
                      "under models with the friction law 'elastic'",
            out);
}

/// Adds Young's moduli that neither Hertz's law nor a compliant surface uses.
void check_elasticity(const Settings& s, Texts* out) {
  const bool is_hertz =
      s.traits.takes_laws && s.options.parameters.normal_law == contact::NormalLawKind::hertz;
  const auto find_unused = [&](int geom) -> std::string {
    const plant::Material& material = s.materials.geoms[geom];
    const bool is_of_field =
        s.traits.takes_patches && material.compliant && std::isnan(material.hydroelastic_modulus);
    const bool is_of_points = is_hertz && plant::has_elastic_stiffness(material);
    const bool is_unused = !std::isnan(material.youngs_modulus) && !is_of_field && !is_of_points;
    return is_unused ? s.materials.sources[geom].youngs_modulus : "";
  };
  add_sources(s, "youngs_modulus", find_unused,
              s.under +
                  "; it gives the stiffness of the normal law 'hertz' to surfaces without a "
                  "hertz_stiffness, and the hydroelastic modulus to surfaces with "
                  "'compliant: true'",
              out);
}

void check_pressure_fields(const Settings& s, Texts* out) {
  if (s.traits.takes_patches) return;
  const std::string why = s.under + ", which touches in points";
  add_given(s, "hydroelastic_modulus", &MaterialSource::hydroelastic_modulus, why, out);
  add_given(s, "pressure_field", &MaterialSource::pressure_field, why, out);
}

/// Adds a mesh property of geoms that have no mesh.
void check_mesh(const Settings& s, const char* name, double plant::Material::*value,
                std::string MaterialSource::*source, Texts* out) {
  const auto find_unused = [&](int geom) -> std::string {
    const plant::Material& material = s.materials.geoms[geom];
    const bool has_mesh = material.rigid || !material.pressure_field.empty() ||
                          !std::isnan(plant::find_hydroelastic_modulus(material));
    return has_mesh || std::isnan(material.*value) ? "" : s.materials.sources[geom].*source;
  };
  add_sources(s, name, find_unused,
              ": the geom touches in points; give it a hydroelastic_modulus, a pressure_field or "
              "rigid: true",
              out);
}

// ---- MuJoCo's settings --------------------------------------------------------------------------

bool may_collide(const mjModel* m, int geom) {
  return m->geom_contype[geom] != 0 || m->geom_conaffinity[geom] != 0;
}

void check_friction(const Settings& s, Texts* out) {
  const mjModel* m = s.m;
  if (!s.traits.uses_friction) add_given(s, "friction", &MaterialSource::friction, s.under, out);
  if (s.traits.takes_torsion) return;
  std::string with_torsion;
  for (const contact::ContactModelTraits& model : contact::contact_models())
    if (model.takes_torsion && !model.is_mj_step)
      with_torsion += (with_torsion.empty() ? "" : ", ") + std::string(model.name);
  const std::string effect = ": torsional and rolling friction have no effect" + s.under +
                             ", which uses condim 3; use one of the models " + with_torsion;
  add_elements(
      m, mjOBJ_GEOM, [m](int i) { return m->geom_condim[i] > 3 && may_collide(m, i); },
      "condim of ", effect, out);
  add_elements(
      m, mjOBJ_PAIR, [m](int i) { return m->pair_dim[i] > 3; }, "condim of ", effect, out);
  const auto is_unequal = [&](int i) {
    const mjtNum* friction = m->pair_friction + 5 * i;
    return s.traits.uses_friction && m->pair_dim[i] > 1 && friction[0] != friction[1];
  };
  add_elements(m, mjOBJ_PAIR, is_unequal, "friction of ",
               " differs between the tangents; their mean is used" + s.under +
                   "; use one of the models " + with_torsion,
               out);
}

void check_compliance(const Settings& s, const mjOption& defaults, Texts* out) {
  const mjModel* m = s.m;
  const auto has_compliance = [&](const mjtNum* solref, const mjtNum* solimp) {
    return !std::equal(solref, solref + mjNREF, defaults.o_solref) ||
           !std::equal(solimp, solimp + mjNIMP, defaults.o_solimp);
  };
  const std::string effect =
      " have no effect on contacts" + s.under +
      (s.traits.is_rigid ? ": surfaces are rigid"
                         : "; set stiffness and dissipation in the contact properties instead");
  if (m->opt.enableflags & mjENBL_OVERRIDE) {  // MuJoCo ignores the values of geoms and pairs, too
    if (has_compliance(m->opt.o_solref, m->opt.o_solimp))
      out->push_back("o_solref and o_solimp of <option>" + effect);
    return;
  }
  const auto is_geom = [&](int i) {
    return may_collide(m, i) &&
           has_compliance(m->geom_solref + mjNREF * i, m->geom_solimp + mjNIMP * i);
  };
  const auto is_pair = [&](int i) {
    const mjtNum* friction = m->pair_solreffriction + mjNREF * i;  // 0: that of solref
    return has_compliance(m->pair_solref + mjNREF * i, m->pair_solimp + mjNIMP * i) ||
           std::any_of(friction, friction + mjNREF, [](mjtNum x) { return x != 0; });
  };
  add_elements(m, mjOBJ_GEOM, is_geom, "solref and solimp of ", effect, out);
  add_elements(m, mjOBJ_PAIR, is_pair, "solref and solimp of ", effect, out);
}

/// Adds the settings that change the motion in MuJoCo but not here. Settings of MuJoCo's solver
/// that hardly change the motion are left out: cone, solver, iterations and tolerances.
void check_solver(const Settings& s, const mjOption& defaults, Texts* out) {
  const mjOption& o = s.m->opt;
  std::vector<std::string> names;
  if (o.integrator == mjINT_RK4) names.emplace_back("integrator 'RK4'");
  // implicitfast leaves the derivatives of Coriolis forces out, as our step does.
  if (o.integrator == mjINT_IMPLICIT) names.emplace_back("integrator 'implicit'");
  if (o.impratio != defaults.impratio) names.emplace_back("impratio");
  if (o.noslip_iterations != defaults.noslip_iterations) names.emplace_back("noslip_iterations");
  if (!names.empty())
    out->push_back(join(names) + " of the MJCF's <option> " + (names.size() > 1 ? "have" : "has") +
                   " no effect" + s.under + ": the step has an integrator and a solver of its own");
}

void check_sleep(const Settings& s, bool may_sleep, Texts* out) {
  if (!(s.m->opt.enableflags & mjENBL_SLEEP)) return;
  const std::string flag = "flag sleep of the MJCF's <option> has no effect";
  const IntegratorTraits& integrator = traits(s.options.integrator);
  if (!integrator.has_sleep)
    out->push_back(flag + " under the integrator '" + std::string(integrator.name) +
                   "': it moves bodies within a step, where none could wake");
  else if (!may_sleep)
    out->push_back(flag +
                   " in a batch: each call begins from a checkpoint, after which sleeping trees "
                   "repeat a step; use a Simulator for each simulation if its trees shall sleep");
}

std::string describe_model(const StepOptions& options) {
  const contact::ContactModelTraits& model = contact::traits(options.contact_model);
  const contact::NormalLawKind law = options.parameters.normal_law;
  std::string out = " under '" + std::string(model.name) + "'";
  if (model.takes_laws && law != contact::ModelParameters().normal_law)
    out += " with the normal law '" + std::string(contact::traits(law).name) + "'";
  return out;
}

}  // namespace

std::vector<std::string> find_ignored_settings(const mjModel* m,
                                               const plant::MaterialTable& materials,
                                               const StepOptions& given, bool may_sleep) {
  const StepOptions options = resolve(given, materials);
  const Settings s = {.m = m,
                      .materials = materials,
                      .options = options,
                      .traits = contact::traits(options.contact_model),
                      .use = contact::calc_property_use(options.contact_model, options.parameters),
                      .under = describe_model(options)};
  Texts out;
  check_options(s, &out);
  if (s.traits.is_mj_step) {
    add_elements(
        m, mjOBJ_GEOM, [&](int i) { return !materials.sources[i].material.empty(); },
        "contact properties of ",
        " have no effect" + s.under + "; set solref, solimp and friction in the MJCF instead",
        &out);
    return out;
  }
  mjOption defaults;
  mj_defaultOption(&defaults);
  check_properties(s, &out);
  check_elasticity(s, &out);
  check_pressure_fields(s, &out);
  check_mesh(s, "resolution_hint", &plant::Material::resolution_hint,
             &MaterialSource::resolution_hint, &out);
  check_mesh(s, "slab_thickness", &plant::Material::slab_thickness, &MaterialSource::slab_thickness,
             &out);
  check_friction(s, &out);
  check_compliance(s, defaults, &out);
  check_solver(s, defaults, &out);
  check_sleep(s, may_sleep, &out);
  return out;
}

void refuse_dry_friction(const mjModel* m, const char* text) {
  for (int i = 0; i < m->nv; ++i)
    if (m->dof_frictionloss[i] > 0)
      throw Error(ErrorCode::kUnsupported, plant::describe(m, mjOBJ_JOINT, m->dof_jntid[i]), text);
  for (int i = 0; i < m->ntendon; ++i)
    if (m->tendon_frictionloss[i] > 0)
      throw Error(ErrorCode::kUnsupported, plant::describe(m, mjOBJ_TENDON, i), text);
}

void check_dry_friction(const mjModel* m, const StepOptions& options) {
  if (!contact::traits(options.contact_model).options.lcp_solver ||
      numerics::takes_bounds(options.parameters.lcp_solver))
    return;
  refuse_dry_friction(m,
                      "has dry friction (frictionloss), whose impulse has a bound on both sides, "
                      "and the LCP solver 'active_set' takes no such bounds; set lcp_solver to "
                      "'ppm_ratio' or 'lemke'");
}

}  // namespace stiction::sim
