#pragma once

namespace stiction::python {

/// True if a handler of a signal, such as that of Ctrl-C, raised an exception, or recorded the
/// signal for later. Python runs handlers on the main thread alone. Takes the GIL.
bool has_signal();

}  // namespace stiction::python
