#pragma once

#include <string>
#include <vector>

#include "sim/step/stepping.hpp"
#include "support/trials.hpp"

namespace stiction::sim {

/// A contact model and an integrator that supports it.
struct IntegratorCase {
  contact::ContactModel model;
  Integrator integrator;
};

/// Returns every contact model with each of its integrators, or a sample of them under sanitizers.
inline std::vector<IntegratorCase> make_integrator_cases() {
  std::vector<IntegratorCase> cases;
  for (const contact::ContactModelTraits& traits : contact::contact_models())
    for (const IntegratorTraits& integrator : integrators())
      if (integrator.takes(traits)) cases.push_back({traits.model, integrator.integrator});
  return support::sample_cases(cases);
}

inline std::string name_case(const testing::TestParamInfo<IntegratorCase>& info) {
  return std::string(contact::traits(info.param.model).name) + "_" +
         std::string(name_of(info.param.integrator));
}

inline StepOptions make_options_of(const IntegratorCase& c) {
  StepOptions options = make_options(c.model);
  options.integrator = c.integrator;
  options.on_failure = OnFailure::stop;
  return options;
}

}  // namespace stiction::sim
