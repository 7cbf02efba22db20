#include "stiction/sim/pair_explanation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "stiction/base/error.hpp"
#include "stiction/contact/law_kinds.hpp"
#include "stiction/contact/momentum_factor.hpp"
#include "stiction/contact/reach.hpp"
#include "stiction/plant/contact_patches.hpp"
#include "stiction/plant/contact_rows.hpp"
#include "stiction/plant/geom_pair.hpp"
#include "stiction/plant/model.hpp"

namespace stiction::sim {
namespace {

using LawSource = contact::ContactLawData<std::string>;

using contact::ContactModel;

std::string to_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

class Explainer {
 public:
  Explainer(const mjModel* m, const plant::MaterialTable& materials, const StepOptions& options,
            const plant::GeomPair& pair, const std::array<plant::GeomBody, 2>* patch)
      : m_(m),
        materials_(materials),
        options_(options),
        traits_(contact::traits(options.contact_model)),
        use_(contact::calc_property_use(options.contact_model, options.parameters.normal_law)),
        pair_(pair),
        geom1_(pair.contact.geom[0]),
        geom2_(pair.contact.geom[1]),
        patch_(patch) {
    properties_ = plant::set_properties(
        m, materials, pair.contact, &contact_,
        contact::find_normal_law(options.contact_model, options.parameters.normal_law));
  }

  std::vector<ExplainedNumber> explain() {
    if (options_.contact_model == ContactModel::mujoco) {
      add_mujoco_compliance();
      add_mujoco_friction(pair_.contact.friction, pair_.contact.dim);
    } else if (patch_) {
      add_patch();
      add_friction();
      add_slip_tolerance();
    } else {
      add_stiffness();
      add_hertz_stiffness();
      add_barrier();
      add_dissipation();
      add_rigid();
      add_friction();
      add_slip_tolerance();
    }
    add_geometry();
    return std::move(out_);
  }

 private:
  const plant::Material& material(int geom) const { return materials_.geoms[geom]; }
  const plant::MaterialSource& source(int geom) const { return materials_.sources[geom]; }
  std::string describe_geom(int geom) const { return plant::describe(m_, mjOBJ_GEOM, geom); }
  double time_step() const {
    return options_.time_step > 0 ? options_.time_step : m_->opt.timestep;
  }

  /// "rule of 2e+05 (file:3, material 'rubber') and 1e+07 (default)".
  std::string combine(const char* rule, double value1, const std::string& from1, double value2,
                      const std::string& from2) const {
    return std::string(rule) + " of " + to_text(value1) + " (" + from1 + ") and " +
           to_text(value2) + " (" + from2 + ")";
  }

  void add(const char* name, double value, const char* unit, std::string from, bool is_used,
           std::string note = "") {
    out_.push_back({name, value, unit, std::move(from), is_used, std::move(note)});
  }

  void add_stiffness() {
    // Of a contact with mobility w: (2 pi / (beta dt))^2 / w, beta being 1 but for sap's cap.
    const double rigid = std::pow(2 * std::numbers::pi / time_step(), 2);
    const double beta = options_.parameters.near_rigid_factor;
    std::string note;
    if (std::isinf(contact_.law.stiffness))
      note = "near-rigid: as stiff as the step resolves, " + to_text(rigid) +
             " N/m for each kg that the contact moves";
    else if (options_.contact_model == ContactModel::sap && beta > 0)
      note = "at most " + to_text(rigid / (beta * beta)) +
             " N/m for each kg that the contact moves; near_rigid_factor=0 lifts that";
    add("stiffness", contact_.law.stiffness, "N/m",
        combine("series, k1 k2/(k1 + k2),", material(geom1_).law.stiffness,
                source(geom1_).law.stiffness, material(geom2_).law.stiffness,
                source(geom2_).law.stiffness),
        use_.stiffness, use_.stiffness ? note : ignored());
  }

