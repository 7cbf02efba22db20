#pragma once

#include <memory>
#include <random>
#include <vector>

#include "campaign/step_laws.hpp"

namespace stiction::campaign {

/// The same world in the plain view and in others, compiled once for all contact models.
class ViewedWorld {
 public:
  /// Makes the plain view and mirrored, moved and reversed ones.
  explicit ViewedWorld(std::uint64_t seed);

  const World& world() const { return world_; }
  const plant::MaterialTable& materials() const { return materials_; }
  support::Scene& plain() { return *plain_; }

  /// Compares the step from a state of the plain view with the same step in the other views, and
  /// at another time by a new stepper.
  /// @param start mjSTATE_INTEGRATION of the plain view
  /// @param taken the step in the plain view
  void check(const std::vector<mjtNum>& start, const TakenStep& taken, Ledger* ledger);

 private:
  struct Other {
    View view;
    std::unique_ptr<support::Scene> scene;
    plant::MaterialTable materials;
  };
  double measure_sensitivity(const std::vector<mjtNum>& start, const TakenStep& taken);
  double measure_coupling_effect(const std::vector<mjtNum>& start, const TakenStep& taken);
  void compare(const std::vector<mjtNum>& start, const TakenStep& taken, Other* other,
               Ledger* ledger);
  void check_repeated(const std::vector<mjtNum>& start, const TakenStep& taken, Ledger* ledger);

  World world_;
  std::unique_ptr<support::Scene> plain_;
  std::unique_ptr<support::Scene> spare_;  // for further steps in the plain view
  plant::MaterialTable materials_;
  std::vector<Other> others_;
};

}  // namespace stiction::campaign
