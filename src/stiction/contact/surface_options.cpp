#include "stiction/contact/surface_options.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "stiction/base/error.hpp"

namespace stiction::contact {
namespace {

// In the order of the enumerators.
constexpr std::string_view kTessellations[] = {"polygon", "triangle"};
constexpr std::string_view kQuadratures[] = {"centroid", "moment_exact"};

int parse(const char* option, std::string_view name, std::span<const std::string_view> names) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at != names.end()) return static_cast<int>(at - names.begin());
  throw Error(ErrorCode::kUnknownName, option,
              "there is no '" + std::string(name) + "'" +
                  suggest_name(std::string(name), {names.begin(), names.end()}));
}

}  // namespace

std::span<const std::string_view> tessellation_names() { return kTessellations; }
std::span<const std::string_view> quadrature_names() { return kQuadratures; }

std::string_view name_of(geometry::Tessellation tessellation) {
  return kTessellations[static_cast<int>(tessellation)];
}
std::string_view name_of(geometry::Quadrature quadrature) {
  return kQuadratures[static_cast<int>(quadrature)];
}

geometry::Tessellation parse_tessellation(std::string_view name) {
  return static_cast<geometry::Tessellation>(parse("tessellation", name, kTessellations));
}
geometry::Quadrature parse_quadrature(std::string_view name) {
  return static_cast<geometry::Quadrature>(parse("quadrature", name, kQuadratures));
}

}  // namespace stiction::contact