  /// Of a contact surface, in place of a point's stiffness.
  void add_patch() {
    const auto& [first, second] = *patch_;
    const auto add_body = [&](int geom, const plant::GeomBody& body) {
      const std::string of = ", " + describe_geom(geom);
      const std::string& from = source(geom).pressure_field != plant::MaterialSource::kDefault
                                    ? source(geom).pressure_field
                                : std::isinf(body.modulus) ? source(geom).rigid
                                                           : source(geom).hydroelastic_modulus;
      add(("hydroelastic_modulus" + of).c_str(), body.modulus, "Pa", from, true,
          std::isinf(body.modulus) ? "rigid" : "pressure at the deepest point");
      if (body.num_elements > 0)
        add(("mesh" + of).c_str(), body.num_elements,
            std::isinf(body.modulus) ? "triangles" : "tets", source(geom).resolution_hint, true);
      if (std::isfinite(body.depth))
        add(("thickness" + of).c_str(), 2 * body.depth, "m", "its mesh", true,
            "twice the largest distance to its boundary; what moves further than half of it in a "
            "step may be missed");
    };
    add_body(geom1_, first);
    add_body(geom2_, second);
    add("dissipation",
        plant::combine_by_modulus(first.modulus, material(geom1_).law.dissipation, second.modulus,
                                  material(geom2_).law.dissipation),
        "s/m",
        combine("weighted by softness, (E2 d1 + E1 d2)/(E1 + E2),",
                material(geom1_).law.dissipation, source(geom1_).law.dissipation,
                material(geom2_).law.dissipation, source(geom2_).law.dissipation),
        use_.dissipation, use_.dissipation ? "" : ignored());
    add("relaxation_time", contact_.law.relaxation_time, "s",
        combine("sum", material(geom1_).law.relaxation_time, source(geom1_).law.relaxation_time,
                material(geom2_).law.relaxation_time, source(geom2_).law.relaxation_time),
        use_.relaxation_time, use_.relaxation_time ? "" : ignored());
  }

  /// Of the model, or of its law if that is not the default.
  std::string ignored() const {
    const contact::NormalLawKind law = options_.parameters.normal_law;
    const bool is_of_law = traits_.takes_laws && law != contact::ModelParameters().normal_law;
    return "not used by " + std::string(is_of_law ? contact::traits(law).name : traits_.name);
  }

  /// True if a geom has a value of its own: properties that few laws read are shown only then, or
  /// under these.
  bool is_given(std::string LawSource::*property) const {
    return source(geom1_).law.*property != plant::MaterialSource::kDefault ||
           source(geom2_).law.*property != plant::MaterialSource::kDefault;
  }

  void add_hertz_stiffness() {
    if (!use_.hertz_stiffness && !is_given(&LawSource::hertz_stiffness)) return;
    std::string note;
    if (std::isinf(contact_.law.hertz_stiffness))
      note = "near-rigid: as the spring that the step resolves, at a depth of " +
             to_text(contact::kNearRigidDepth) + " m";
    add("hertz_stiffness", contact_.law.hertz_stiffness, "N/m^1.5",
        combine("series, (k1^(-2/3) + k2^(-2/3))^(-3/2),", material(geom1_).law.hertz_stiffness,
                source(geom1_).law.hertz_stiffness, material(geom2_).law.hertz_stiffness,
                source(geom2_).law.hertz_stiffness),
        use_.hertz_stiffness, use_.hertz_stiffness ? note : ignored());
  }

  void add_barrier() {
    if (!use_.barrier_stiffness && !is_given(&LawSource::barrier_stiffness) &&
        !is_given(&LawSource::barrier_thickness))
      return;
    const auto thickness = [&](int geom) {
      return plant::find_barrier_thickness(material(geom), options_.parameters.normal_law);
    };
    std::string note;
    if (std::isinf(contact_.law.barrier_stiffness))
      note = "near-rigid: that of the stiffest spring that the step resolves";
    add("barrier_stiffness", contact_.law.barrier_stiffness, "N/m",
        combine("series, k1 k2/(k1 + k2),", material(geom1_).law.barrier_stiffness,
                source(geom1_).law.barrier_stiffness, material(geom2_).law.barrier_stiffness,
                source(geom2_).law.barrier_stiffness),
        use_.barrier_stiffness, use_.barrier_stiffness ? note : ignored());
    add("barrier_thickness", contact_.law.barrier_thickness, "m",
        combine("sum", thickness(geom1_), source(geom1_).law.barrier_thickness, thickness(geom2_),
                source(geom2_).law.barrier_thickness),
        use_.barrier_stiffness, use_.barrier_stiffness ? "" : ignored());
  }

