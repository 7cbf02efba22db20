#include "stiction/formulations/convex/similar.hpp"

#include "stiction/formulations/convex/lagged.hpp"

namespace stiction::formulations {

template <class Laws>
typename SimilarWith<Laws>::Row SimilarWith<Laws>::make_row(const ContactStart& start,
                                                            const ModelParameters& parameters) {
  const typename Laws::Normal normal = Laws::make_normal(start, parameters);
  return {.normal = normal,
          .mu = start.mu,
          .slip_tolerance = calc_regularized_slip_tolerance(
              parameters, start, normal.calc_start_impulse(start.v_c0.z)),
          .friction = Laws::make_friction(parameters)};
}

template struct SimilarWith<DefaultLaws>;
template struct SimilarWith<ChosenLaws>;

}  // namespace stiction::formulations
