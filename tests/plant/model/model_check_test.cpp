#include "stiction/plant/model/model_check.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/plant/model/model_numbers.hpp"
#include "support/scene.hpp"

namespace stiction::plant::model_check_test {
namespace {

using support::Scene;

constexpr const char* kScene = R"(
<worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body name="ball" pos="0 0 1"><joint name="hinge" axis="0 1 0"/><geom name="g" size="0.1"/></body>
  <body mocap="true"/>
</worldbody>
<equality><joint name="e" joint1="hinge"/></equality>
<tendon><fixed name="t"><joint joint="hinge" coef="1"/></fixed></tendon>
<actuator><position name="servo" joint="hinge" kp="1"/><motor joint="hinge"/></actuator>)";

struct Fault {
  const char* what;
  std::function<void(mjModel*)> inject;
};

TEST(CheckModel, NamesTheElementTheValueAndTheRange) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const Fault faults[] = {
      {"option: timestep is 0", [](mjModel* m) { m->opt.timestep = 0; }},
      {"option: timestep is -0.01", [](mjModel* m) { m->opt.timestep = -0.01; }},
      {"option: gravity is nan", [=](mjModel* m) { m->opt.gravity[1] = nan; }},
      {"body 'ball': mass is inf", [=](mjModel* m) { m->body_mass[1] = inf; }},
      {"body 'ball': mass is -1", [](mjModel* m) { m->body_mass[1] = -1; }},
      {"body 'ball': inertia is nan", [=](mjModel* m) { m->body_inertia[4] = nan; }},
      {"geom 'g': size is -2", [](mjModel* m) { m->geom_size[3] = -2; }},
      {"geom 'floor': friction is -0.5", [](mjModel* m) { m->geom_friction[0] = -0.5; }},
      {"joint 'hinge': damping is nan", [=](mjModel* m) { m->dof_damping[0] = nan; }},
      {"joint 'hinge': armature is -1", [](mjModel* m) { m->dof_armature[0] = -1; }},
      {"body 'ball': mass is 1e+308, must be at most 1e50",
       [](mjModel* m) { m->body_mass[1] = 1e308; }},
      {"body 'ball': gravcomp is nan", [=](mjModel* m) { m->body_gravcomp[1] = -nan; }},
      {"geom 'g': solref is nan", [=](mjModel* m) { m->geom_solref[2] = nan; }},
      {"geom 'g': solimp is inf", [=](mjModel* m) { m->geom_solimp[mjNIMP] = inf; }},
      {"joint 'hinge': axis is nan", [=](mjModel* m) { m->jnt_axis[1] = nan; }},
      {"equality 'e': data (anchor, relpose, polycoef) is nan",
       [=](mjModel* m) { m->eq_data[1] = nan; }},
      {"tendon 't': coef or divisor is inf", [=](mjModel* m) { m->wrap_prm[0] = inf; }},
      {"tendon 't': springlength is nan", [=](mjModel* m) { m->tendon_lengthspring[1] = nan; }},
      {"actuator 'servo': dynprm is nan", [=](mjModel* m) { m->actuator_dynprm[0] = nan; }},
      {"actuator 'servo': forcerange is nan", [=](mjModel* m) { m->actuator_forcerange[1] = nan; }},
      {"control 1: ctrlrange is nan", [=](mjModel* m) { m->actuator_ctrlrange[2] = nan; }},
      {"tendon 't': stiffness is inf", [=](mjModel* m) { m->tendon_stiffness[0] = inf; }},
      {"actuator 'servo': gain is nan", [=](mjModel* m) { m->actuator_gainprm[0] = nan; }},
  };
  for (const Fault& fault : faults) {
    Scene scene(support::make_mjcf("", kScene));
    EXPECT_NO_THROW(check_model(scene.model));
    fault.inject(scene.model);
    try {
      check_model(scene.model);
      FAIL() << fault.what;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidValue);
      EXPECT_NE(std::string(error.what()).find(fault.what), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("must be"), std::string::npos) << error.what();
    }
  }
}

TEST(CheckModel, AcceptsInfiniteRangesThatClip) {
  const double inf = std::numeric_limits<double>::infinity();
  Scene scene(support::make_mjcf("", kScene));
  scene->actuator_ctrlrange[1] = scene->actuator_forcerange[1] = inf;
  scene->actuator_ctrlrange[0] = scene->jnt_actfrcrange[0] = -inf;
  EXPECT_NO_THROW(check_model(scene.model));
}

TEST(NumberCheck, AgreesWithCheckModel) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  Scene scene(support::make_mjcf("", kScene));
  NumberCheck check(scene.model);
  EXPECT_TRUE(check.all_in_range());
  struct Entry {
    mjtNum* number;
    const char* text;
  };
  mjModel* m = scene.model;
  for (const Entry& entry : {Entry{m->body_mass + 2, "body 2: mass is "},
                             {m->body_inertia + 5, "body 'ball': inertia is "},
                             {m->geom_size + 3, "geom 'g': size is "},
                             {m->geom_rbound + 1, "geom 'g': rbound is "},
                             {m->geom_friction + 5, "geom 'g': friction is "},
                             {m->dof_armature, "joint 'hinge': armature is "},
                             {m->dof_frictionloss, "joint 'hinge': frictionloss is "}}) {
    const double good = *entry.number;
    for (const double bad : {nan, -nan, inf, -inf, -1.0, -1e-300, -1e300, 1e51}) {
      *entry.number = bad;
      EXPECT_FALSE(check.all_in_range()) << entry.text << bad;
      EXPECT_EQ(explain_failure(m).find(entry.text + base::to_text(bad)), 0u) << explain_failure(m);
    }
    for (const double fine : {0.0, -0.0, 1e-310, 1.0, 1e50}) {
      *entry.number = fine;
      EXPECT_TRUE(check.all_in_range()) << entry.text << fine;
    }
    *entry.number = good;
  }
}

