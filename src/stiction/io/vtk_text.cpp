#include "stiction/io/vtk_text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace stiction::io {
namespace {

struct NumberType {
  std::string_view name;
  std::size_t size;
  bool is_signed;
};

/// Every version of VTK that uses the name vtkIdType writes it as int.
constexpr std::array kTypes = {NumberType{"double", 8, true},
                               NumberType{"float", 4, true},
                               NumberType{"int", 4, true},
                               NumberType{"vtktypeint64", 8, true},
                               NumberType{"vtktypeint32", 4, true},
                               NumberType{"vtkIdType", 4, true},
                               NumberType{"long", 8, true},
                               NumberType{"unsigned_int", 4, false},
                               NumberType{"unsigned_long", 8, false},
                               NumberType{"short", 2, true},
                               NumberType{"unsigned_short", 2, false},
                               NumberType{"char", 1, true},
                               NumberType{"signed_char", 1, true},
                               NumberType{"unsigned_char", 1, false},
                               NumberType{"vtktypeuint64", 8, false},
                               NumberType{"vtktypeuint32", 4, false},
                               NumberType{"vtktypeint16", 2, true},
                               NumberType{"vtktypeuint16", 2, false},
                               NumberType{"vtktypeint8", 1, true},
                               NumberType{"vtktypeuint8", 1, false}};

const NumberType* find_type(std::string_view name) {
  const auto* found = std::find_if(kTypes.begin(), kTypes.end(),
                                   [&](const NumberType& type) { return type.name == name; });
  return found == kTypes.end() ? nullptr : found;
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Reads a number of type T.
/// @return false if the word is not such a number, or is out of its range
template <class T>
bool parse(std::string_view word, T* value) {
  if (word.starts_with('+') && word.size() > 1 && word[1] != '-') word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), *value);
  return error == std::errc() && end == word.data() + word.size();
}

}  // namespace

VtkText::VtkText(std::string_view bytes, std::string origin)
    : bytes_(bytes), origin_(std::move(origin)) {}

std::string VtkText::where() const {
  return is_binary_ ? origin_ + ": byte " + std::to_string(start_)
                    : origin_ + ":" + std::to_string(start_line_);
}

void VtkText::fail(ErrorCode code, const std::string& message) const {
  throw Error(code, where(), message);
}

std::string VtkText::quote(std::string_view word) {
  constexpr std::size_t kMaxQuoted = 40;
  std::string quoted = "'";
  for (const char c : word.substr(0, kMaxQuoted)) quoted += c >= ' ' && c <= '~' ? c : '?';
  quoted += word.size() > kMaxQuoted ? "...'" : "'";
  return quoted;
}

std::string_view VtkText::read_line() {
  start_ = position_;
  start_line_ = line_;
  const std::size_t end = std::min(bytes_.find('\n', position_), bytes_.size());
  std::string_view line = bytes_.substr(position_, end - position_);
  position_ = std::min(end + 1, bytes_.size());
  ++line_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

void VtkText::skip_blanks() {
  for (; position_ < bytes_.size(); ++position_) {
    const char c = bytes_[position_];
    if (c == '#') position_ = std::min(bytes_.find('\n', position_), bytes_.size());
    if (position_ == bytes_.size()) return;
    if (bytes_[position_] == '\n') ++line_;
    if (!is_blank(bytes_[position_])) return;
  }
}

std::string_view VtkText::peek_word() {
  skip_blanks();
  std::size_t end = position_;
  while (end < bytes_.size() && !is_blank(bytes_[end])) ++end;
  return bytes_.substr(position_, end - position_);
}

std::string_view VtkText::read_word(const char* what) {
  const std::string_view word = peek_word();
  start_ = position_;
  start_line_ = line_;
  if (word.empty()) fail(ErrorCode::kSyntax, std::string("the file ends before ") + what);
  position_ += word.size();
  return word;
}

std::size_t VtkText::read_count(const char* what) {
  const std::string_view word = read_word(what);
  std::size_t count = 0;
  if (!parse(word, &count))
    fail(ErrorCode::kSyntax,
         std::string(what) + " is " + quote(word) + ", must be a whole number of at least 0");
  return count;
}

void VtkText::end_announcement() {
  if (!is_binary_) return;
  start_ = position_;
  while (position_ < bytes_.size() && bytes_[position_] != '\n' && is_blank(bytes_[position_]))
    ++position_;
  if (position_ == bytes_.size()) fail(ErrorCode::kSyntax, "the file ends before its numbers");
  if (bytes_[position_] != '\n')
    fail(ErrorCode::kSyntax, "binary numbers must begin after the end of a line");
  ++position_;
}

std::size_t VtkText::size_of(std::string_view type) {
  const NumberType* found = find_type(type);
  return found ? found->size : 0;
}

void VtkText::expect_numbers(std::size_t count, std::size_t num_components,
                             std::string_view type) const {
  // A number as text takes at least one digit and one blank; the last one needs no blank.
  const std::size_t left = is_binary_ ? num_left() / size_of(type) : (num_left() + 1) / 2;
  if (num_components > 0 && count > left / num_components)
    fail(ErrorCode::kSyntax,
         "announces " + std::to_string(count) +
             (num_components > 1 ? " x " + std::to_string(num_components) : "") +
             " numbers, more than the rest of the file can hold; is it truncated?");
}

std::uint64_t VtkText::read_bytes(std::size_t size, const char* what) {
  start_ = position_;
  if (num_left() < size) fail(ErrorCode::kSyntax, std::string("the file ends before ") + what);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes_[position_ + i]);
  position_ += size;
  return value;
}

std::int64_t VtkText::read_integer(std::string_view type, const char* what) {
  std::int64_t value = 0;
  if (is_binary_) {
    const NumberType& number = *find_type(type);
    const std::uint64_t bits = read_bytes(number.size, what);
    const std::size_t shift = 64 - 8 * number.size;
    return number.is_signed ? static_cast<std::int64_t>(bits << shift) >> shift
                            : static_cast<std::int64_t>(bits);
  }
  const std::string_view word = read_word(what);
  if (!parse(word, &value))
    fail(ErrorCode::kSyntax, std::string(what) + " is " + quote(word) + ", must be a whole number");
  return value;
}

double VtkText::read_real(std::string_view type, const char* what) {
  double value = 0;
  std::string text;
  if (is_binary_) {
    const std::uint64_t bits = read_bytes(size_of(type), what);
    value = type == "float"
                ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                : std::bit_cast<double>(bits);
    if (!std::isfinite(value)) text = std::isnan(value) ? "NaN" : "infinite";
  } else {
    const std::string_view word = read_word(what);
    if (!parse(word, &value) || !std::isfinite(value)) text = quote(word);
  }
  if (!text.empty())
    fail(ErrorCode::kInvalidValue, std::string(what) + " is " + text + ", must be a finite number");
  return value;
}

void VtkText::skip_numbers(std::size_t count, std::size_t num_components, std::string_view type) {
  expect_numbers(count, num_components, type);
  if (is_binary_) {
    position_ += count * num_components * size_of(type);
    return;
  }
  double ignored = 0;
  for (std::size_t i = 0; i < count * num_components; ++i) {
    const std::string_view word = read_word("a number");
    if (!parse(word, &ignored)) fail(ErrorCode::kSyntax, "expected a number, found " + quote(word));
  }
}

}  // namespace stiction::io
