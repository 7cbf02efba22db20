#include "stiction/sim/batch/batch_fields.hpp"

namespace stiction::sim {

bool is_body_force(std::string_view field) {
  return field == "cacc" || field == "cfrc_int" || field == "cfrc_ext";
}

std::span<std::byte> BatchOutputs::bind(const mjModel* m, int num_sims, const std::string& name) {
  const auto known = outputs_.find(name);
  if (known != outputs_.end()) return known->second.values;
  const auto field = plant::find_data_field(m, name);
  if (!field) return {};
  // At least one number, so that an empty field has an address.
  const std::size_t size =
      std::max(field->size * static_cast<std::size_t>(num_sims), sizeof(mjtNum));
  Output& output = outputs_[name];
  output = {*field, std::vector<std::byte>(size)};
  has_body_forces_ |= is_body_force(name);
  return output.values;
}

void BatchOutputs::copy(const mjData* d, int sim) {
  for (auto& [name, output] : outputs_)
    std::copy_n(output.field.in(d), output.field.size, output.of(sim));
}

void BatchOutputs::clear(int sim) {
  for (auto& [name, output] : outputs_)
    std::fill_n(output.of(sim), output.field.size, std::byte{0});
}

}  // namespace stiction::sim
