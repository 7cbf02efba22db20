#pragma once

#include "bindings.hpp"
#include "stiction/sim/step_options.hpp"

namespace stiction::python {

/// Makes options from a dict of names and values; options that it leaves out have their defaults.
/// @throws Error of kUnknownName for a name that no option or choice has, of kWrongShape for a
///         value of another type. Ranges are checked by validate().
sim::StepOptions make_step_options(const nb::dict& given);

/// The values of all options by name, from which make_step_options makes the same options again.
nb::dict make_dict(const sim::StepOptions& options);

}  // namespace stiction::python
