#pragma once

#include <string>

#include "stiction/base/error.hpp"

namespace stiction::support {

/// Returns the message of the Error that a function throws; empty if it throws none.
template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace stiction::support
