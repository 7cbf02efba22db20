#pragma once

/// The tolerances and limits of the rigid solver, with reasons. Double precision is 2.2e-16.
namespace stiction::formulations {

// Problems that the laws solve.

/// The component of y_free below which it counts as 0 [sqrt(J)]. Squares of smaller numbers, and
/// their round-off, are too small for double precision. Bodies that come to rest without gravity
/// pass through all numbers down to the smallest.
inline constexpr double kNoMotion = 1e-100;

/// The largest friction coefficient that a law sees [-]. A larger one leaves no digits for the
/// other numbers of its matrix. The solution differs only if such a contact slips, which the
/// certificate detects with the true coefficient.
inline constexpr double kMaxFriction = 1e8;

/// The largest number of unknowns of an LCP with a dense matrix. The matrix then takes 72 MB.
inline constexpr int kMaxDenseSize = 3000;

/// Residual at which an LCP counts as solved although its solver gave up, relative to the largest
/// constant of the problem. It is a tenth of the certificate's tolerance on velocities.
inline constexpr double kAcceptedResidual = 1e-7;

/// Round-off of a sum of large terms that cancel, relative to the terms, over hundreds of dofs.
inline constexpr double kSumRoundOff = 1e-13;

/// Length of a projected row, relative to the longest, below which the row is round-off: 45 units
/// of double precision. An LCP with such a row asks for impulses of 1e16 N s and more.
inline constexpr double kProjectionRoundOff = 1e-14;

// Least energy.

/// Slack of kappa, relative to 1 m/s plus the fastest speed, which gives the set an interior.
inline constexpr double kEnergyPlay = 1e-6;

/// Shift e of H in KktProjection, relative to H's largest diagonal entry: large enough to factor
/// any positive semidefinite H, and so small that kProgramPasses passes take it out.
inline constexpr double kProgramShift = 1e-9;
inline constexpr int kProgramPasses = 3;

/// The energy per impulse that another contact must remove to be added [m/s]: 0, with a margin.
inline constexpr double kLeastEnergyGain = 1e-10;

/// The largest number of contacts added to those of phase 1; each one takes another solve.
inline constexpr int kMaxContactsAdded = 8;

// Bilateral constraints.

/// Share of a row's squared norm that must be independent of other rows, see
/// BilateralConstraints::eliminate. Rows within 3e-7 of the span of others are redundant; impulses
/// of kept rows are at most 3e6 times as large as needed.
inline constexpr double kRankTolerance = 1e-13;

/// The same at the last fallback: rows within 1e-5 of the span, impulses up to 1e5 times larger.
inline constexpr double kWideRankTolerance = 1e-10;

/// Largest miss of a redundant constraint that is not reported [m/s, rad/s]: 1 um in 1 ms.
inline constexpr double kMissedVelocity = 1e-3;

// Sticking and slipping.

/// Speeds above which a contact separates or slips [m/s]: 0, with a margin for round-off.
inline constexpr double kSeparatingSpeed = 1e-9;
inline constexpr double kSlippingSpeed = 1e-9;

/// Speed along which friction may drive a contact, relative to the fastest or to 1 m/s: round-off.
inline constexpr double kDrivenSpeed = 1e-10;

// Checks of a motion.

/// Velocity by which constraints may be missed, relative to the fastest, as in the certificate.
inline constexpr double kConstraintTolerance = 1e-6;

/// The largest speed of bodies from the corrections of all overlaps together, relative to the root
/// of the sum of squares of what each alone would cause. A row that other constraints fix almost
/// exactly is a lever: without this limit, levers made bodies as fast as 10 km/s.
inline constexpr double kOverlapLeverage = 3;

/// The same for equalities and moving surfaces, which may move robots in nearly singular poses.
inline constexpr double kWedgeLeverage = 10;

/// The largest ratio of the speeds that an equality's constant causes to those that it causes in a
/// usual pose. A light body that leads a heavy one has a ratio of 10 or 20. At the end of an arm's
/// reach, or where strong dampers hold the bodies, the ratio grows without bound.
inline constexpr double kDrivenLeverage = 30;

/// Round-off of the norms in that check.
inline constexpr double kWedgeRoundOff = 1e-9;

/// Corrections are slowed down at most this often, by the factor that suffices and this one.
inline constexpr int kMaxSlowdowns = 4;
inline constexpr double kSlowdownMargin = 0.9;

/// The smallest share of corrections, below which they are given up with a warning.
inline constexpr double kLeastShare = 0.1;

/// The largest impulse per momentum in whitened rows, beyond which sums have < 9 digits.
inline constexpr double kLargestImpulse = 1e7;

/// The largest number of contacts and limits that are solved without friction after a failure.
inline constexpr int kMaxFrictionlessSize = 1000;

/// Stiffness of relaxed equalities per mass: they miss an unhindered correction by a millionth.
inline constexpr double kRelaxedStiffness = 1e6;

// Impacts.

/// Speed above which a row that closes after restitution is stopped [m/s]: 0, with a margin.
inline constexpr double kClosingSpeed = 1e-10;

/// Round-off of the energies that limit a rebound, relative to the energy taken.
inline constexpr double kEnergyRoundOff = 1e-12;

// The tolerances and limits of ConeSolver and of its parts, each with its reason.

/// Residual of the laws at which a solve ends, relative to the fastest velocity without impulses,
/// and the residual that may be the round-off of stiff springs.
inline constexpr double kConeTolerance = 1e-13;
inline constexpr double kConeResidualRoundOff = 1e-9;

/// Residual at which a search that comes no nearer ends, relative to the fastest contact at its
/// point or to 1 m/s: half the tolerance of keeps_constraints and of the certificate. Rows that
/// nearly depend on others may contradict these by some 1e-7 m/s, which only large impulses would
/// resolve. Where all searches end above it, a point is accepted with this residual relative to the
/// fastest row without impulses, and the checks decide.
inline constexpr double kAcceptedConeResidual = 5e-7;

/// Stiffnesses of the springs of proximal steps, in units of 1 / mobility. Soft springs let the
/// first step find which contacts press. The stiffness then grows by a factor from step to step, up
/// to the usual one, and beyond it where steps do not come nearer, as under a heavy body on a light
/// one. Springs leave their stiffness times the unit of double precision as round-off, so that the
/// last steps are softer.
inline constexpr double kFirstConeStiffnesses[] = {30, 1000, 200, 5000};
inline constexpr double kConeStiffnessGrowth = 30;
inline constexpr double kUsualConeStiffness = 2e4;
inline constexpr double kLargestConeStiffness = 1e8;
inline constexpr double kLastConeStiffness = 1e3;
inline constexpr int kMaxProximalSteps = 100;
/// The first stiffness after sweeps without springs.
inline constexpr double kTurnConeStiffness = 1e3;

/// A step that is not solved is repeated from the stiffness of the last one that was, times the
/// square root of the factor of growth. The factor recovers by kConeGrowthRecovery where steps with
/// the same or softer springs are solved. If such a step fails too, its stiffness is multiplied by
/// kConeSoftening. The last number is that of failed steps before steps begin again.
inline constexpr double kLeastConeGrowth = 1.5;
inline constexpr double kConeGrowthRecovery = 2;
inline constexpr double kConeSoftening = 0.3;
inline constexpr int kMaxFailedConeSteps = 5;

/// Share of the residual that a step with the largest stiffness must leave at most.
inline constexpr double kConeProgress = 0.5;
inline constexpr int kMaxSlowConeSteps = 4;

/// Residual below which slow steps are repeated many at once, relative like kAcceptedConeResidual.
/// Rows that depend on others contradict these by less: 1e-4 is the slope of a line of contacts
/// against their tangents, times the speed at which their gaps close. Then the number of slow steps
/// before that, and the trials, each with a quarter of the steps.
inline constexpr double kNearConeResidual = 1e-4;
inline constexpr int kConeStepsBeforeSkip = 2;
inline constexpr int kMaxConeSkipTrials = 6;

/// How often slow steps are taken many at once without a better point, where the best one is
/// accepted. Its impulses may then go round in circles among contacts that contradict each other.
inline constexpr int kMaxFruitlessSkips = 1;

/// Share of the residual that each soft step at the end must leave at most, and their number.
inline constexpr double kPolishProgress = 0.9;
inline constexpr int kMaxPolishSteps = 30;

/// Sweeps before the first Newton step and after its first failure, which double from failure to
/// failure; and their number for one problem with springs, until one is solved and thereafter.
inline constexpr int kFirstConeSweeps = 10;
inline constexpr int kMaxFirstSpringSweeps = 150;
inline constexpr int kMaxSpringSweeps = 10;

/// Turns of sweeps without springs. The last one has kFirstConeSweeps 2^(kMaxConeTurns - 1) sweeps.
inline constexpr int kMaxConeTurns = 7;

/// Newton steps of one proximal step, the shortest step, and the least share of |F|'s decrease.
inline constexpr int kMaxConeNewtonSteps = 60;
inline constexpr double kLeastConeNewtonStep = 1.0 / 1024;
inline constexpr double kConeNewtonDecrease = 1e-4;

/// Round-off of F, relative to its terms times the stiffness, and the multiple of it at which a
/// solve counts as solved although |F| does not decrease any more.
inline constexpr double kConeRoundOff = 4e-16;
inline constexpr double kConeNewtonSlack = 1e3;

/// The path begins with springs for which |M - I| is at most this, with at most these steps.
inline constexpr double kSoftestConePath = 0.05;
inline constexpr int kMaxFirstConePathSteps = 30;

/// |F| on the path, relative to the usual speed; share of |F| that a correction may leave at most
/// from the third on; and size of a correction, relative to the step along the tangent. A larger
/// correction may lead to another piece of the path.
inline constexpr double kConePathTolerance = 1e-9;
inline constexpr double kConePathDecrease = 0.5;
inline constexpr double kConePathCorrection = 0.5;

/// Arc lengths of steps: the first, the largest, the least, and that behind a corner. A unit is the
/// usual speed, or a factor e of the stiffness. A failed step is divided by kConePathShortening,
/// and the step after one with few corrections is doubled.
inline constexpr double kFirstConePathLength = 0.1;
inline constexpr double kLargestConePathLength = 1;
inline constexpr double kLeastConePathLength = 1e-7;
inline constexpr double kFirstConeCornerLength = 1e-2;
inline constexpr double kConePathShortening = 4;
inline constexpr int kEasyConePathCorrections = 4;
inline constexpr int kMaxConePathCorrections = 8;

/// The path is followed further by this factor of the stiffness if proximal steps from it fail, up
/// to this stiffness, whose round-off equals its compliance.
inline constexpr double kConePathGrowth = 10;
inline constexpr double kStiffestConePath = 2e8;

/// How far the path looks behind a corner for the states of the blocks there.
inline constexpr double kConePathLooks[] = {1e-7, 1e-6, 1e-5, 1e-4};

/// Evaluations of one path; 4000 problems of up to 8 contacts had a median of 63, at most 671.
inline constexpr int kMaxConePathIterations = 2000;

/// The leverage at which corrections are jammed, see ConeJam; no solution of 41,000 had 30.
inline constexpr double kJamLeverage = kOverlapLeverage / kLeastShare;

}  // namespace stiction::formulations
