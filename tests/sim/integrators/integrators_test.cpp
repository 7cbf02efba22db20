// Names, refusals and inputs that are not finite, for all integrators.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "sim/integrators/event_scenes.hpp"
#include "stiction/base/error.hpp"

namespace stiction::sim::integrators_test {
namespace {

using contact::ContactModel;
using support::make_mjcf;
using support::Scene;

std::string refusal_of(const Scene& scene, const StepOptions& options) {
  try {
    const Stepper stepper(scene.model, options);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Integrators, AreRejectedWithTheNameOfASuitableOne) {
  const Scene scene = make_ball(0.1);
  const auto refusal = [&](ContactModel model, Integrator integrator) {
    return refusal_of(scene, make_event_options(model, integrator));
  };
  EXPECT_NE(refusal(ContactModel::lagged, Integrator::event_driven).find("'euler'"),
            std::string::npos);
  EXPECT_NE(refusal(ContactModel::lagged, Integrator::rk4).find("'euler'"), std::string::npos);
  EXPECT_NE(refusal(ContactModel::mujoco, Integrator::event_driven).find("'euler'"),
            std::string::npos);
  EXPECT_NE(refusal(ContactModel::no_slip, Integrator::rk4).find("'event_driven'"),
            std::string::npos);
  EXPECT_EQ(refusal(ContactModel::no_slip, Integrator::event_driven), "");
  EXPECT_EQ(refusal(ContactModel::viscous, Integrator::rk4), "");
  const Scene dry(make_mjcf(
      "",
      R"(<worldbody><body><joint name="j" frictionloss="1"/><geom size="0.1"/></body></worldbody>)"));
  const std::string text = refusal_of(dry, make_rk4_options());
  EXPECT_NE(text.find("joint 'j'"), std::string::npos) << text;
  EXPECT_NE(text.find("event_driven"), std::string::npos) << text;
}

TEST(Integrators, FailIfAContactCannotBeFound) {
  struct Entry {
    mjtNum* (*find)(mjModel*);
    const char* text;
  };
  for (const Entry& entry : {Entry{[](mjModel* m) { return m->geom_size + 3; }, "geom 1: size"},
                             {[](mjModel* m) { return m->geom_pos + 3; }, "geom 1: pos"},
                             {[](mjModel* m) { return m->geom_margin + 1; }, "geom 1: margin"},
                             {[](mjModel* m) { return m->geom_gap + 1; }, "geom 1: gap"}}) {
    for (const Integrator integrator :
         {Integrator::euler, Integrator::event_driven, Integrator::rk4}) {
      Scene scene = make_ball(0);
      Stepper stepper(scene.model, make_event_options(ContactModel::viscous, integrator));
      ASSERT_TRUE(stepper.step(scene.data).ok());
      const auto state = scene.state();
      *entry.find(scene.model) = std::nan("");
      const StepReport& report = stepper.step(scene.data);
      EXPECT_EQ(report.status, kNonFiniteInput);
      EXPECT_EQ(report.message.find(entry.text + std::string(" is nan")), 0u) << report.message;
      EXPECT_EQ(scene.state(), state);
    }
  }
}

TEST(Integrators, HaveNames) {
  for (const IntegratorTraits& row : integrators()) EXPECT_EQ(name_of(row.integrator), row.name);
}

}  // namespace
}  // namespace stiction::sim::integrators_test
