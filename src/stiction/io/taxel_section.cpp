#include "stiction/io/taxel_section.hpp"

#include <cmath>
#include <set>
#include <utility>

#include "stiction/io/yaml_document.hpp"

namespace stiction::io {
namespace {

constexpr int kMaxTaxels = 1'000'000;  // a larger grid is a mistake, and would exhaust the memory
// Squares and quotients of lengths in this range are finite and above 0.
constexpr double kMinLength = 1e-9, kMaxLength = 1e9;  // [m]

/// Returns a value as the file has it; a long list or a mapping by its kind.
std::string show(const YAML::Node& value) {
  constexpr std::size_t kMaxShown = 8;
  if (!value.IsSequence() || value.size() > kMaxShown) return quote(value);
  std::string text = "[";
  for (const YAML::Node& item : value) {
    if (text.size() > 1) text += ", ";
    text += item.IsScalar() ? item.Scalar() : quote(item);
  }
  return text + "]";
}

}  // namespace

TaxelSection::TaxelSection(const YAML::Node& name, AddFault add_fault)
    : name_(name), where_("taxels '" + name.Scalar() + "'"), add_fault_(std::move(add_fault)) {
  out_.grid.name = name.Scalar();
}

TaxelDeclaration TaxelSection::read(const YAML::Node& node) {
  if (!node.IsMap()) {
    add_fault_(ErrorCode::kSyntax, node.IsNull() ? name_ : node,
               where_ + " is " + show(node) + ", must be a mapping with geom, size and shape");
    return std::move(out_);
  }
  if (name_.Scalar().empty())
    add_fault_(ErrorCode::kInvalidValue, name_,
               where_ + ": the name is empty; give the sensor one");
  std::set<std::string> seen;
  for (const auto& entry : node) {
    if (!entry.first.IsScalar() || !seen.insert(entry.first.Scalar()).second) {
      add_fault_(ErrorCode::kInvalidValue, entry.first,
                 where_ + " has " + quote(entry.first) + " as a key, or has it twice");
      is_valid_ = false;
      continue;
    }
    read_entry(entry.first, entry.second);
  }
  if (is_valid_) check_whole(node);
  return std::move(out_);
}

void TaxelSection::read_entry(const YAML::Node& key, const YAML::Node& value) {
  const std::string& name = key.Scalar();
  plant::TaxelGrid& grid = out_.grid;
  double shape[2] = {0, 0};
  double vector[3] = {0, 0, 0};
  const auto read_vector = [&](math::Vec3* to) {
    read_numbers(key, value, 3, "a list of 3 finite numbers", vector);
    *to = {vector[0], vector[1], vector[2]};
  };
  if (name == "geom") {
    if (value.IsScalar() && !value.Scalar().empty())
      out_.geom = value.Scalar();
    else
      refuse(key, value, "the name of a geom");
  } else if (name == "size") {
    constexpr const char* kRange = "2 lengths from 1e-9 to 1e9 m, such as [0.02, 0.025]";
    read_numbers(key, value, 2, kRange, grid.size.data());
    for (const double size : grid.size)
      if (is_valid_ && !(size >= kMinLength && size <= kMaxLength)) refuse(key, value, kRange);
  } else if (name == "shape") {
    constexpr const char* kRange = "2 whole numbers from 1 whose product is at most 1000000";
    read_numbers(key, value, 2, kRange, shape);
    if (!is_valid_) return;
    if (shape[0] >= 1 && shape[1] >= 1 && shape[0] * shape[1] <= kMaxTaxels &&
        shape[0] == std::floor(shape[0]) && shape[1] == std::floor(shape[1]))
      grid.shape = {static_cast<int>(shape[0]), static_cast<int>(shape[1])};
    else
      refuse(key, value, kRange);
  } else if (name == "pos") {
    constexpr const char* kRange = "a list of 3 finite numbers from -1e9 to 1e9 m";
    read_numbers(key, value, 3, kRange, vector);
    for (const double x : vector)
      if (is_valid_ && !(std::abs(x) <= kMaxLength)) refuse(key, value, kRange);
    grid.pos = {vector[0], vector[1], vector[2]};
  } else if (name == "normal") {
    read_vector(&grid.normal);
  } else if (name == "first_axis") {
    read_vector(&grid.first_axis);
  } else {
    is_valid_ = false;
    add_fault_(ErrorCode::kUnknownName, key,
               where_ + ": there is no key '" + name + "'" +
                   suggest_name(name, {"geom", "size", "shape", "pos", "normal", "first_axis"}));
  }
}

/// Reads a list of `count` finite numbers. Any other value is a fault with the text `what`.
void TaxelSection::read_numbers(const YAML::Node& key, const YAML::Node& value, int count,
                                const char* what, double* out) {
  bool is_list = value.IsSequence() && value.size() == static_cast<std::size_t>(count);
  for (int i = 0; is_list && i < count; ++i) {
    out[i] = parse_number(value[i]);
    is_list = std::isfinite(out[i]);
  }
  if (!is_list) refuse(key, value, what);
}

/// Checks what several keys decide together.
void TaxelSection::check_whole(const YAML::Node& node) {
  for (const char* key : {"geom", "size", "shape"})
    if (!node[key])
      add_fault_(ErrorCode::kInvalidValue, name_, where_ + " has no " + key + "; give one");
  constexpr double kLeastSine = 1e-6;
  const auto &n = out_.grid.normal, &a = out_.grid.first_axis;
  if (!(norm(cross(n, a)) > kLeastSine * norm(n) * norm(a)))
    add_fault_(ErrorCode::kInvalidValue, name_,
               where_ +
                   ": normal and first_axis are parallel, or one of them is 0; give two directions "
                   "that span a plane");
}

void TaxelSection::refuse(const YAML::Node& key, const YAML::Node& value,
                          const std::string& range) {
  is_valid_ = false;
  add_fault_(ErrorCode::kInvalidValue, value.IsNull() ? key : value,
             where_ + ": " + key.Scalar() + " is " + show(value) + ", must be " + range);
}

}  // namespace stiction::io