  void add_dissipation() {
    add("dissipation", contact_.law.dissipation, "s/m",
        combine(use_.hertz_stiffness ? "weighted by compression,"
                                     : "weighted by softness, (k2 d1 + k1 d2)/(k1 + k2),",
                material(geom1_).law.dissipation, source(geom1_).law.dissipation,
                material(geom2_).law.dissipation, source(geom2_).law.dissipation),
        use_.dissipation, use_.dissipation ? "" : ignored());
    add("relaxation_time", contact_.law.relaxation_time, "s",
        combine("sum", material(geom1_).law.relaxation_time, source(geom1_).law.relaxation_time,
                material(geom2_).law.relaxation_time, source(geom2_).law.relaxation_time),
        use_.relaxation_time, use_.relaxation_time ? "" : ignored());
  }

  void add_rigid() {
    if (use_.viscous_friction || is_given(&LawSource::viscous_friction))
      add("viscous_friction", contact_.law.viscous_friction, "N s/m",
          combine("harmonic mean, 2 nu1 nu2/(nu1 + nu2),", material(geom1_).law.viscous_friction,
                  source(geom1_).law.viscous_friction, material(geom2_).law.viscous_friction,
                  source(geom2_).law.viscous_friction),
          use_.viscous_friction, use_.viscous_friction ? "" : ignored());
    if (use_.restitution || is_given(&LawSource::restitution))
      add("restitution", contact_.law.restitution, "",
          combine("larger", material(geom1_).law.restitution, source(geom1_).law.restitution,
                  material(geom2_).law.restitution, source(geom2_).law.restitution),
          use_.restitution, use_.restitution ? "of impacts, Poisson's" : ignored());
  }

  void add_friction() {
    if (!properties_.friction_is_ours || contact_.dim == 1)
      return add_mujoco_friction(contact_.friction.data(), contact_.dim);
    const auto coefficient = [&](int geom) {
      const double own = material(geom).friction;
      return std::isnan(own) ? m_->geom_friction[3 * geom] : own;
    };
    const auto origin = [&](int geom) {
      return std::isnan(material(geom).friction) ? "MJCF friction of " + describe_geom(geom)
                                                 : source(geom).friction;
    };
    add("friction", contact_.friction[0], "",
        combine("harmonic mean, 2 mu1 mu2/(mu1 + mu2),", coefficient(geom1_), origin(geom1_),
                coefficient(geom2_), origin(geom2_)),
        traits_.uses_friction, traits_.uses_friction ? "" : ignored());
    add_torsion(contact_.friction.data(), contact_.dim);
  }

  /// Friction as MuJoCo combines it.
  void add_mujoco_friction(const double* friction, int dim) {
    if (dim == 1) {
      add("friction", 0, "", "condim 1", true, "frictionless");
      return;
    }
    const std::string from = find_friction_source(0);
    if (friction[0] == friction[1]) {
      add("friction", friction[0], "", from, traits_.uses_friction,
          traits_.uses_friction ? "" : ignored());
    } else {
      const std::string note = traits_.takes_torsion ? ""
                               : !traits_.uses_friction
                                   ? ignored()
                                   : std::string(traits_.name) + " uses the mean, " +
                                         to_text(0.5 * (friction[0] + friction[1]));
      add("friction, first tangent", friction[0], "", from, traits_.uses_friction, note);
      add("friction, second tangent", friction[1], "", from, traits_.uses_friction, note);
    }
    add_torsion(friction, dim);
  }

  void add_torsion(const double* friction, int dim) {
    const bool is_used = traits_.takes_torsion;
    const std::string note = is_used ? "" : "not used by " + std::string(traits_.name);
    if (dim > 3)
      add("torsional friction", friction[2], "m", find_friction_source(1), is_used, note);
    if (dim > 4) {
      add("rolling friction", friction[3], "m", find_friction_source(2), is_used, note);
      if (friction[4] != friction[3])
        add("rolling friction, second tangent", friction[4], "m", find_friction_source(2), is_used,
            note);
    }
  }

  /// Where MuJoCo has a coefficient from: 0 sliding, 1 torsional, 2 rolling.
  std::string find_friction_source(int kind) const {
    if (m_->opt.enableflags & mjENBL_OVERRIDE) return "MJCF o_friction of <option>";
    if (pair_.pair >= 0) return "MJCF friction of " + plant::describe(m_, mjOBJ_PAIR, pair_.pair);
    const int priority1 = m_->geom_priority[geom1_], priority2 = m_->geom_priority[geom2_];
    if (priority1 != priority2)
      return "MJCF friction of " + describe_geom(priority1 > priority2 ? geom1_ : geom2_) +
             ", whose priority is higher";
    return combine(
        "larger", m_->geom_friction[3 * geom1_ + kind], "MJCF friction of " + describe_geom(geom1_),
        m_->geom_friction[3 * geom2_ + kind], "MJCF friction of " + describe_geom(geom2_));
  }

