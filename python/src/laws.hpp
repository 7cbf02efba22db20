#pragma once

#include <optional>

#include "bindings.hpp"
#include "stiction/contact/law_tables.hpp"

/// Laws of tables as dicts of lists, which JSON can hold.
namespace stiction::python {

/// Makes a table of the dict that make_dict returns.
/// @throws Error if a list is missing or has entries that are not numbers
contact::NormalLawTable make_normal_law_table(nb::handle content);
contact::FrictionLawTable make_friction_law_table(nb::handle content);

nb::dict make_dict(const contact::NormalLawTable& table);
nb::dict make_dict(const contact::FrictionLawTable& table);

}  // namespace stiction::python
