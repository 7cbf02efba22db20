#include <string_view>
#include <vector>

#include "bindings.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "stiction/contact/normal_laws.hpp"
#include "stiction/contact/patch_contact.hpp"
#include "stiction/numerics/active_set_qp.hpp"
#include "stiction/numerics/lcp_solvers.hpp"
#include "stiction/sim/memory/warning_memory.hpp"
#include "stiction/sim/options/integrator.hpp"

namespace stiction::python {
namespace {

std::string_view name_of(std::string_view name) { return name; }
template <class Traits>
std::string_view name_of(const Traits& traits) {
  return traits.name;
}

/// Adds a function to the module that lists the names in a range of names or of traits.
template <class Range>
void bind_names(nanobind::module_& m, const char* function, const char* signature,
                const char* docstring, Range (*list)()) {
  namespace nb = nanobind;
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

void bind_all_names(nanobind::module_& m) {
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
}

}  // namespace
}  // namespace stiction::python

NB_MODULE(_core, m) {
  stiction::python::bind_errors();
  stiction::python::bind_cones(m);
  stiction::python::bind_laws(m);
  stiction::python::bind_lcp(m);
  stiction::python::bind_meshes(m);
  stiction::python::bind_models(m);
  stiction::python::bind_mujoco_constants(m);
  stiction::python::bind_mujoco_layout(m);
  stiction::python::bind_options(m);
  stiction::python::bind_patches(m);
  stiction::python::bind_patch_forces(m);
  stiction::python::bind_taxels(m);
  stiction::python::bind_trace(m);
  stiction::python::bind_advance_report(m);
  stiction::python::bind_reports(m);
  stiction::python::bind_properties(m);
  stiction::python::bind_scenes(m);
  stiction::python::bind_stepper(m);
  stiction::python::bind_surfaces(m);
  stiction::python::bind_batch(m);
  stiction::python::bind_yaml(m);
  stiction::python::bind_all_names(m);
  m.attr("TOO_DEEP") = stiction::sim::kTooDeep;
}
