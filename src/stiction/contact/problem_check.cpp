#include "stiction/contact/contact_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <type_traits>

#include "stiction/base/error.hpp"

namespace stiction::contact {
namespace {

/// Returns the concatenation of the parts of a message.
std::string join(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text.append(part);
  return text;
}

/// The first fault of a contact problem, as a text with the array, the index and the problem. All
/// require_* functions do nothing after the first fault, and compose a text only for that one.
class ProblemFault {
 public:
  explicit operator bool() const { return !text_.empty(); }
  const std::string& text() const { return text_; }

  /// Records a fault unless `holds` is true.
  /// @param index   index of the entry; -1: the array as a whole
  /// @param member  member of the entry, such as ".dim", or an empty text
  /// @param problem a text, or a function that composes it
  template <class T>
  void require(bool holds, const char* array, std::int64_t index, const char* member,
               const T& problem) {
    if (holds || *this) return;
    const std::string place = index < 0 ? "" : join({"[", std::to_string(index), "]"});
    if constexpr (std::is_invocable_v<T>)
      text_ = join({array, place, member, " ", problem()});
    else
      text_ = join({array, place, member, " ", problem});
  }
  /// Requires a number to be in a range.
  /// @param range the text after "must be"
  void require_value(bool holds, const char* array, std::int64_t index, const char* member,
                     double value, const char* range) {
    require(holds, array, index, member, [&] {
      return join({"is ", base::to_text(value), ", must be ", range});
    });
  }
  /// Requires an array to have the expected number of entries.
  /// @param why describes the expected size, such as "one per dof"
  void require_size(const char* array, std::size_t size, std::size_t expected, const char* why) {
    require(size == expected, array, -1, "", [&] {
      return join({"has ", std::to_string(size), " entries, must have ", std::to_string(expected),
                   ", ", why});
    });
  }
  /// Requires the range [first, first + count) to lie within an array of the given size.
  void require_range(const char* array, std::int64_t index, const char* member, std::int64_t first,
                     std::int64_t count, std::size_t size) {
    const bool holds = first >= 0 && count >= 0 && first + count <= static_cast<std::int64_t>(size);
    require(holds, array, index, member, [&] {
      return join({"is the range [", std::to_string(first), ", ", std::to_string(first + count),
                   "), must lie in [0, ", std::to_string(size), ")"});
    });
  }

