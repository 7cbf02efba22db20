#include "stiction/sim/options/option_table.hpp"

#include <cmath>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"
#include "stiction/sim/options/option_values.hpp"
#include "support/error_message.hpp"

namespace stiction::sim::option_table_test {
namespace {

using support::message_of;

std::string refusal_of(std::string_view name, const OptionValue& value) {
  StepOptions options;
  return message_of([&] {
    set_value(find_option(name), value, &options);
    validate(options);
  });
}

TEST(OptionTable, NamesAreUniqueAndFound) {
  std::set<std::string_view> names;
  for (const Option& option : option_table()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_EQ(&find_option(option.name), &option);
    EXPECT_FALSE(option.help.empty()) << option.name;
  }
}

TEST(OptionTable, UnknownNameGetsTheNearest) {
  EXPECT_EQ(message_of([] { (void)find_option("gap_corection"); }),
            "gap_corection: there is no such option (did you mean 'gap_correction'?)");
}

TEST(OptionTable, DefaultsAreInRange) {
  EXPECT_EQ(message_of([] { validate(StepOptions()); }), "");
}

/// Returns a value in range that is not the default.
OptionValue make_other_value(const Option& option) {
  const OptionValue standard = get_default(option);
  switch (option.kind()) {
    case OptionKind::number: {
      const double* number = std::get_if<double>(&standard);
      return number ? *number / 2 : 1e-3;
    }
    case OptionKind::integer: return std::get<int>(standard) + 2;
    case OptionKind::flag: return !std::get<bool>(standard);
    case OptionKind::choice: break;
  }
  for (const std::string_view name : list_choices(option))
    if (OptionValue(name) != standard) return name;
  return standard;
}

TEST(OptionTable, EveryValueThatIsSetIsReadAgainAndNoOtherChanges) {
  for (const Option& option : option_table()) {
    StepOptions options;
    const OptionValue value = make_other_value(option);
    ASSERT_NE(value, get_default(option)) << option.name;
    set_value(option, value, &options);
    for (const Option& other : option_table())
      EXPECT_EQ(get_value(other, options), &other == &option ? value : get_default(other))
          << other.name << " after " << option.name;
    check_range(option, value);
  }
}

TEST(OptionTable, EveryNumberIsCheckedAtBothEndsOfItsRange) {
  for (const Option& option : option_table()) {
    const OptionRange& range = option.range;
    const auto expect = [&](double value, bool is_taken) {
      const bool is_integer = option.kind() == OptionKind::integer;
      if (is_integer && !(std::abs(value) <= std::numeric_limits<int>::max())) return;
      const OptionValue given = is_integer ? OptionValue(static_cast<int>(value)) : value;
      const std::string message = message_of([&] { check_range(option, given); });
      EXPECT_EQ(message.empty(), is_taken) << option.name << " " << value << " " << message;
      if (!is_taken) {
        EXPECT_TRUE(message.starts_with(std::string(option.name) + ": is ")) << message;
        EXPECT_TRUE(message.ends_with(", must be " + describe_range(option))) << message;
      }
    };
    if (option.kind() != OptionKind::number && option.kind() != OptionKind::integer) continue;
    expect(range.low, range.includes_low);
    expect(range.low - 1, false);
    if (std::isfinite(range.high)) {
      expect(range.high, range.includes_high && !(range.is_even && std::fmod(range.high, 2) != 0));
      expect(range.high + 1, false);
    }
    expect(std::nan(""), false);
    expect(std::numeric_limits<double>::infinity(), false);
    if (range.is_even) expect(range.low + 1, false);
  }
}

TEST(OptionTable, RangesAreDescribedInWords) {
  EXPECT_EQ(refusal_of("tolerance", 1.0), "tolerance: is 1, must be in (0, 1)");
  EXPECT_EQ(refusal_of("gap_correction", -0.5), "gap_correction: is -0.5, must be in [0, 1]");
  EXPECT_EQ(refusal_of("time_step", 0.0), "time_step: is 0, must be a finite number above 0 s");
  EXPECT_EQ(refusal_of("near_rigid_factor", -1.0),
            "near_rigid_factor: is -1, must be a finite number of at least 0");
  EXPECT_EQ(refusal_of("max_iterations", 0), "max_iterations: is 0, must be at least 1");
  EXPECT_EQ(refusal_of("num_threads", 2000), "num_threads: is 2000, must be in 1..1024");
  EXPECT_EQ(refusal_of("friction_directions", 5),
            "friction_directions: is 5, must be even, in 4..64");
  EXPECT_EQ(refusal_of("normal_law", "hertzz"),
            "normal_law: there is no 'hertzz' (did you mean 'hertz'?)");
  EXPECT_EQ(describe_range(find_option("quadrature")), "one of centroid, moment_exact");
}

TEST(OptionTable, TheTimeStepMayBeLeftOut) {
  StepOptions options;
  const Option& option = find_option("time_step");
  EXPECT_TRUE(option.is_optional());
  set_value(option, 0.25, &options);
  EXPECT_EQ(options.time_step, 0.25);
  set_value(option, OptionValue(), &options);
  EXPECT_FALSE(options.time_step.has_value());
}

TEST(OptionTable, TheAutomaticFrictionLawIsChosenByTheModelAndByPressureFields) {
  using enum contact::FrictionRegularizationKind;
  plant::MaterialTable points, fields;
  points.geoms.assign(2, plant::make_default_material());
  fields = points;
  fields.geoms[1].hydroelastic_modulus = 1e5;
  StepOptions options;
  const auto resolved = [&](const plant::MaterialTable& materials) {
    return resolve(options, materials).parameters.friction_law;
  };
  for (const contact::ContactModelTraits& model : contact::contact_models()) {
    options.contact_model = model.model;
    options.parameters.friction_law = automatic;
    EXPECT_EQ(resolved(points), model.model == contact::ContactModel::coulomb ? elastic : soft);
    EXPECT_EQ(resolved(fields), soft);
    options.parameters.friction_law = quadratic;
    EXPECT_EQ(resolved(fields), quadratic);
  }
}

TEST(OptionTable, CustomLawIsShownButCannotBeSetByName) {
  StepOptions options;
  options.parameters.normal_law = contact::NormalLawKind::custom;
  EXPECT_EQ(get_value(find_option("normal_law"), options), OptionValue("custom"));
  EXPECT_EQ(message_of([&] { validate(options); }),
            "custom_law: is null; give one by make_custom_law");
  EXPECT_NE(refusal_of("normal_law", "custom"), "");
}

TEST(OptionTable, ModelsThatReadAnOptionAreThoseWithItsTrait) {
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(list_models(find_option("near_rigid_factor")), Names{"sap"});
  EXPECT_EQ(list_models(find_option("lcp_solver")), (Names{"no_slip", "viscous"}));
  EXPECT_EQ(list_models(find_option("tolerance")).size(), contact::contact_models().size());
}

}  // namespace
}  // namespace stiction::sim::option_table_test
