#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "stiction/base/error.hpp"

namespace stiction::io {

/// The parts that a VTK legacy file consists of, read one after the other: words and numbers as
/// text, or numbers as big-endian bytes after the line that announces them. No count that the file
/// states is believed before as many bytes are there.
class VtkText {
 public:
  /// @param bytes  of the whole file, which outlive this
  /// @param origin its name in messages
  VtkText(std::string_view bytes, std::string origin);

  bool is_binary() const { return is_binary_; }
  void set_binary(bool is_binary) { is_binary_ = is_binary; }

  /// The place of what was read last: "part.vtk:12", or "part.vtk: byte 340" of a binary file.
  std::string where() const;
  /// @throws Error always, about what was read last
  [[noreturn]] void fail(ErrorCode code, const std::string& message) const;

  /// The rest of the line, without its end.
  std::string_view read_line();
  /// The next word. Blanks, line ends and, at the start of a word, comments from # are passed over.
  /// @param what is expected, for the message if the file ends
  std::string_view read_word(const char* what);
  /// Empty at the end of the file. Not moved past.
  std::string_view peek_word();

  /// A number of things, as text.
  std::size_t read_count(const char* what);
  /// Ends the line that announces numbers: those of a binary file begin with the next byte.
  void end_announcement();

  /// Size of VTK's number types in a file [bytes]; 0 if there is no such type.
  static std::size_t size_of(std::string_view type);
  /// @throws Error if the file is too short for `count` times `num_components` numbers
  void expect_numbers(std::size_t count, std::size_t num_components, std::string_view type) const;
  /// @param type an integer type
  std::int64_t read_integer(std::string_view type, const char* what);
  /// @param type "float" or "double"; binary files only
  /// @throws Error if not finite
  double read_real(std::string_view type, const char* what);
  /// Passes over `count` times `num_components` numbers, all of them checked to be there.
  void skip_numbers(std::size_t count, std::size_t num_components, std::string_view type);

  /// A word as messages quote it: short, and printable.
  static std::string quote(std::string_view word);

 private:
  void skip_blanks();
  std::uint64_t read_bytes(std::size_t size, const char* what);
  std::size_t num_left() const { return bytes_.size() - position_; }

  std::string_view bytes_;
  std::string origin_;
  bool is_binary_ = false;
  std::size_t position_ = 0, start_ = 0;  // of what comes, and of what was read last
  int line_ = 1, start_line_ = 1;
};

}  // namespace stiction::io
