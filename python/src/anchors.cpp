#include "anchors.hpp"

#include <array>
#include <cstdint>

#include "owned_arrays.hpp"

namespace stiction::python {

namespace nb = nanobind;
using sim::AnchorReport;

namespace {

nb::object make_column(const std::vector<AnchorReport>& anchors, double AnchorReport::*member) {
  std::vector<double> values;
  for (const AnchorReport& anchor : anchors) values.push_back(anchor.*member);
  return make_array(values, 1);
}

nb::object make_column(const std::vector<AnchorReport>& anchors, bool AnchorReport::*member) {
  std::vector<std::uint8_t> values;
  for (const AnchorReport& anchor : anchors) values.push_back(anchor.*member);
  return make_array(values, 1);
}

nb::object make_column(const std::vector<AnchorReport>& anchors, math::Vec3 AnchorReport::*member) {
  std::vector<double> values;
  for (const AnchorReport& anchor : anchors) {
    const math::Vec3& v = anchor.*member;
    values.insert(values.end(), {v.x, v.y, v.z});
  }
  return make_array(values, 3);
}

nb::object make_column(const std::vector<AnchorReport>& anchors,
                       std::array<int, 2> AnchorReport::*member) {
  std::vector<int> values;
  for (const AnchorReport& anchor : anchors) {
    const std::array<int, 2>& pair = anchor.*member;
    values.insert(values.end(), pair.begin(), pair.end());
  }
  return make_array(values, 2);
}

}  // namespace

nb::dict make_arrays(const std::vector<AnchorReport>& anchors) {
  nb::dict out;
  const auto add = [&](const char* name, auto member) { out[name] = make_column(anchors, member); };
  add("geoms", &AnchorReport::geoms);
  add("elements", &AnchorReport::elements);
  add("position", &AnchorReport::position);
  add("normal", &AnchorReport::normal);
  add("stretch", &AnchorReport::stretch);
  add("twist", &AnchorReport::twist);
  add("force", &AnchorReport::force);
  add("stiffness", &AnchorReport::stiffness);
  add("slipping", &AnchorReport::slips);
  return out;
}

}  // namespace stiction::python
