#include "stiction/sim/options/ignored_settings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "stiction/contact/contact_model.hpp"
#include "stiction/plant/materials/material_properties.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/sim/options/option_values.hpp"

namespace stiction::sim {
namespace {

using plant::MaterialSource;

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

bool may_collide(const mjModel* m, int geom) {
  return m->geom_contype[geom] != 0 || m->geom_conaffinity[geom] != 0;
}

/// Finds the ignored settings of a scene, and describes each in a sentence.
class Finder {
 public:
  Finder(const mjModel* m, const plant::MaterialTable& materials, const StepOptions& options,
         bool may_sleep)
      : m_(m),
        materials_(materials),
        options_(options),
        may_sleep_(may_sleep),
        traits_(contact::traits(options.contact_model)),
        use_(contact::calc_property_use(options.contact_model, options.parameters)),
        under_(" under '" + std::string(traits_.name) + "'") {
    const contact::NormalLawKind law = options.parameters.normal_law;
    if (traits_.takes_laws && law != contact::ModelParameters().normal_law)
      under_ += " with the normal law '" + std::string(contact::traits(law).name) + "'";
    mj_defaultOption(&default_);
  }

  std::vector<std::string> find() {
    check_options();
    if (traits_.is_mj_step) {
      check_all_properties();
    } else {
      check_properties();
      check_pressure_fields();
      check_friction();
      check_compliance();
      check_solver();
      check_sleep();
    }
    return std::move(out_);
  }

 private:
  void check_options() {
    for (const Option& option : option_table())
      if (!is_used(option, options_) && get_value(option, options_) != get_default(option))
        out_.push_back(std::string(option.name) + " has no effect on contacts" +
                       describe_use(option));
  }

  /// Returns under what an option has no effect, and where it has one.
  std::string describe_use(const Option& option) const {
    if (is_replaced_by_springs(option, options_))
      return " under the friction law 'elastic', whose contacts stick by springs; it has one under "
             "the other friction laws";
    return under_ + "; it has one under " + join(list_models(option));
  }

  void check_properties() {
    using plant::PropertyGroup;
    const std::string instead[] = {
        describe_use(PropertyGroup::stiffness, traits_.is_rigid ? "is rigid" : "is your own law"),
        describe_use(PropertyGroup::dissipation, "does not dissipate"),
        traits_.uses_friction ? "which has dry friction" : "which does not slip"};
    for (const plant::MaterialProperty& property : plant::law_properties()) {
      if (check_springs(property)) continue;
      check_property(property, use_.*contact::kLawProperties<bool>[property.law_property],
                     instead[static_cast<int>(property.group)]);
    }
    check_elasticity();
    const std::string points = "which touches in points";
    check_property(*plant::find_material_property("hydroelastic_modulus"), traits_.takes_patches,
                   points);
    check_sources([](const MaterialSource& s) { return s.pressure_field; }, "pressure_field",
                  traits_.takes_patches, under_ + ", " + points);
  }

  /// Reports a property of springs under a model that has them, but with another friction law.
  /// @return true if it is one
  bool check_springs(const plant::MaterialProperty& property) {
    StepOptions elastic = options_;
    elastic.parameters.friction_law = contact::FrictionRegularizationKind::elastic;
    const auto member = contact::kLawProperties<bool>[property.law_property];
    const auto use = contact::calc_property_use(options_.contact_model, elastic.parameters);
    if (use_.*member || !(use.*member)) return false;
    const std::string law(contact::name_of(options_.parameters.friction_law));
    check_sources([&](const MaterialSource& s) { return property.source(s); }, property.name, false,
                  " under the friction law '" + law + "'; it has one under 'elastic'");
    return true;
  }

  /// Reports Young's moduli that neither Hertz's law nor a compliant surface uses.
  void check_elasticity() {
    const bool is_hertz =
        traits_.takes_laws && options_.parameters.normal_law == contact::NormalLawKind::hertz;
    std::set<std::string> given;
    for (int i = 0; i < m_->ngeom; ++i) {
      const plant::Material& material = materials_.geoms[i];
      const bool is_of_field =
          traits_.takes_patches && material.compliant && std::isnan(material.hydroelastic_modulus);
      const bool is_of_points = is_hertz && plant::has_elastic_stiffness(material);
      if (!std::isnan(material.youngs_modulus) && !is_of_field && !is_of_points)
        given.insert(materials_.sources[i].youngs_modulus);
    }
    for (const std::string& from : given)
      out_.push_back("youngs_modulus (" + from + ") has no effect" + under_ +
                     "; it gives the stiffness of the normal law 'hertz' to surfaces without a "
                     "hertz_stiffness, and the hydroelastic modulus to surfaces with "
                     "'compliant: true'");
  }

