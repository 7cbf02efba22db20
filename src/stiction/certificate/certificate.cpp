#include "stiction/certificate/certificate.hpp"

#include <algorithm>
#include <type_traits>

#include "stiction/math/scalar_functions.hpp"

namespace stiction::certificate {
namespace {

template <class T>
T merge_values(Merge merge, T a, T b) {
  switch (merge) {
    case Merge::kLarger: return static_cast<T>(math::max_or_nan(a, b));
    case Merge::kSmaller: return static_cast<T>(-math::max_or_nan(-a, -b));
    case Merge::kBoth: return std::min(a, b);  // false < true
  }
  return a;
}

}  // namespace

void keep_worst(const Certificate& step, Certificate* worst) {
  for_each_field([&](const auto& field) {
    auto& value = field.in(*worst);
    value = merge_values(field.merge, value, field.in(step));
  });
  if (!step.ok) worst->failed = step.failed;
}

void scale_to_velocities(double duration, Certificate* certificate) {
  const double factors[] = {1, duration, duration * duration};
  for_each_field([&]<class T, class Owner>(const Field<T, Owner>& field) {
    if constexpr (std::is_same_v<T, double>) field.in(*certificate) *= factors[field.scale_power];
  });
}

}  // namespace stiction::certificate
