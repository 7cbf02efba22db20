// Reports as bytes, for pickle and copy. A table or a structured binding names all members of each
// struct, so a new member that is missing here does not compile.

#include <array>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "reports.hpp"
#include "stiction/base/error.hpp"
#include "stiction/certificate/certificate.hpp"
#include "stiction/sim/report/step_report.hpp"

namespace stiction::python {
namespace {

template <class T, class Base>
concept Is = std::is_same_v<std::remove_const_t<T>, Base>;

template <class T>
struct IsArray : std::false_type {};
template <class T>
struct IsArray<std::vector<T>> : std::true_type {};
template <>
struct IsArray<std::string> : std::true_type {};
template <class T>
struct IsFixedArray : std::false_type {};
template <class T, std::size_t kSize>
struct IsFixedArray<std::array<T, kSize>> : std::true_type {};

// Each function calls f with all members of a struct.
void visit(Is<certificate::FailedCheck> auto& x, auto&& f) {
  auto& [quantity, value, limit, unit] = x;
  (void)quantity, (void)unit;  // literals of the message, which has them already
  f(value, limit);
}
void visit(Is<certificate::Certificate> auto& x, auto&& f) {
  certificate::for_each_field([&](const auto& field) { f(field.in(x)); });
  f(x.failed);
}
void visit(Is<contact::IslandStatistics> auto& x, auto&& f) {
  auto& [status, dofs, contacts, rows, iterations, substeps, evaluations, is_compensated,
         uses_space, leaves_space, residual, scale, rounds, lemke, coupling, has_conflict, bytes,
         contact, row] = x;
  f(status, dofs, contacts, rows, iterations, substeps, evaluations, is_compensated, uses_space,
    leaves_space, residual, scale, rounds, lemke, coupling, has_conflict, bytes, contact, row);
}
void visit(Is<sim::StepTimings> auto& x, auto&& f) {
  auto& [total, kinematics, collision, surfaces, assembly, solve, certificate, finish] = x;
  f(total, kinematics, collision, surfaces, assembly, solve, certificate, finish);
}
void visit(Is<sim::StepStatistics> auto& x, auto&& f) {
  auto& [contacts, islands, rows, asleep, iterations, max_iterations, substeps, evaluations, lemke,
         in_space, left_space, parts, events, halvings, residual] = x;
  f(contacts, islands, rows, asleep, iterations, max_iterations, substeps, evaluations, lemke,
    in_space, left_space, parts, events, halvings, residual);
}
void visit(Is<sim::AdvanceReport> auto& x, auto&& f) {
  auto& [until, accuracy, steps, rejected, failed, not_extrapolated, inaccurate, first_step,
         first_error, smallest, largest, next_step, last_error, sum_of_errors, largest_error] = x;
  f(until, accuracy, steps, rejected, failed, not_extrapolated, inaccurate, first_step, first_error,
    smallest, largest, next_step, last_error, sum_of_errors, largest_error);
}
void visit(Is<sim::ContactReport> auto& x, auto&& f) {
  sim::for_each_array<sim::ContactReport>([&](const auto& array) { f(x.*array.member); });
  f(x.time_step);
}
void visit(Is<sim::PatchReport> auto& x, auto&& f) {
  sim::for_each_array<sim::PatchReport>([&](const auto& array) { f(x.*array.member); });
}
void visit(Is<math::Vec3> auto& x, auto&& f) {
  auto& [x1, x2, x3] = x;
  f(x1, x2, x3);
}
void visit(Is<math::RigidTransform> auto& x, auto&& f) {
  auto& [R, p] = x;
  f(R.row[0], R.row[1], R.row[2], p);
}
void visit(Is<sim::TaxelReport> auto& x, auto&& f) {
  auto& [names, shape, start, pose, local_position, area, traction, force, torque, pressed,
         layout_id] = x;
  f(names, shape, start, pose, local_position, area, traction, force, torque, pressed, layout_id);
}
void visit(Is<sim::TraceReport> auto& x, auto&& f) {
  auto& [solve, island, run, iteration, cost, gradient_norm, step_length, num_solves] = x;
  f(solve, island, run, iteration, cost, gradient_norm, step_length, num_solves);
}
void visit(Is<sim::WarningReport> auto& x, auto&& f) {
  auto& [count, text] = x;
  f(count, text);
}
void visit(Is<sim::AnchorSummary> auto& x, auto&& f) {
  auto& [largest_stretch, energy, energy_gain, num_lost, num_forgotten] = x;
  f(largest_stretch, energy, energy_gain, num_lost, num_forgotten);
}
// A structured binding cannot name the members of a class and its base. test_copies.py compares all
// attributes of a report with those of its copy.
void visit(Is<sim::StepReport> auto& x, auto&& f) {
  (void)x.read_taxels();
  f(x.status, x.message, x.time, x.num_steps, x.certificate, x.momentum_error, x.statistics,
    x.timings, x.advance, x.contacts, x.patches, x.started_taxels, x.trace, x.islands, x.anchors,
    x.num_warnings, x.warning, x.warnings, x.missing_memory);
}

class Packer {
 public:
  template <class T>
  void put(const T& x) {
    if constexpr (IsArray<T>::value) {
      put(x.size());
      for (const auto& element : x) put(element);
    } else if constexpr (IsFixedArray<T>::value) {
      for (const auto& element : x) put(element);
    } else if constexpr (std::is_same_v<T, sim::WarningText>) {
      put(x.str());
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      bytes.append(reinterpret_cast<const char*>(&x), sizeof x);
    } else {
      visit(x, [this](const auto&... members) { (put(members), ...); });
    }
  }

