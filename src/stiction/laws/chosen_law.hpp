#pragma once

#include <array>
#include <limits>
#include <utility>
#include <variant>

#include "stiction/laws/barrier.hpp"
#include "stiction/laws/normal_law.hpp"

namespace stiction::laws {

/// A normal law whose impulse exists only for velocities in a domain.
template <class L>
concept HasDomain = requires(const L& law, double fraction) {
  law.calc_min_velocity();
  law.calc_extended(fraction);
  law.without_extension();
};

/// Any of the normal laws, chosen at run time. An evaluation for four contacts has one branch.
template <class T>
class ChosenLaw {
 public:
  ChosenLaw() = default;
  template <class L>
  explicit ChosenLaw(const L& law) : law_(law) {}

  /// Makes the law that the parameters name.
  static ChosenLaw make(const LawStart<T>& start, const contact::ModelParameters& parameters) {
    return kMakers[static_cast<int>(parameters.normal_law)](start, parameters);
  }

  NormalImpulse<T> calc_impulse(const T& v) const {
    return std::visit([&](const auto& law) { return law.calc_impulse(v); }, law_);
  }
  T calc_start_impulse(const T& v0) const {
    return std::visit([&](const auto& law) { return law.calc_start_impulse(v0); }, law_);
  }
  T calc_cost(const T& v) const {
    return std::visit([&](const auto& law) { return law.calc_cost(v); }, law_);
  }

  /// Returns Barrier::calc_min_velocity; minus infinity for laws that are not barriers.
  T calc_min_velocity() const {
    return std::visit(
        [](const auto& law) -> T {
          if constexpr (HasDomain<std::decay_t<decltype(law)>>)
            return law.calc_min_velocity();
          else
            return math::broadcast_to<T>(-std::numeric_limits<double>::infinity());
        },
        law_);
  }
  /// Returns the same law. If it is a barrier, it is extended, see Barrier::calc_extended.
  ChosenLaw calc_extended(double fraction) const {
    return change_barrier([&](const auto& barrier) { return barrier.calc_extended(fraction); });
  }
  /// Returns the same law, without the extension of a barrier.
  ChosenLaw without_extension() const {
    return change_barrier([](const auto& barrier) { return barrier.without_extension(); });
  }

 private:
  /// Returns change(law) if the law is a barrier, and the same law otherwise.
  template <class Change>
  ChosenLaw change_barrier(Change&& change) const {
    return std::visit(
        [&](const auto& law) -> ChosenLaw {
          if constexpr (HasDomain<std::decay_t<decltype(law)>>)
            return ChosenLaw(change(law));
          else
            return *this;
        },
        law_);
  }

  /// One alternative for each NormalLawKind, in the order of the enum.
  using Laws =
      std::variant<HuntCrossley<T>, Linear<T>, Hertz<T>, LogBarrier<T>, IpcBarrier<T>, Custom<T>>;
  static constexpr std::size_t kNumLaws = std::variant_size_v<Laws>;
  using Maker = ChosenLaw (*)(const LawStart<T>&, const contact::ModelParameters&);

  /// The function that makes each alternative.
  static constexpr std::array<Maker, kNumLaws> kMakers =
      []<std::size_t... i>(std::index_sequence<i...>) {
    static_assert(kNumLaws == std::size(contact::kNormalLaws));
    static_assert(
        ((std::variant_alternative_t<i, Laws>::kKind == contact::kNormalLaws[i].law) && ...));
    return std::array<Maker, kNumLaws>{
        [](const LawStart<T>& start, const contact::ModelParameters& parameters) {
          return ChosenLaw(std::variant_alternative_t<i, Laws>::make(start, parameters));
        }...};
  }
  (std::make_index_sequence<kNumLaws>());

  Laws law_;
};

}  // namespace stiction::laws
