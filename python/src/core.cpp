// The module: its functions and classes, and the translation of errors.
#include <string>

#include "bindings.hpp"
#include "stiction/base/error.hpp"
#include "stiction/sim/memory/warning_memory.hpp"

namespace stiction::python {
namespace {

/// Raises stiction.Error for Error.
void bind_errors() {
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const Error& e) {
      constexpr const char* kCodes[] = {"file_not_found", "syntax",      "invalid_value",
                                        "unknown_name",   "unsupported", "wrong_shape",
                                        "version",        "mujoco",      "step_failed"};
      const nb::object type = nb::module_::import_("stiction.errors").attr("Error");
      // A message may quote a file that is not UTF-8.
      const auto decode = [](const std::string& text) {
        return nb::steal(
            PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
      };
      const nb::object value =
          type(kCodes[static_cast<int>(e.code())], decode(e.where()), decode(e.message()));
      PyErr_SetObject(type.ptr(), value.ptr());
    }
  });
}

}  // namespace
}  // namespace stiction::python

NB_MODULE(_core, m) {
  using namespace stiction::python;
  nb::set_leak_warnings(false);  // an uncaught exception keeps objects until the process ends
  bind_errors();
  bind_inputs(m);
  bind_meshes(m);
  bind_models(m);
  bind_mujoco_layout(m);
  bind_options(m);
  bind_solvers(m);
  bind_contacts(m);
  bind_taxels(m);
  bind_reports(m);
  bind_stepper(m);
  bind_batch(m);
  bind_surfaces(m);
  m.attr("TOO_DEEP") = stiction::sim::kTooDeep;
}
