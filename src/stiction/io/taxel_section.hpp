#pragma once

#include <functional>
#include <string>

#include <yaml-cpp/yaml.h>

#include "stiction/base/error.hpp"
#include "stiction/io/contact_properties.hpp"

namespace stiction::io {

/// Reads the declaration of a grid of taxels in a contact properties file.
class TaxelSection {
 public:
  /// Reports a fault at a node.
  using AddFault =
      std::function<void(ErrorCode code, const YAML::Node& at, const std::string& message)>;

  TaxelSection(const YAML::Node& name, AddFault add_fault);

  /// Reads the mapping with the keys `geom`, `size`, `shape`, `pos`, `normal` and `first_axis`.
  TaxelDeclaration read(const YAML::Node& node);

 private:
  void read_entry(const YAML::Node& key, const YAML::Node& value);
  void read_numbers(const YAML::Node& key, const YAML::Node& value, int count, const char* what,
                    double* out);
  void check_whole(const YAML::Node& node);
  void refuse(const YAML::Node& key, const YAML::Node& value, const std::string& range);

  YAML::Node name_;
  std::string where_;  // "taxels 'tip'"
  AddFault add_fault_;
  TaxelDeclaration out_;
  bool is_valid_ = true;
};

}  // namespace stiction::io