  void add_slip_tolerance() {
    const contact::ModelParameters& p = options_.parameters;
    const contact::ModelParameters standard;
    const auto from = [](double value, double default_value) {
      return value == default_value ? "default" : "given to the Simulator";
    };
    const bool is_sap = options_.contact_model == ContactModel::sap;
    add("stiction_tolerance", p.stiction_tolerance, "m/s",
        from(p.stiction_tolerance, standard.stiction_tolerance), traits_.uses_stiction_tolerance,
        traits_.uses_stiction_tolerance ? "slip below it is stiction"
                                        : "not used by " + std::string(traits_.name));
    add("friction_regularization", p.friction_regularization, "",
        from(p.friction_regularization, standard.friction_regularization),
        traits_.uses_regularization,
        !traits_.uses_regularization ? "not used by " + std::string(traits_.name)
        : is_sap                     ? "slip tolerance sigma w mu gamma_n"
                                     : "slip tolerance sigma w mu gamma_n where that is larger");
  }

  void add_mujoco_compliance() {
    const std::string from = m_->opt.enableflags & mjENBL_OVERRIDE ? "MJCF override of <option>"
                             : pair_.pair >= 0
                                 ? "MJCF " + plant::describe(m_, mjOBJ_PAIR, pair_.pair)
                                 : "MJCF of " + describe_geom(geom1_) + " and " +
                                       describe_geom(geom2_) + ", mixed by solmix and priority";
    for (int i = 0; i < mjNREF; ++i)
      add(("solref[" + std::to_string(i) + "]").c_str(), pair_.contact.solref[i], "", from, true);
    for (int i = 0; i < mjNIMP; ++i)
      add(("solimp[" + std::to_string(i) + "]").c_str(), pair_.contact.solimp[i], "", from, true);
  }

  void add_geometry() {
    const std::string from =
        pair_.pair >= 0 ? "MJCF " + plant::describe(m_, mjOBJ_PAIR, pair_.pair)
                        : "MJCF of " + describe_geom(geom1_) + " and " + describe_geom(geom2_);
    const bool is_cut = pair_.contact.dim > 3 && !traits_.takes_torsion;
    add("condim", pair_.contact.dim, "", from, true,
        is_cut ? "as 3 under " + std::string(traits_.name) : "");
    if (patch_) return;  // neither a margin nor a gap
    add("margin - gap", pair_.contact.includemargin, "m", from, true,
        "force acts below this distance");
    if (options_.contact_model == ContactModel::mujoco) return;
    const contact::Reach reach =
        contact::calc_reach(options_.contact_model, options_.parameters, time_step(), contact_);
    add("gliding gap", reach.slip * reach.time, "m per m/s of slip",
        std::string("contact model ") + std::string(traits_.name), true,
        reach.slip > 0
            ? "what slides is lifted by this: " + to_text(reach.time) + " s times friction"
            : "acts where bodies touch; what may touch within a step is foreseen");
    if (reach.distance > 0)
      add("reach", reach.distance, "m",
          "normal law " + std::string(contact::traits(options_.parameters.normal_law).name), true,
          "acts from this distance on");
  }

  const mjModel* m_;
  const plant::MaterialTable& materials_;
  const StepOptions& options_;
  const contact::ContactModelTraits& traits_;
  const contact::PropertyUse use_;
  const plant::GeomPair& pair_;
  int geom1_, geom2_;                            // in the order of MuJoCo's contact
  const std::array<plant::GeomBody, 2>* patch_;  // of the two; null: they touch in points
  contact::Contact contact_;
  plant::PairProperties properties_;
  std::vector<ExplainedNumber> out_;
};

}  // namespace

PairExplanation explain_pair(const mjModel* m, const plant::MaterialTable& materials,
                             const StepOptions& options, int geom1, int geom2) {
  validate(options);
  for (const int geom : {geom1, geom2})
    if (geom < 0 || geom >= m->ngeom)
      throw Error(ErrorCode::kUnknownName, "geom",
                  "there is no geom " + std::to_string(geom) + ", the model has " +
                      std::to_string(m->ngeom));
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
    out.why_points =
        "'" + std::string(contact::traits(options.contact_model).name) + "' has no pressure fields";
  out.numbers = Explainer(m, materials, options, pair, out.is_patch ? &bodies : nullptr).explain();
  return out;
}

}  // namespace stiction::sim
