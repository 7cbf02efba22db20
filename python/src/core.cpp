#include "bindings.hpp"
#include "stiction/contact/contact_model.hpp"

NB_MODULE(_core, m) {
  namespace nb = nanobind;
  stiction::python::bind_errors();
  stiction::python::bind_reports(m);
  stiction::python::bind_properties(m);
  stiction::python::bind_scenes(m);
  stiction::python::bind_stepper(m);
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
}
