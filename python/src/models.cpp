// Names and traits of contact models, and the names of everything else that users choose.
#include <string>
#include <string_view>
#include <vector>

#include <nanobind/stl/string_view.h>

#include "bindings.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/normal_laws.hpp"
#include "stiction/contact/patch_contact.hpp"
#include "stiction/numerics/active_set_qp.hpp"
#include "stiction/numerics/lcp_solvers.hpp"
#include "stiction/sim/advance/options.hpp"
#include "stiction/sim/options/step_options.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;
using contact::ContactModelTraits;

std::string_view name_of(std::string_view name) { return name; }
template <class Traits>
std::string_view name_of(const Traits& traits) {
  return traits.name;
}

/// Adds a function to the module that lists the names in a range of names or of traits.
template <class Range>
void bind_names(nb::module_& m, const char* function, const char* signature, const char* docstring,
                Range (*list)()) {
  m.def(
      function,
      [list] {
        nb::list names;
        for (const auto& entry : list()) {
          const std::string_view name = name_of(entry);
          names.append(nb::str(name.data(), name.size()));
        }
        return names;
      },
      nb::sig(signature), docstring);
}

std::vector<std::string_view> rigid_contact_models() {
  std::vector<std::string_view> names;
  for (const contact::ContactModelTraits& traits : contact::contact_models())
    if (traits.is_rigid) names.push_back(traits.name);
  return names;
}

std::vector<std::string_view> lcp_solvers_of_this_build() {
  std::vector<std::string_view> names;
  for (const std::string_view name : numerics::lcp_solvers())
    if (name != "active_set" || numerics::ActiveSetQp::is_available()) names.push_back(name);
  return names;
}

void bind_all_names(nb::module_& m) {
  bind_names(m, "contact_models", "def contact_models() -> list[str]",
             "Names of the contact models.", contact::contact_models);
  bind_names(m, "rigid_contact_models", "def rigid_contact_models() -> list[str]",
             "Names of the contact models with rigid surfaces.", rigid_contact_models);
  bind_names(m, "integrators", "def integrators() -> list[str]", "Names of the integrators.",
             sim::integrators);
  bind_names(m, "lcp_solvers", "def lcp_solvers() -> list[str]",
             "Names of the LCP solvers of this build.", lcp_solvers_of_this_build);
  bind_names(m, "normal_laws", "def normal_laws() -> list[str]", "Names of the normal laws.",
             contact::normal_laws);
  bind_names(m, "tessellations", "def tessellations() -> list[str]",
             "Names of the tessellations of contact surfaces.", contact::tessellation_names);
  bind_names(m, "quadratures", "def quadratures() -> list[str]",
             "Names of the quadrature rules of faces.", contact::quadrature_names);
  bind_names(m, "friction_laws", "def friction_laws() -> list[str]", "Names of the friction laws.",
             contact::friction_law_names);
  m.def(
      "resolve_friction_law",
      [](std::string_view contact_model, std::string_view friction_law) {
        return contact::name_of(
            contact::choose_friction_law(contact::parse_contact_model(contact_model),
                                         contact::parse_friction_regularization(friction_law)));
      },
      nb::arg("contact_model"), nb::arg("friction_law"),
      nb::sig("def resolve_friction_law(contact_model: str, friction_law: str) -> str"),
      "Returns the law that a model has under a friction law: 'automatic' stands for another one.");
}

void bind_traits(nb::module_& m) {
  nb::class_<ContactModelTraits>(
      m, "ContactModelTraits",
      "The traits of a contact model: its properties, and what it reads and supports.")
      .def_ro("name", &ContactModelTraits::name, "The model's name.")
      .def_ro("color", &ContactModelTraits::color,
              "The model's color in plots, '#rrggbb'; empty if it has none.")
      .def_ro("has_error_bound", &ContactModelTraits::has_error_bound,
              "True if the model is a convex problem, so that a certificate bounds the error.")
      .def_ro("is_rigid", &ContactModelTraits::is_rigid, "True if surfaces are rigid.")
      .def_ro("is_mj_step", &ContactModelTraits::is_mj_step,
              "True if MuJoCo's mj_step takes the step. Such a step is not certified.")
      .def_ro("takes_laws", &ContactModelTraits::takes_laws,
              "True if the model supports normal_law and friction_law.")
      .def_ro("takes_anchors", &ContactModelTraits::takes_anchors,
              "True if the model supports friction_law 'elastic'.")
      .def_ro("takes_patches", &ContactModelTraits::takes_patches,
              "True if the model supports pressure-field contact.")
      .def_ro("lifts_sliding", &ContactModelTraits::lifts_sliding,
              "True if friction lifts a body that slides.")
      .def_ro("acts_ahead", &ContactModelTraits::acts_ahead,
              "True if contacts act earlier by their relaxation time.")
      .def_ro("has_smooth_forces", &ContactModelTraits::has_smooth_forces,
              "True if forces are smooth functions of the state between impacts.")
      .def_prop_ro(
          "is_complementary",
          [](const ContactModelTraits& traits) {
            return traits.tangents != contact::TangentPolicy::kLeastEnergy;
          },
          "True if contacts press only where surfaces touch at the end of a step, and friction of "
          "each takes energy. Otherwise only the energy of all impulses together is least.")
      .def_ro("uses_friction", &ContactModelTraits::uses_friction,
              "True if the model reads sliding friction coefficients.")
      .def_ro("limitation", &ContactModelTraits::limitation,
              "What the model gets wrong by design, at any time step; empty if nothing is known.")
      .def_prop_ro(
          "can_advance", &sim::can_advance,
          "True if Simulator.advance takes the model: steps of any length are the same model.")
      .def_prop_ro(
          "has_viscous_friction",
          [](const ContactModelTraits& model) {
            return model.tangents == contact::TangentPolicy::kViscous;
          },
          "True if a rigid model's friction is viscous.")
      .def_prop_ro(
          "uses_stiction_tolerance",
          [](const ContactModelTraits& model) { return model.options.stiction_tolerance; },
          "True if the model reads stiction_tolerance.")
      .def_prop_ro(
          "uses_friction_regularization",
          [](const ContactModelTraits& model) { return model.options.friction_regularization; },
          "True if the model reads friction_regularization.");
  m.def(
      "contact_model_traits",
      [](std::string_view name) { return contact::traits(contact::parse_contact_model(name)); },
      "name"_a, "Returns the traits of a contact model.");
}

}  // namespace

void bind_models(nb::module_& m) {
  bind_traits(m);
  bind_all_names(m);
}

}  // namespace stiction::python
