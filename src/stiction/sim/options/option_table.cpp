#include "stiction/sim/options/option_table.hpp"

#include <type_traits>
#include <utility>

#include "stiction/base/error.hpp"
#include "stiction/numerics/lcp_solvers.hpp"

namespace stiction::sim {
namespace {

using contact::ContactModelTraits;
using contact::ModelParameters;
using contact::OptionUse;
using contact::SurfaceOptions;

/// Returns access to a member of StepOptions, or to a member of its members, given as a path.
template <auto... path>
constexpr auto member() {
  using T = std::decay_t<decltype((std::declval<StepOptions>().*....*path))>;
  return OptionAccess<T>{
      .get = [](const StepOptions& options) -> T { return (options.*....*path); },
      .set = [](StepOptions& options, T value) { (options.*....*path) = value; }};
}

/// Returns access to a member that is an enum.
/// @param names returns the names of the enumerators, in their order
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
bool has(const ContactModelTraits& model) {
  return model.*trait;
}

/// True for the models that read an option.
template <bool OptionUse::*option>
bool reads(const ContactModelTraits& model) {
  return model.options.*option;
}

/// True for the models that Newton's method solves.
bool uses_newton(const ContactModelTraits& model) { return !model.is_rigid && !model.is_mj_step; }

/// True for the models whose friction bound is the normal force before the step.
bool lags_friction(const ContactModelTraits& model) { return model.lags_friction; }

/// True for the models whose step is Stiction's and not mj_step.
bool is_solved_here(const ContactModelTraits& model) { return !model.is_mj_step; }

/// True for the models that correct a share of an overlap in a step.
bool corrects_share(const ContactModelTraits& model) {
  return model.is_rigid || model.takes_laws || model.uses.dissipation;
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
     .help =
         "The method that takes a step from one state to the next: 'euler' solves once per step; "
         "'event_driven' divides the step at the times when geoms begin to touch, for rigid "
         "models; 'rk4' has order 4 between impacts, for models with smooth forces."},
    {.name = "time_step",
     .member = member<&StepOptions::time_step>(),
     .range = {.includes_low = false},
     .unit = "s",
     .help = "Length of one step; None takes the time step of the scene, model.opt.timestep."},
    {.name = "tolerance",
     .member = member<&StepOptions::tolerance>(),
     .range = {.high = 1, .includes_low = false, .includes_high = false},
     .help = "Relative tolerance of the solution, under models that Newton's method solves; "
             "friction_law 'elastic' takes a hundredth of it, but not below 1e-9."},
    {.name = "max_iterations",
     .member = member<&StepOptions::max_iterations>(),
     .range = {.low = 1, .high = kMaxInteger},
     .is_used = uses_newton,
     .help = "Largest number of Newton iterations for an island, and for each softer problem that "
             "leads to its solution."},
    {.name = "iteration_budget",
     .member = member<&StepOptions::iteration_budget>(),
     .range = {.low = 0, .high = kMaxInteger},
     .is_used = is_solved_here,
     .help = "Largest number of Newton iterations and pivots of one solve of an island, over all "
             "rounds and fallbacks; 0 for no limit. A step that needs more fails with the status "
             "'out_of_iterations', on every machine and for any number of threads."},
    {.name = "max_seconds",
     .member = member<&StepOptions::max_seconds>(),
     .range = {.includes_low = false},
     .unit = "s",
     .is_used = is_solved_here,
     .help = "Wall time after which a step fails with the status 'out_of_time'; None for no limit. "
             "Which step fails depends on the machine, so results are not reproducible; "
             "iteration_budget is."},
    {.name = "num_threads",
     .member = member<&StepOptions::num_threads>(),
     .range = {.low = 1, .high = 1024},
     .help = "Threads that share the islands of a step; results are identical for any number."},
    {.name = "stiction_tolerance",
     .member = member<kParameters, &ModelParameters::stiction_tolerance>(),
     .range = {.includes_low = false},
     .unit = "m/s",
     .is_used = reads<&OptionUse::stiction_tolerance>,
     .is_replaced_by_springs = true,
     .help = "Slip speed v_s below which a contact sticks."},
    {.name = "friction_regularization",
     .member = member<kParameters, &ModelParameters::friction_regularization>(),
     .is_used = reads<&OptionUse::friction_regularization>,
     .is_replaced_by_springs = true,
     .help = "Regularization sigma of friction, relative to the contact's mobility; 0 gives the "
             "papers' unregularized models."},
    {.name = "near_rigid_factor",
     .member = member<kParameters, &ModelParameters::near_rigid_factor>(),
     .is_used = reads<&OptionUse::near_rigid_factor>,
     .help = "Factor beta: contacts whose period is shorter than beta time steps are softened; 0 "
             "never softens them."},
    {.name = "normal_law",
     .member = choice<kParameters, &ModelParameters::normal_law>(
         [] { return list_names(contact::normal_laws()); }),
     .is_used = has<&ContactModelTraits::takes_laws>,
     .help = "Law of the normal force."},
    {.name = "friction_law",
     .member =
         choice<kParameters, &ModelParameters::friction_law>(names<contact::friction_law_choices>),
     .is_used = has<&ContactModelTraits::takes_laws>,
     .help =
         "Function by which friction increases with slip below the slip tolerance; or 'elastic', "
         "under which a contact that sticks is a spring along the surface that remembers its "
         "stretch, so that what contacts hold does not creep; for lagged, lagged_regularized and "
         "coulomb. 'automatic' is 'elastic' under coulomb, and 'soft' under other models and where "
         "surfaces have pressure fields."},
    {.name = "tessellation",
     .member = choice<kSurfaces, &SurfaceOptions::tessellation>(names<contact::tessellation_names>),
     .is_used = has<&ContactModelTraits::takes_patches>,
     .help = "Faces of pressure-field contact: 'polygon' makes one face where two elements "
             "intersect; 'triangle' divides it into triangles about its center, which change "
             "smoothly in time."},
    {.name = "quadrature",
     .member = choice<kSurfaces, &SurfaceOptions::quadrature>(names<contact::quadrature_names>),
     .is_used = has<&ContactModelTraits::takes_patches>,
     .help = "Quadrature points of a face of pressure-field contact: 'centroid' has one; "
             "'moment_exact' has three, which give the exact force and moment of a linear "
             "pressure."},
    {.name = "tilted_faces",
     .member = choice<kSurfaces, &SurfaceOptions::tilted_faces>(names<contact::tilted_faces_names>),
     .is_used = has<&ContactModelTraits::takes_patches>,
     .help =
         "Faces of pressure-field contact on which a field decreases along the normal, a little "
         "beyond 90 degrees: 'keep' lets them push with constant pressure; 'drop' removes them, "
         "as published."},
    {.name = "deep_patches",
     .member = choice<kSurfaces, &SurfaceOptions::deep_patches>(names<contact::deep_patches_names>),
     .is_used = has<&ContactModelTraits::takes_patches>,
     .help = "Force of pressure-field contact when bodies overlap beyond a medial axis: 'extend' "
             "lets it go on with the depth along its last tangent; 'field' lets it decrease and "
             "vanish, as published."},
    {.name = "lcp_solver",
     .member = choice<kParameters, &ModelParameters::lcp_solver>(names<numerics::lcp_solvers>),
     .is_used = reads<&OptionUse::lcp_solver>,
     .help = "LCP solver of rigid models without Coulomb friction; the others use Lemke's method."},
    {.name = "friction_directions",
     .member = member<kParameters, &ModelParameters::friction_directions>(),
     .range = {.low = 4, .high = 64, .is_even = true},
     .is_used = reads<&OptionUse::friction_directions>,
     .help = "Edges of the friction polygon."},
    {.name = "gap_correction",
     .member = member<kParameters, &ModelParameters::gap_correction>(),
     .range = {.high = 1},
     .is_used = corrects_share,
     .help = "Share of an overlap, a violated limit or an open equality that rigid models correct "
             "in one step (Baumgarte stabilization); 0 corrects nothing. Under Hunt-Crossley "
             "dissipation the share of a deep overlap of near-rigid contacts; 0 leaves the law as "
             "it is."},
    {.name = "max_correction_speed",
     .member = member<kParameters, &ModelParameters::max_correction_speed>(),
     .unit = "m/s or rad/s",
     .is_used = is_solved_here,
     .help =
         "Largest speed of the corrections by gap_correction, and at which sap removes the deep "
         "overlaps of near-rigid contacts; 0 leaves the laws of compliant models as they are. "
         "Bodies leave an overlap with up to this speed v, so they fly up by up to v^2 / (2 g): "
         "0.5 mm at 0.1 m/s, but 5 cm at 1 m/s and 5 m at 10 m/s."},
    {.name = "max_memory_gb",
     .member = member<kParameters, &ModelParameters::max_memory_gb>(),
     .range = {.high = 16, .includes_low = false},
     .unit = "GB",
     .is_used = reads<&OptionUse::max_memory_gb>,
     .help = "Largest memory of the matrices of rigid models and tamsi, which grow with the square "
             "of the number of bodies that touch each other directly or through others. A step "
             "that needs more fails with the status 'too_large' before it takes the memory."},
    {.name = "drop_separating",
     .member = member<kParameters, &ModelParameters::drop_separating>(),
     .is_used = reads<&OptionUse::drop_separating>,
     .help =
         "True: only contacts that press, or that would press without friction, prevent slip. "
         "False: every contact that touches at the start of the step prevents slip, as published; "
         "two contacts of a foot with different normals then hold the foot down."},
    {.name = "remember_forces",
     .member = member<&StepOptions::remember_forces>(),
     .is_used = lags_friction,
     .help =
         "True: friction is bounded by the normal force that the last step found. False: by the "
         "force of the state at the start of the step, as published; it is 0 on surfaces that "
         "accelerate apart."},
    {.name = "exact_mobility",
     .member = member<&StepOptions::exact_mobility>(),
     .is_used = uses_newton,
     .help = "True: an equality or a limit is as stiff as its solref and solimp ask, by the exact "
             "mobility of its row, J M^-1 J^T. False: by MuJoCo's estimate, so it is softer where "
             "this is larger, such as 2000 times for the joint equality of a screw."},
    {.name = "trace",
     .member = member<&StepOptions::trace>(),
     .is_used = uses_newton,
     .help = "True records the iterates of Newton's method in the report; False costs nothing."},
    {.name = "on_failure",
     .member = choice<&StepOptions::on_failure>(names<on_failure_names>),
     .help =
         "What to do if a step fails: 'raise' raises StepError; 'stop' only reports the failure; "
         "both leave the state unchanged. 'keep_best' advances with a solution that did not "
         "converge or failed its certificate, and stops at any other failure."},
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
