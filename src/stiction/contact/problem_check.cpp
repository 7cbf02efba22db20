#include "stiction/contact/problem_check.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "stiction/base/error.hpp"
#include "stiction/contact/problem_fault.hpp"

namespace stiction::contact {
namespace {

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
  if (row.kind != RowKind::kSpring) return;
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
