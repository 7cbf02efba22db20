#include <string>
#include <string_view>

#include <nanobind/stl/string_view.h>

#include "bindings.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/sim/advance/options.hpp"

namespace stiction::python {
namespace {

using namespace nb::literals;
using contact::ContactModelTraits;

}  // namespace

void bind_models(nb::module_& m) {
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

}  // namespace stiction::python
