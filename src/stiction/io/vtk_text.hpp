#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "stiction/base/error.hpp"

namespace stiction::io {

/// Reads the parts of a VTK legacy file in turn: words and numbers as text, or big-endian bytes
/// after their line. A count is accepted only if its bytes are left.
class VtkText {
 public:
  /// Starts at the first byte.
  /// @param bytes  bytes of the whole file; must outlive this
  /// @param origin name of the file in messages
  VtkText(std::string_view bytes, std::string origin);

  bool is_binary() const { return is_binary_; }
  void set_binary(bool is_binary) { is_binary_ = is_binary; }

  /// The place of the part read last: "part.vtk:12", or "part.vtk: byte 340" of a binary file.
  std::string where() const;
  /// Reports a fault of the part that was read last.
  /// @throws Error always
  [[noreturn]] void fail(ErrorCode code, const std::string& message) const;

  /// Reads the rest of the line, without its end.
  std::string_view read_line();
  /// Reads the next word. Skips blanks, line ends, and comments, which begin with # at the start of
  /// a word.
  /// @param what name of the word for the message if the file ends
  std::string_view read_word(const char* what);
  /// Returns the next word without moving past it; empty at the end of the file.
  std::string_view peek_word();

  /// Reads a number of things, which is text in binary files too.
  std::size_t read_count(const char* what);
  /// Ends the line that announces numbers. In a binary file they begin at the next byte.
  void end_announcement();

  /// Returns the size of a VTK number type in a file [bytes]; 0 for an unknown type.
  static std::size_t size_of(std::string_view type);
  /// Checks that the file is long enough for `count` times `num_components` numbers.
  /// @throws Error if it is too short
  void expect_numbers(std::size_t count, std::size_t num_components, std::string_view type) const;
  /// Reads an integer.
  /// @param type an integer type; used for binary files only
  std::int64_t read_integer(std::string_view type, const char* what);
  /// Reads a real number.
  /// @param type "float" or "double"; used for binary files only
  /// @throws Error if the number is not finite
  double read_real(std::string_view type, const char* what);
  /// Skips `count` times `num_components` numbers, and checks that the file has them.
  void skip_numbers(std::size_t count, std::size_t num_components, std::string_view type);

  /// Quotes a word for a message: at most 40 characters, all printable.
  static std::string quote(std::string_view word);

 private:
  void skip_blanks();
  std::uint64_t read_bytes(std::size_t size, const char* what);
  std::size_t num_left() const { return bytes_.size() - position_; }

  std::string_view bytes_;
  std::string origin_;
  bool is_binary_ = false;
  std::size_t position_ = 0, start_ = 0;  // next byte, and first byte of the last part
  int line_ = 1, start_line_ = 1;         // lines of these bytes
};

}  // namespace stiction::io
