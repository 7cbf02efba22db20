#pragma once

#include <vector>

#include "stiction/sim/report/step_report.hpp"

namespace stiction::sim {

/// Returns the contacts of many simulations as one list.
/// @param offsets set to the places where those of each begin, and the end; size reports.size() + 1
ContactReport merge(const std::vector<ContactReport>& reports, std::vector<int>* offsets);

/// Returns the patches of many simulations as one list. `face_start` and `vertex_start` count faces
/// and vertices of the list.
PatchReport merge(const std::vector<PatchReport>& reports, std::vector<int>* offsets);

}  // namespace stiction::sim
