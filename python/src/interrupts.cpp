#include "interrupts.hpp"

#include "bindings.hpp"

namespace stiction::python {

bool has_signal() {
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) return true;
  try {
    return nb::cast<bool>(nb::module_::import_("stiction.binding.interrupts").attr("is_pending")());
  } catch (nb::python_error& e) {
    e.restore();  // the step ends, and its caller raises the exception
    return true;
  }
}

}  // namespace stiction::python