  /// Returns "which uses barrier_stiffness and barrier_thickness" with the properties of a group
  /// that the model reads, or "which " and `otherwise` if it reads none of the group.
  std::string describe_use(plant::PropertyGroup group, const std::string& otherwise) const {
    std::string names;
    for (const plant::MaterialProperty& property : plant::law_properties())
      if (property.group == group && use_.*contact::kLawProperties<bool>[property.law_property])
        names += (names.empty() ? "" : " and ") + std::string(property.name);
    return "which " + (names.empty() ? otherwise : "uses " + names);
  }

  void check_all_properties() {
    std::vector<int> geoms;
    for (int i = 0; i < m_->ngeom; ++i)
      if (!materials_.sources[i].material.empty()) geoms.push_back(i);
    if (!geoms.empty())
      out_.push_back("contact properties of " + list_elements(m_, mjOBJ_GEOM, geoms) +
                     " have no effect" + under_ +
                     "; set solref, solimp and friction in the MJCF instead");
  }

  void check_property(const plant::MaterialProperty& property, bool is_used,
                      const std::string& instead) {
    check_sources([&](const MaterialSource& s) { return property.source(s); }, property.name,
                  is_used, under_ + ", " + instead);
  }

  /// Reports the values of a property that the model ignores, one sentence per source.
  /// @param source_of returns the source of a geom's value
  /// @param why       under what it has no effect, and the reason
  template <class F>
  void check_sources(F&& source_of, std::string_view name, bool is_used, const std::string& why) {
    if (is_used) return;
    std::set<std::string> given;
    for (const MaterialSource& s : materials_.sources)
      if (source_of(s) != MaterialSource::kDefault) given.insert(source_of(s));
    for (const std::string& from : given)
      out_.push_back(
          std::string(name).append(" (").append(from).append(") has no effect").append(why));
  }

  /// Checks the mesh properties of geoms that have no mesh.
  void check_pressure_fields() {
    std::set<std::string> given;
    for (int i = 0; i < m_->ngeom; ++i) {
      const plant::Material& material = materials_.geoms[i];
      if (material.rigid || !material.pressure_field.empty() ||
          !std::isnan(plant::find_hydroelastic_modulus(material)))
        continue;
      const MaterialSource& source = materials_.sources[i];
      if (!std::isnan(material.resolution_hint))
        given.insert("resolution_hint (" + source.resolution_hint + ")");
      if (!std::isnan(material.slab_thickness))
        given.insert("slab_thickness (" + source.slab_thickness + ")");
    }
    for (const std::string& property : given)
      out_.push_back(property +
                     " has no effect: the geom touches in points; give it a "
                     "hydroelastic_modulus, a pressure_field or rigid: true");
  }

  void check_friction() {
    if (!traits_.uses_friction) {
      std::set<std::string> given;
      for (const MaterialSource& s : materials_.sources)
        if (s.friction != MaterialSource().friction) given.insert(s.friction);
      for (const std::string& from : given)
        out_.push_back("friction (" + from + ") has no effect" + under_);
    }
    if (!traits_.takes_torsion) check_torsion();
  }

  void check_torsion() {
    std::vector<int> geoms, pairs, unequal;
    for (int i = 0; i < m_->ngeom; ++i)
      if (m_->geom_condim[i] > 3 && may_collide(m_, i)) geoms.push_back(i);
    for (int i = 0; i < m_->npair; ++i) {
      if (m_->pair_dim[i] > 3) pairs.push_back(i);
      const mjtNum* friction = m_->pair_friction + 5 * i;
      if (m_->pair_dim[i] > 1 && friction[0] != friction[1]) unequal.push_back(i);
    }
    std::string with_torsion;
    for (const contact::ContactModelTraits& model : contact::contact_models())
      if (model.takes_torsion && !model.is_mj_step)
        with_torsion += (with_torsion.empty() ? "" : ", ") + std::string(model.name);
    const std::string effect = ": torsional and rolling friction have no effect" + under_ +
                               ", which uses condim 3; use one of the models " + with_torsion;
    if (!geoms.empty())
      out_.push_back("condim of " + list_elements(m_, mjOBJ_GEOM, geoms) + effect);
    if (!pairs.empty())
      out_.push_back("condim of " + list_elements(m_, mjOBJ_PAIR, pairs) + effect);
    if (!unequal.empty() && traits_.uses_friction)
      out_.push_back("friction of " + list_elements(m_, mjOBJ_PAIR, unequal) +
                     " differs between the tangents; their mean is used" + under_ +
                     "; use one of the models " + with_torsion);
  }

