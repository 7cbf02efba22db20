#pragma once

#include <vector>

#include <nanobind/nanobind.h>

#include "stiction/sim/memory/anchor_report.hpp"

namespace stiction::python {

/// Returns a NumPy array for each member of the anchors, by its name.
nanobind::dict make_arrays(const std::vector<sim::AnchorReport>& anchors);

}  // namespace stiction::python
