#include <string>

#include "bindings.hpp"
#include "stiction/base/error.hpp"

namespace stiction::python {

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

}  // namespace stiction::python
