// Contact properties in YAML, and their assignment to the geoms of a model.
#include <algorithm>
#include <string>

#include "fuzz/input.hpp"
#include "stiction/base/error.hpp"
#include "stiction/io/contact_properties.hpp"
#include "stiction/io/material_assignment.hpp"
#include "support/scene.hpp"

namespace {

using namespace stiction;

const support::Scene& make_hand() {
  static const support::Scene scene(
      R"(<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
<body name="finger"><freejoint/><geom name="left_pad" size="0.1"/><geom size="0.1" pos="1 0 0"/></body>
<body name="palm"><freejoint/><geom name="pad" type="box" size="0.1 0.1 0.1"/></body>
</worldbody></mujoco>)");
  return scene;
}

/// Fuzzed texts must not choose which files are opened.
bool has_files(const io::ContactProperties& properties) {
  return std::ranges::any_of(properties.materials, [](const io::NamedMaterial& material) {
    return !material.values.pressure_field.empty();
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const io::ContactProperties properties = io::parse_contact_properties(text, "a.contact.yaml");
    if (!has_files(properties)) (void)io::assign_materials(make_hand().model, properties);
  } catch (const Error& e) {
    fuzz::require(!e.message().empty());
  }
  return 0;
}