  std::string bytes;
};

class Unpacker {
 public:
  explicit Unpacker(const nb::bytes& bytes) : next_(bytes.c_str()), left_(bytes.size()) {}

  template <class T>
  void get(T& x) {
    if constexpr (IsArray<T>::value) {
      std::size_t size = 0;
      get(size);
      require(size <= left_);  // an element has at least one byte
      x.resize(size);
      for (auto& element : x) get(element);
      if constexpr (std::is_same_v<T, std::string>) require(is_text(x));
    } else if constexpr (IsFixedArray<T>::value) {
      for (auto& element : x) get(element);
    } else if constexpr (std::is_same_v<T, sim::WarningText>) {
      std::string text;
      get(text);
      x = std::move(text);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      require(sizeof x <= left_);
      std::memcpy(&x, next_, sizeof x);
      next_ += sizeof x;
      left_ -= sizeof x;
    } else {
      visit(x, [this](auto&... members) { (get(members), ...); });
    }
  }
  void finish() const { require(left_ == 0); }

 private:
  static void require(bool holds) {
    if (!holds)
      throw Error(ErrorCode::kWrongShape, "report",
                  "is damaged, or was pickled by another version of Stiction; read it with that "
                  "version");
  }
  /// True if bytes are UTF-8, as Python's strings need.
  static bool is_text(const std::string& bytes) {
    PyObject* const text =
        PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), nullptr);
    if (!text) PyErr_Clear();
    Py_XDECREF(text);
    return text != nullptr;
  }

  const char* next_;
  std::size_t left_;
};

}  // namespace

template <class Report>
nb::bytes pack_report(const Report& report) {
  Packer packer;
  packer.put(report);
  return nb::bytes(packer.bytes.data(), packer.bytes.size());
}

template <class Report>
void unpack_report(const nb::bytes& bytes, Report* report) {
  Unpacker unpacker(bytes);
  unpacker.get(*report);
  unpacker.finish();
}

#define STICTION_INSTANTIATE(Report)                    \
  template nb::bytes pack_report(const Report& report); \
  template void unpack_report(const nb::bytes& bytes, Report* report);
STICTION_INSTANTIATE(sim::AdvanceReport)
STICTION_INSTANTIATE(certificate::Certificate)
STICTION_INSTANTIATE(contact::IslandStatistics)
STICTION_INSTANTIATE(sim::StepTimings)
STICTION_INSTANTIATE(sim::StepStatistics)
STICTION_INSTANTIATE(sim::ContactReport)
STICTION_INSTANTIATE(sim::PatchReport)
STICTION_INSTANTIATE(sim::TaxelReport)
STICTION_INSTANTIATE(sim::TraceReport)
STICTION_INSTANTIATE(sim::StepReport)
#undef STICTION_INSTANTIATE

}  // namespace stiction::python
