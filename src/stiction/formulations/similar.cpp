#include "stiction/formulations/similar.hpp"

#include "stiction/formulations/lagged.hpp"

namespace stiction::formulations {

Similar::Row Similar::make_row(const ContactStart& start, const ModelParameters& parameters) {
  return {.normal = make_hunt_crossley(start),
          .mu = start.mu,
          .slip_tolerance = calc_regularized_slip_tolerance(parameters, start,
                                                            calc_lagged_normal_impulse(start))};
}

}  // namespace stiction::formulations