/// Calls f(number, its name) for the first and the last number of each array. Large arrays, which
/// need several calls, are left out.
template <class F>
void for_each_number(mjModel* m, F&& f) {
  for (const NumberArray& array : list_numbers(m)) {
    const mjtSize size = array.size();
    if (!array.numbers || size == 0 || array.is_large) continue;
    for (const mjtSize i : {mjtSize{0}, size / 2, size - 1})
      f(const_cast<mjtNum*>(array.numbers) + i, array.field);
  }
}

TEST(NumberCheck, FindsTheFaultsOfEveryNumber) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (const double clip : {1.0, inf}) {
    Scene scene(support::make_mjcf("", kScene));
    mjModel* m = scene.model;
    m->actuator_ctrlrange[1] = m->actuator_forcerange[1] = clip;
    NumberCheck check(m);
    int num_bad = 0;
    for_each_number(m, [&](mjtNum* number, std::string_view field) {
      const double good = *number;
      for (const double value : {nan, -nan, inf, -inf, -1.0, -1e-300, -0.0, 0.0, 1e-310, 0.5, 2.0,
                                 2e6, 1e50, 1e51, -1e51, 1e160, 1e201}) {
        *number = value;
        if (number == &m->opt.timestep && value == 0) continue;
        const bool is_good = find_fault(m).empty();
        num_bad += !is_good;
        EXPECT_EQ(check.all_in_range(), is_good) << field << " " << value;
      }
      *number = good;
    });
    EXPECT_GT(num_bad, 1000);
    EXPECT_TRUE(check.all_in_range());
  }
}

TEST(HaveNorms, ChecksEveryRow) {
  // Four rows are checked at a time, and the rest one by one.
  for (const int count : {1, 3, 4, 5, 8, 11})
    for (int bad = 0; bad < count; ++bad)
      for (int k = 0; k < 4; ++k) {
        std::vector<mjtNum> rows;
        for (int i = 0; i < count; ++i) rows.insert(rows.end(), {0.5, -0.5, 0.5, 0.5});
        EXPECT_TRUE(have_norms(Range::kUnitRow, count, 4, rows.data()));
        for (const double value : {0.502, 0.498, std::nan("")}) {
          rows[4 * bad + k] = value;
          EXPECT_EQ(have_norms(Range::kUnitRow, count, 4, rows.data()),
                    std::abs(value * value + 0.75 - 1) <= 2e-3)
              << count << " " << bad << " " << value;
        }
      }
}

TEST(ExplainFailure, NamesTheFirstFaultOrNegativeDamping) {
  Scene scene(support::make_mjcf("", kScene));
  EXPECT_EQ(explain_failure(scene.model), "");
  scene->dof_damping[0] = -3;
  EXPECT_EQ(explain_failure(scene.model),
            "joint 'hinge': damping is -3, which may make the step's matrix indefinite");
  scene->geom_friction[0] = scene->geom_friction[1] = -std::nan("");
  EXPECT_EQ(explain_failure(scene.model),
            "geom 'floor': friction is nan, must be finite and at least 0; correct "
            "model.geom_friction[0, 0] (and 1 more)");
}

TEST(CheckModel, ListsAllFaultsAtOnce) {
  Scene scene(support::make_mjcf("", kScene));
  scene->body_mass[1] = -1;
  scene->opt.timestep = -1;
  scene->geom_size[3] = -2;
  try {
    check_model(scene.model);
    FAIL();
  } catch (const Error& error) {
    for (const char* name : {"option", "'ball'", "'g'"})
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos);
  }
}

TEST(CheckState, FindsEveryArray) {
  struct Entry {
    const char* array;
    std::function<mjtNum*(mjData*)> at;
    bool is_state;
  };
  const Entry entries[] = {
      {"qpos", [](mjData* d) { return d->qpos; }, true},
      {"qvel", [](mjData* d) { return d->qvel; }, true},
      {"ctrl", [](mjData* d) { return d->ctrl + 1; }, false},
      {"qfrc_applied", [](mjData* d) { return d->qfrc_applied; }, false},
      {"xfrc_applied", [](mjData* d) { return d->xfrc_applied + 6; }, false},
      {"mocap_pos", [](mjData* d) { return d->mocap_pos; }, false},
      {"mocap_quat", [](mjData* d) { return d->mocap_quat + 3; }, false},
  };
  for (const Entry& entry : entries) {
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(), -1e11}) {
      Scene scene(support::make_mjcf("", kScene));
      EXPECT_EQ(check_state(scene.model, scene.data).array, nullptr);
      *entry.at(scene.data) = bad;
      const StateFault fault = check_state(scene.model, scene.data);
      ASSERT_NE(fault.array, nullptr) << entry.array;
      EXPECT_STREQ(fault.array, entry.array);
      EXPECT_EQ(fault.is_state, entry.is_state);
      EXPECT_EQ(check_state(scene.model, scene.data, false).array != nullptr, entry.is_state);
      EXPECT_TRUE(std::isnan(bad) ? std::isnan(fault.value) : fault.value == bad);
    }
  }
}

TEST(Model, RejectsDeformableBodies) {
  Scene scene(support::make_mjcf("", R"(<worldbody><body name="b">
<flexcomp name="cloth" type="grid" count="3 3 1" spacing="0.1 0.1 0.1" dim="2" radius="0.01"><edge equality="true"/></flexcomp>
</body></worldbody>)"));
  try {
    const Model plant(scene.model);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_EQ(error.where(), "flex 'cloth'");
  }
}

}  // namespace
}  // namespace stiction::plant::model_check_test
