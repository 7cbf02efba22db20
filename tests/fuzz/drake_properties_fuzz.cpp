// Drake's proximity properties in URDF and SDF files.
#include <string>

#include "fuzz/input.hpp"
#include "stiction/base/error.hpp"
#include "stiction/io/drake_properties.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stiction;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const bool is_urdf : {true, false}) {
    try {
      const io::ContactProperties properties =
          io::parse_drake_properties(text, is_urdf ? "r.urdf" : "r.sdf", is_urdf);
      fuzz::require(properties.rules.size() >= properties.materials.size());
    } catch (const Error& e) {
      fuzz::require(!e.message().empty());
    }
  }
  return 0;
}
