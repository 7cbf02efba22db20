#pragma once

#include "bindings.hpp"
#include "stiction/contact/law_tables.hpp"
#include "stiction/io/contact_properties.hpp"
#include "stiction/sim/options/step_options.hpp"

namespace stiction::python {

/// Makes options from a dict of names and values. Options that are not in the dict have their
/// defaults. validate() checks the ranges.
/// @throws Error of kUnknownName if no option or choice has a name, of kWrongShape if a value has
///         another type
sim::StepOptions make_step_options(const nb::dict& given);

/// Does the same with the laws of a properties file, where the dict has none.
sim::StepOptions make_step_options(const nb::dict& given, const io::ContactProperties& properties);

/// Returns the values of all options by name. make_step_options makes the same options from them.
nb::dict make_dict(const sim::StepOptions& options);

// Laws of tables are dicts of lists, which JSON can hold.

/// Makes a table of the dict that make_dict returns.
/// @throws Error if a list is missing or has entries that are not numbers
contact::NormalLawTable make_normal_law_table(nb::handle content);
contact::FrictionLawTable make_friction_law_table(nb::handle content);

nb::dict make_dict(const contact::NormalLawTable& table);
nb::dict make_dict(const contact::FrictionLawTable& table);

}  // namespace stiction::python