  void check_compliance() {
    if (m_->opt.enableflags & mjENBL_OVERRIDE) {
      if (is_set(m_->opt.o_solref, default_.o_solref, mjNREF) ||
          is_set(m_->opt.o_solimp, default_.o_solimp, mjNIMP))
        add_compliance("o_solref and o_solimp of <option>");
      return;  // MuJoCo ignores the values of geoms and pairs, too
    }
    std::vector<int> geoms, pairs;
    for (int i = 0; i < m_->ngeom; ++i)
      if (may_collide(m_, i) && has_compliance(m_->geom_solref, m_->geom_solimp, i))
        geoms.push_back(i);
    for (int i = 0; i < m_->npair; ++i)
      if (has_compliance(m_->pair_solref, m_->pair_solimp, i) || has_friction_solref(i))
        pairs.push_back(i);
    if (!geoms.empty())
      add_compliance("solref and solimp of " + list_elements(m_, mjOBJ_GEOM, geoms));
    if (!pairs.empty())
      add_compliance("solref and solimp of " + list_elements(m_, mjOBJ_PAIR, pairs));
  }

  void add_compliance(const std::string& what) {
    out_.push_back(what + " have no effect on contacts" + under_ +
                   (traits_.is_rigid ? ": surfaces are rigid"
                                     : "; set stiffness and dissipation in the contact "
                                       "properties instead"));
  }

  bool has_compliance(const mjtNum* solref, const mjtNum* solimp, int i) const {
    return is_set(solref + mjNREF * i, default_.o_solref, mjNREF) ||
           is_set(solimp + mjNIMP * i, default_.o_solimp, mjNIMP);
  }

  /// True if a pair sets solreffriction. Its default 0 stands for the pair's solref.
  bool has_friction_solref(int pair) const {
    const mjtNum* solref = m_->pair_solreffriction + mjNREF * pair;
    return std::any_of(solref, solref + mjNREF, [](mjtNum x) { return x != 0; });
  }

  static bool is_set(const mjtNum* values, const mjtNum* defaults, int n) {
    return !std::equal(values, values + n, defaults);
  }

  /// Reports in one sentence the settings that change the motion in MuJoCo but not here. Settings
  /// of MuJoCo's solver that hardly change the motion are not reported: cone, solver, iterations
  /// and tolerances.
  void check_solver() {
    const mjOption& o = m_->opt;
    std::vector<std::string> names;
    if (o.integrator == mjINT_RK4) names.emplace_back("integrator 'RK4'");
    // implicitfast leaves the derivatives of Coriolis forces out, as our step does.
    if (o.integrator == mjINT_IMPLICIT) names.emplace_back("integrator 'implicit'");
    if (o.impratio != default_.impratio) names.emplace_back("impratio");
    if (o.noslip_iterations != default_.noslip_iterations) names.emplace_back("noslip_iterations");
    if (!names.empty())
      out_.push_back(join(names) + " of the MJCF's <option> " +
                     (names.size() > 1 ? "have" : "has") + " no effect" + under_ +
                     ": the step has an integrator and a solver of its own");
  }

  void check_sleep() {
    if (!(m_->opt.enableflags & mjENBL_SLEEP)) return;
    const std::string flag = "flag sleep of the MJCF's <option> has no effect";
    const IntegratorTraits& integrator = traits(options_.integrator);
    if (!integrator.has_sleep)
      out_.push_back(flag + " under the integrator '" + std::string(integrator.name) +
                     "': it moves bodies within a step, where none could wake");
    else if (!may_sleep_)
      out_.push_back(flag +
                     " in a batch: each call begins from a checkpoint, after which sleeping trees "
                     "repeat a step; use a Simulator for each simulation if its trees shall sleep");
  }

  const mjModel* m_;
  const plant::MaterialTable& materials_;
  const StepOptions& options_;
  const bool may_sleep_;
  const contact::ContactModelTraits& traits_;
  const contact::PropertyUse use_;
  std::string under_;
  mjOption default_;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> find_ignored_settings(const mjModel* model,
                                               const plant::MaterialTable& materials,
                                               const StepOptions& options, bool may_sleep) {
  return Finder(model, materials, options, may_sleep).find();
}

}  // namespace stiction::sim
