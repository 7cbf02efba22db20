#include "stiction/base/error.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace stiction {
namespace {

/// Returns the number of edits (insert, delete, replace, swap neighbors) that turn a into b.
int calc_edit_distance(const std::string& a, const std::string& b) {
  const std::size_t n = b.size();
  std::vector<int> before(n + 1), last(n + 1), now(n + 1);
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= n; ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[n];
}

/// Returns a text with "\0" in place of null characters.
std::string show_nulls(std::string_view text) {
  std::string shown;
  for (const char c : text) shown += c == '\0' ? std::string("\\0") : std::string(1, c);
  return shown;
}

/// Returns a text with small letters, A to Z only.
std::string lower(std::string text) {
  for (char& c : text)
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

Error::Error(ErrorCode code, std::string_view where, std::string_view message)
    : std::runtime_error(show_nulls(where) + (where.empty() ? "" : ": ") + show_nulls(message)),
      code_(code),
      where_(show_nulls(where)),
      message_(show_nulls(message)) {}

void ErrorList::throw_if_any() const {
  if (errors_.empty()) return;
  if (errors_.size() == 1) throw errors_.front();
  std::string all;
  for (const Error& error : errors_) all += std::string(all.empty() ? "" : "\n") + error.what();
  throw Error(errors_.front().code(), "", all);
}

std::string nearest_name(const std::string& name, const std::vector<std::string>& names) {
  // About a third of the letters may differ: enough for a typing error, too few for another word.
  int best = static_cast<int>(name.size()) / 3 + 1;
  std::string nearest;
  for (const std::string& candidate : names) {
    const int distance = calc_edit_distance(lower(name), lower(candidate));
    if (distance < best || (distance == best && nearest.empty())) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string suggest_name(const std::string& name, const std::vector<std::string>& names) {
  if (names.empty()) return "";
  if (const std::string nearest = nearest_name(name, names); !nearest.empty())
    return " (did you mean '" + nearest + "'?)";
  // Choices are listed in full; a scene may have thousands of names.
  constexpr std::size_t kMaxListed = 40;
  std::string list;
  for (std::size_t i = 0; i < names.size() && i < kMaxListed; ++i)
    if (!names[i].empty()) list += (list.empty() ? "" : ", ") + names[i];
  if (list.empty()) return "";  // nothing has a name
  if (names.size() > kMaxListed)
    list += " and " + std::to_string(names.size() - kMaxListed) + " more";
  return " (known: " + list + ")";
}

int parse_name(const std::string& where, std::string_view name,
               std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  throw Error(ErrorCode::kUnknownName, where,
              "there is no '" + std::string(name) + "'" +
                  suggest_name(std::string(name), {names.begin(), names.end()}));
}

}  // namespace stiction
