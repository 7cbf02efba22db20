#include "stiction/formulations/convex/similar.hpp"

#include "stiction/formulations/convex/lagged.hpp"

namespace stiction::formulations {

template <class Laws>
typename SimilarWith<Laws>::Parameters SimilarWith<Laws>::make_parameters(
    const ContactStart& start, const ModelParameters& model) {
  const typename Laws::Normal normal = Laws::make_normal(start, model);
  return {.normal = normal,
          .mu = start.mu,
          .slip_tolerance = calc_regularized_slip_tolerance(
              model, start, normal.calc_start_impulse(start.v_c0.z)),
          .friction = Laws::make_friction(model)};
}

template struct SimilarWith<DefaultLaws>;
template struct SimilarWith<ChosenLaws>;

}  // namespace stiction::formulations
