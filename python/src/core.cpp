#include "bindings.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/law_kinds.hpp"
#include "stiction/contact/surface_options.hpp"

NB_MODULE(_core, m) {
  namespace nb = nanobind;
  stiction::python::bind_errors();
  stiction::python::bind_meshes(m);
  stiction::python::bind_patches(m);
  stiction::python::bind_patch_forces(m);
  stiction::python::bind_reports(m);
  stiction::python::bind_properties(m);
  stiction::python::bind_scenes(m);
  stiction::python::bind_stepper(m);
  stiction::python::bind_surfaces(m);
  m.attr("MUJOCO_VERSION") = mjVERSION_HEADER;
  m.def(
      "contact_models",
      [] {
        nb::list names;
        for (const auto& traits : stiction::contact::contact_models())
          names.append(nb::str(traits.name.data(), traits.name.size()));
        return names;
      },
      nb::sig("def contact_models() -> list[str]"), "Names of the contact models.");
  m.def(
      "normal_laws",
      [] {
        nb::list names;
        for (const auto& traits : stiction::contact::normal_laws())
          names.append(nb::str(traits.name.data(), traits.name.size()));
        return names;
      },
      nb::sig("def normal_laws() -> list[str]"), "Names of the normal laws.");
  m.def(
      "tessellations",
      [] {
        nb::list names;
        for (const std::string_view name : stiction::contact::tessellation_names())
          names.append(nb::str(name.data(), name.size()));
        return names;
      },
      nb::sig("def tessellations() -> list[str]"), "How faces of contact surfaces may be cut.");
  m.def(
      "quadratures",
      [] {
        nb::list names;
        for (const std::string_view name : stiction::contact::quadrature_names())
          names.append(nb::str(name.data(), name.size()));
        return names;
      },
      nb::sig("def quadratures() -> list[str]"), "Names of the quadrature rules of faces.");
  m.def(
      "friction_laws",
      [] {
        nb::list names;
        for (const std::string_view name : stiction::contact::friction_regularization_names())
          names.append(nb::str(name.data(), name.size()));
        return names;
      },
      nb::sig("def friction_laws() -> list[str]"), "Names of the regularizations of friction.");
}
