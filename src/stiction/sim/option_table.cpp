#include "stiction/sim/option_table.hpp"

#include <type_traits>
#include <utility>

#include "stiction/base/error.hpp"
#include "stiction/base/names.hpp"
#include "stiction/numerics/lcp_solvers.hpp"

namespace stiction::sim {
namespace {

using contact::ContactModelTraits;
using contact::ModelParameters;
using contact::SurfaceOptions;

/// Access to the member at the end of a path of members, which starts from StepOptions.
template <auto... path>
constexpr auto member() {
  using T = std::decay_t<decltype((std::declval<StepOptions>().*....*path))>;
  return OptionAccess<T>{
      .get = [](const StepOptions& options) -> T { return (options.*....*path); },
      .set = [](StepOptions& options, T value) { (options.*....*path) = value; }};
}

/// Access to a member that is an enum, with the names of its enumerators in their order.
template <auto... path>
constexpr ChoiceAccess choice(std::vector<std::string_view> (*names)()) {
  using T = std::decay_t<decltype((std::declval<StepOptions>().*....*path))>;
  return {{.get = [](const StepOptions& o) { return static_cast<int>((o.*....*path)); },
           .set = [](StepOptions& o, int index) { (o.*....*path) = static_cast<T>(index); }},
          names};
}

template <std::span<const std::string_view> (*list)()>
std::vector<std::string_view> names() {
  const auto all = list();
  return {all.begin(), all.end()};
}

/// True for the models that have a trait.
template <bool ContactModelTraits::*trait>
bool has(const ContactModelTraits& model, const StepOptions&) {
  return model.*trait;
}

/// True for the models that Newton's method solves.
bool uses_newton(const ContactModelTraits& model, const StepOptions&) {
  return !model.is_rigid && !model.is_mj_step;
}

constexpr auto kParameters = &StepOptions::parameters;
constexpr auto kSurfaces = &StepOptions::surfaces;
constexpr double kMaxInteger = std::numeric_limits<int>::max();

constexpr Option kOptions[] = {
    {.name = "contact_model",
     .member =
         choice<&StepOptions::contact_model>([] { return list_names(contact::contact_models()); }),
     .help = "The contact model; 'mujoco' is mj_step itself."},
    {.name = "integrator",
     .member = choice<&StepOptions::integrator>([] { return list_names(integrators()); }),
     .help = "How a step goes from one state to the next: 'euler' solves once a step, "
             "'event_driven' divides the step where geoms come to touch and takes rigid models, "
             "'rk4' is of order 4 between impacts and takes models with smooth forces."},
    {.name = "time_step",
     .member = member<&StepOptions::time_step>(),
     .range = {.includes_low = false},
     .unit = "s",
     .help = "Time of one step; None takes the scene's own, model.opt.timestep."},
    {.name = "tolerance",
     .member = member<&StepOptions::tolerance>(),
     .range = {.high = 1, .includes_low = false, .includes_high = false},
     .help = "Relative tolerance of the solution of convex models."},
    {.name = "max_iterations",
     .member = member<&StepOptions::max_iterations>(),
     .range = {.low = 1, .high = kMaxInteger},
     .help = "Newton iterations per island, and per problem solved on the way to its solution."},
    {.name = "num_threads",
     .member = member<&StepOptions::num_threads>(),
     .range = {.low = 1, .high = 1024},
     .help = "Threads that share the islands of a step; results are identical for any number."},
    {.name = "stiction_tolerance",
     .member = member<kParameters, &ModelParameters::stiction_tolerance>(),
     .range = {.includes_low = false},
     .unit = "m/s",
     .is_used = has<&ContactModelTraits::uses_stiction_tolerance>,
     .help = "Slip speed v_s below which a contact sticks."},
    {.name = "friction_regularization",
     .member = member<kParameters, &ModelParameters::friction_regularization>(),
     .is_used = has<&ContactModelTraits::uses_friction_regularization>,
     .help = "Regularization sigma of friction, relative to the contact's mobility; 0 gives the "
             "papers' unregularized models."},
    {.name = "near_rigid_factor",
     .member = member<kParameters, &ModelParameters::near_rigid_factor>(),
     .is_used = has<&ContactModelTraits::uses_near_rigid_factor>,
     .help = "Factor beta: contacts whose period is shorter than beta time steps are softened; 0 "
             "never softens them."},
    {.name = "normal_law",
     .member = choice<kParameters, &ModelParameters::normal_law>(
         [] { return list_names(contact::normal_laws()); }),
     .is_used = has<&ContactModelTraits::takes_laws>,
     .help = "Law of the normal force."},
    {.name = "friction_law",
     .member = choice<kParameters, &ModelParameters::friction_law>(
         names<contact::friction_regularization_names>),
     .is_used = has<&ContactModelTraits::takes_laws>,
     .help = "How friction rises with slip below the slip tolerance."},
    {.name = "tessellation",
     .member = choice<kSurfaces, &SurfaceOptions::tessellation>(names<contact::tessellation_names>),
     .is_used = has<&ContactModelTraits::takes_patches>,
     .help = "Faces of pressure-field contact: 'polygon' makes one where two elements meet, "
             "'triangle' a fan about its center, which is smooth in time."},
    {.name = "quadrature",
     .member = choice<kSurfaces, &SurfaceOptions::quadrature>(names<contact::quadrature_names>),
     .is_used = has<&ContactModelTraits::takes_patches>,
     .help = "Points of a face of pressure-field contact: 'centroid' takes one, 'moment_exact' "
             "three, which are exact for force and moment of a linear pressure."},
    {.name = "lcp_solver",
     .member = choice<kParameters, &ModelParameters::lcp_solver>(names<numerics::lcp_solvers>),
     .is_used = has<&ContactModelTraits::uses_lcp_solver>,
     .help =
         "Solver of the LCP of models without Coulomb friction; other rigid models use Lemke's."},
    {.name = "friction_directions",
     .member = member<kParameters, &ModelParameters::friction_directions>(),
     .range = {.low = 4, .high = 64, .is_even = true},
     .is_used = has<&ContactModelTraits::uses_friction_directions>,
     .help = "Edges of the friction polygon."},
    {.name = "gap_correction",
     .member = member<kParameters, &ModelParameters::gap_correction>(),
     .range = {.high = 1},
     .is_used = has<&ContactModelTraits::is_rigid>,
     .help = "Share of an overlap, a violated limit or an open equality that is corrected in one "
             "step (Baumgarte stabilization); 0 corrects none."},
    {.name = "max_correction_speed",
     .member = member<kParameters, &ModelParameters::max_correction_speed>(),
     .unit = "m/s or rad/s",
     .is_used = has<&ContactModelTraits::is_rigid>,
     .help = "Largest speed of such a correction."},
    {.name = "drop_separating",
     .member = member<kParameters, &ModelParameters::drop_separating>(),
     .is_used = has<&ContactModelTraits::uses_drop_separating>,
     .help =
         "True holds only contacts that press, or would without friction. False holds every "
         "contact that touches when the step begins, as published; two contacts of a foot whose "
         "normals differ then hold it down."},
    {.name = "trace",
     .member = member<&StepOptions::trace>(),
     .is_used = uses_newton,
     .help = "True records the course of Newton's method in the report; off, it costs nothing."},
    {.name = "on_failure",
     .member = choice<&StepOptions::on_failure>(names<on_failure_names>),
     .help = "What happens to a step that cannot be made, or does not converge: 'raise' raises "
             "StepError, 'stop' says so in the report, both leave the state as it was; 'keep_best' "
             "advances with the solution found, unless inputs are not finite."},
};

}  // namespace

std::span<const Option> option_table() { return kOptions; }

OptionKind Option::kind() const {
  // In the order of the alternatives of OptionMember.
  constexpr OptionKind kKinds[] = {OptionKind::number, OptionKind::number, OptionKind::integer,
                                   OptionKind::flag, OptionKind::choice};
  return kKinds[member.index()];
}

bool Option::is_optional() const {
  return std::holds_alternative<OptionAccess<std::optional<double>>>(member);
}

const Option& find_option(std::string_view name) {
  for (const Option& option : kOptions)
    if (option.name == name) return option;
  const std::vector<std::string_view> names = list_names(kOptions);
  throw Error(
      ErrorCode::kUnknownName, std::string(name),
      "there is no such option" + suggest_name(std::string(name), {names.begin(), names.end()}));
}

}  // namespace stiction::sim