 private:
  std::string text_;
};

void check_blocks(const ContactProblem& p, ProblemFault* fault) {
  fault->require(!p.dof_start.empty() && p.dof_start[0] == 0, "dof_start", 0, "", "must be 0");
  if (*fault) return;
  const auto num_blocks = static_cast<std::size_t>(p.num_blocks());
  fault->require_size("is_rigid_body", p.is_rigid_body.size(), num_blocks, "one per block");
  fault->require_size("diagonal_start", p.diagonal_start.size(), num_blocks, "one per block");
  for (int b = 0; b < p.num_blocks() && !*fault; ++b) {
    const std::int64_t n = p.block_size(b);
    fault->require(n > 0, "dof_start", b + 1, "", "must be greater than the entry before it");
    if (*fault) return;
    fault->require(!p.is_rigid_body[b] || n == 6, "is_rigid_body", b, "", [&] {
      return join({"is set, but the block has ", std::to_string(n), " dofs instead of 6"});
    });
    fault->require_range("diagonal_start", b, "", p.diagonal_start[b], n * n, p.A.size());
  }
  const auto num_dofs = static_cast<std::size_t>(p.num_dofs());
  if (!p.inertia.empty())
    fault->require_size("inertia", p.inertia.size(), num_dofs, "none, or one per dof");
  fault->require_size("v0", p.v0.size(), num_dofs, "one per dof");
  fault->require_size("free_impulse", p.free_impulse.size(), num_dofs, "one per dof");
}

void check_couplings(const ContactProblem& p, ProblemFault* fault) {
  const auto is_block = [&](int b) { return b >= 0 && b < p.num_blocks(); };
  for (std::size_t i = 0; i < p.couplings.size() && !*fault; ++i) {
    const Coupling& c = p.couplings[i];
    const auto index = static_cast<std::int64_t>(i);
    const bool are_blocks = is_block(c.row_block) && is_block(c.column_block);
    fault->require(are_blocks && c.row_block != c.column_block, "couplings", index, "",
                   "must refer to two different blocks");
    if (*fault) return;
    const std::int64_t size = p.block_size(c.row_block) * p.block_size(c.column_block);
    fault->require_range("couplings", index, ".start", c.start, size, p.A.size());
  }
}

void check_segment(const ContactProblem& p, int index, ProblemFault* fault) {
  const Segment& s = p.segments[index];
  fault->require_value(s.block >= 0 && s.block < p.num_blocks(), "segments", index, ".block",
                       s.block, "the index of a block");
  if (*fault) return;
  fault->require(s.is_rigid_body == (p.is_rigid_body[s.block] != 0), "segments", index,
                 ".is_rigid_body", "must be equal to problem.is_rigid_body of its block");
  if (s.is_rigid_body) {
    fault->require_value(s.sign == 1 || s.sign == -1, "segments", index, ".sign", s.sign,
                         "1 or -1");
    return;
  }
  fault->require_range("segments", index, ".first_column, .num_columns", s.first_column,
                       s.num_columns, p.column_dof.size());
  for (int c = s.first_column; c < s.first_column + s.num_columns && !*fault; ++c)
    fault->require_value(p.column_dof[c] >= 0 && p.column_dof[c] < p.block_size(s.block),
                         "column_dof", c, "", p.column_dof[c],
                         "the index of a dof within the segment's block");
}

void check_pairs(const ContactProblem& p, ProblemFault* fault) {
  fault->require_size("columns", p.columns.size(), 6 * p.column_dof.size(), "six per column");
  std::vector<int> last_pair(p.num_blocks(), -1);  // last pair that has a segment on each block
  int next_contact = 0;
  for (std::size_t i = 0; i < p.pairs.size() && !*fault; ++i) {
    const BodyPair& pair = p.pairs[i];
    const auto index = static_cast<int>(i);
    fault->require_value(pair.num_segments > 0, "pairs", index, ".num_segments", pair.num_segments,
                         "at least 1, because a dof must move the bodies");
    fault->require_range("pairs", index, ".first_segment, .num_segments", pair.first_segment,
                         pair.num_segments, p.segments.size());
    for (int s = pair.first_segment; s < pair.first_segment + pair.num_segments && !*fault; ++s) {
      check_segment(p, s, fault);
      if (*fault) return;
      fault->require(last_pair[p.segments[s].block] != index, "segments", s, ".block",
                     "is also the block of another segment of the pair; merge the two segments");
      last_pair[p.segments[s].block] = index;
    }
    fault->require(pair.first_contact == next_contact && pair.num_contacts >= 0, "pairs", index,
                   ".first_contact", [&] {
                     return join({"is ", std::to_string(pair.first_contact), ", must be ",
                                  std::to_string(next_contact), ", the end of the pair before it"});
                   });
    next_contact += std::max(0, pair.num_contacts);
  }
  fault->require(next_contact == p.num_contacts(), "contacts", -1, "", [&] {
    return "has " + std::to_string(p.num_contacts()) + " entries, but the pairs have " +
           std::to_string(next_contact) + " contacts";
  });
  if (!p.normal_guess.empty())
    fault->require_size("normal_guess", p.normal_guess.size(), p.contacts.size(),
                        "one per contact, or be empty");
  if (!p.lagged_impulse.empty())
    fault->require_size("lagged_impulse", p.lagged_impulse.size(), p.contacts.size(),
                        "one per contact, or be empty");
  if (!p.anchors.empty())
    fault->require_size("anchors", p.anchors.size(), p.contacts.size(),
                        "one per contact, or be empty");
}

void check_row_indices(const ContactProblem& p, ProblemFault* fault) {
  fault->require_size("row_columns", p.row_columns.size(), p.row_dof.size(), "one per row_dof");
  for (int r = 0; r < p.num_rows() && !*fault; ++r) {
    const Row& row = p.rows[r];
    fault->require_value(row.num_columns > 0, "rows", r, ".num_columns", row.num_columns,
                         "at least 1");
    fault->require_range("rows", r, ".first_column, .num_columns", row.first_column,
                         row.num_columns, p.row_dof.size());
    for (int c = row.first_column; c < row.first_column + row.num_columns && !*fault; ++c)
      fault->require_value(p.row_dof[c] >= 0 && p.row_dof[c] < p.num_dofs(), "row_dof", c, "",
                           p.row_dof[c], "the index of a dof of the problem");
  }
}

/// Returns the first fault in sizes and indices of a problem, or no fault.
ProblemFault check_indices(const ContactProblem& p) {
  ProblemFault fault;
  check_blocks(p, &fault);
  if (!fault) check_couplings(p, &fault);
  if (!fault) check_pairs(p, &fault);
  if (!fault) check_row_indices(p, &fault);
  return fault;
}

void require_finite(const char* array, std::span<const double> values, ProblemFault* fault) {
  for (std::size_t i = 0; i < values.size() && !*fault; ++i)
    fault->require_value(std::isfinite(values[i]), array, static_cast<std::int64_t>(i), "",
                         values[i], "finite");
}

void require_impulses(const char* array, std::span<const std::optional<double>> impulses,
                      ProblemFault* fault) {
  for (std::size_t i = 0; i < impulses.size() && !*fault; ++i) {
    const double impulse = impulses[i].value_or(0);
    fault->require_value(impulse >= 0 && std::isfinite(impulse), array,
                         static_cast<std::int64_t>(i), "", impulse, "finite and at least 0");
  }
}

/// True if the columns t1, t2, n are orthonormal and right-handed.
bool is_frame(const std::array<double, 9>& R) {
  constexpr double kTolerance = 1e-6;  // single-precision rounding, with a margin
  const auto dot = [&](int a, int b) {
    return R[3 * a] * R[3 * b] + R[3 * a + 1] * R[3 * b + 1] + R[3 * a + 2] * R[3 * b + 2];
  };
  for (int a = 0; a < 3; ++a)
    for (int b = a; b < 3; ++b)
      if (!(std::abs(dot(a, b) - (a == b ? 1 : 0)) <= kTolerance)) return false;
  const double determinant = R[0] * (R[4] * R[8] - R[5] * R[7]) +
                             R[1] * (R[5] * R[6] - R[3] * R[8]) +
                             R[2] * (R[3] * R[7] - R[4] * R[6]);
  return determinant > 0;
}

void check_law(const ContactLawData<double>& law, int index, ProblemFault* fault) {
  const auto require = [&](bool holds, const char* member, double value, const char* range) {
    fault->require_value(holds, "contacts", index, member, value, range);
  };
  const auto is_finite = [](double x) { return x >= 0 && std::isfinite(x); };
  require(law.stiffness >= 0, ".law.stiffness", law.stiffness, "at least 0, infinity allowed");
  require(is_finite(law.dissipation), ".law.dissipation", law.dissipation, "finite and at least 0");
  require(is_finite(law.relaxation_time), ".law.relaxation_time", law.relaxation_time,
          "finite and at least 0");
  require(law.hertz_stiffness > 0, ".law.hertz_stiffness", law.hertz_stiffness,
          "above 0, infinity allowed");
  require(law.barrier_stiffness > 0, ".law.barrier_stiffness", law.barrier_stiffness,
          "above 0, infinity allowed");
  require(law.barrier_thickness > 0 && std::isfinite(law.barrier_thickness),
          ".law.barrier_thickness", law.barrier_thickness, "finite and above 0");
  require(is_finite(law.viscous_friction), ".law.viscous_friction", law.viscous_friction,
          "finite and at least 0");
  require(law.restitution >= 0 && law.restitution <= 1, ".law.restitution", law.restitution,
          "in [0, 1]");
}

void check_contact(const Contact& c, int index, ProblemFault* fault) {
  const auto require = [&](bool holds, const char* member, double value, const char* range) {
    fault->require_value(holds, "contacts", index, member, value, range);
  };
  fault->require(is_frame(c.R_WC), "contacts", index, ".R_WC",
                 "is not a frame; its columns t1, t2, n must be orthonormal and right-handed");
  for (const double x : c.offset) require(std::isfinite(x), ".offset", x, "finite");
  for (const double x : c.bias) require(std::isfinite(x), ".bias", x, "finite");
  require(std::isfinite(c.spin_bias), ".spin_bias", c.spin_bias, "finite");
  require(std::isfinite(c.fn0), ".fn0", c.fn0, "finite");
  require(std::isfinite(c.phi0), ".phi0", c.phi0, "finite");
  // A contact with a stiffness and without this force would be at rest at any overlap or distance.
  const double k = c.law.stiffness;
  fault->require(
      !(std::isfinite(k) && c.fn0 == 0 && k * c.phi0 != 0), "contacts", index, ".fn0", [&] {
        return join({"is 0, must be -law.stiffness * phi0 = ", base::to_text(-k * c.phi0),
                     " N, the elastic force at the start of the step"});
      });
  require(c.dim == 1 || c.dim == 3 || c.dim == 4 || c.dim == 6, ".dim", c.dim, "1, 3, 4 or 6");
  for (const double mu : c.friction)
    require(mu >= 0 && std::isfinite(mu), ".friction", mu, "finite and at least 0");
  check_law(c.law, index, fault);
}

void check_anchor(const Anchor& anchor, int index, ProblemFault* fault) {
  const auto require = [&](bool holds, const char* member, double value, const char* range) {
    fault->require_value(holds, "anchors", index, member, value, range);
  };
  for (const double u : anchor.stretch) require(std::isfinite(u), ".stretch", u, "finite");
  for (const double v : anchor.arc_velocity)
    require(std::isfinite(v), ".arc_velocity", v, "finite");
  require(anchor.stiffness >= 0 && std::isfinite(anchor.stiffness), ".stiffness", anchor.stiffness,
          "finite and at least 0");
  require(anchor.damping >= 0 && std::isfinite(anchor.damping), ".damping", anchor.damping,
          "finite and at least 0");
}

void check_row(const Row& row, int index, ProblemFault* fault) {
  const auto require = [&](bool holds, const char* member, double value, const char* range) {
    fault->require_value(holds, "rows", index, member, value, range);
  };
  require(std::isfinite(row.bias), ".bias", row.bias, "finite");
  require(std::isfinite(row.position), ".position", row.position, "finite");
  require(std::isfinite(row.usual_mobility) && row.usual_mobility >= 0, ".usual_mobility",
          row.usual_mobility, "finite and at least 0");
  require(std::isfinite(row.error_norm) && row.error_norm >= 0, ".error_norm", row.error_norm,
          "finite and at least 0");
  if (row.kind == RowKind::kFriction) {
    require(row.bound >= 0 && std::isfinite(row.bound), ".bound", row.bound,
            "finite and at least 0");
    require(row.slip_tolerance > 0, ".slip_tolerance", row.slip_tolerance, "above 0");
    return;
  }
  require(row.regularization > 0 && std::isfinite(row.regularization), ".regularization",
          row.regularization, "finite and above 0");
  require(std::isfinite(row.target), ".target", row.target, "finite");
  require(row.stiffness >= 0 && std::isfinite(row.stiffness), ".stiffness", row.stiffness,
          "finite and at least 0");
  if (!is_spring(row)) return;
  require(row.impulse_range[0] <= 0, ".impulse_range[0]", row.impulse_range[0], "at most 0");
  require(row.impulse_range[1] >= 0, ".impulse_range[1]", row.impulse_range[1], "at least 0");
}

void check_masses(const BodyPair& pair, int index, ProblemFault* fault) {
  for (const double mass : pair.masses)
    fault->require_value(mass > 0, "pairs", index, ".masses", mass, "above 0, infinity allowed");
  fault->require_value(pair.load >= 0 && std::isfinite(pair.load), "pairs", index, ".load",
                       pair.load, "finite and at least 0");
}

ProblemFault check_numbers(const ContactProblem& p) {
  ProblemFault fault;
  fault.require_value(p.time_step > 0 && std::isfinite(p.time_step), "time_step", -1, "",
                      p.time_step, "finite and above 0 [s]");
  require_finite("A", p.A, &fault);
  for (int b = 0; b < p.num_blocks() && !fault; ++b)
    for (int i = 0; i < p.block_size(b); ++i)
      fault.require(p.diagonal(b)[i * (p.block_size(b) + 1)] > 0, "A", p.dof_start[b] + i, "",
                    "has a diagonal entry that is not positive; give the dof mass or armature");
  require_finite("inertia", p.inertia, &fault);
  for (std::size_t i = 0; i < p.inertia.size() && !fault; ++i)
    fault.require(p.inertia[i] > 0, "inertia", static_cast<std::int64_t>(i), "",
                  "is not positive; give the dof mass or armature");
  require_finite("v0", p.v0, &fault);
  require_finite("free_impulse", p.free_impulse, &fault);
  require_finite("columns", p.columns, &fault);
  require_finite("row_columns", p.row_columns, &fault);
  require_impulses("normal_guess", p.normal_guess, &fault);
  require_impulses("lagged_impulse", p.lagged_impulse, &fault);
  for (std::size_t i = 0; i < p.pairs.size() && !fault; ++i)
    check_masses(p.pairs[i], static_cast<int>(i), &fault);
  for (int i = 0; i < p.num_contacts() && !fault; ++i) check_contact(p.contacts[i], i, &fault);
  for (std::size_t i = 0; i < p.anchors.size() && !fault; ++i)
    check_anchor(p.anchors[i], static_cast<int>(i), &fault);
  for (int r = 0; r < p.num_rows() && !fault; ++r) check_row(p.rows[r], r, &fault);
  return fault;
}

}  // namespace

std::string find_index_fault(const ContactProblem& problem) {
  return check_indices(problem).text();
}

void validate(const ContactProblem& problem) {
  if (const ProblemFault fault = check_indices(problem))
    throw Error(ErrorCode::kWrongShape, "contact problem", fault.text());
  if (const ProblemFault fault = check_numbers(problem))
    throw Error(ErrorCode::kInvalidValue, "contact problem", fault.text());
}

}  // namespace stiction::contact
