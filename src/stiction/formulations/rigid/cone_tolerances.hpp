#pragma once

#include "stiction/formulations/rigid/rigid_tolerances.hpp"

/// The tolerances and limits of ConeSolver and of its parts, each with its reason.
namespace stiction::formulations {

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

/// Share of the residual that a proximal step with the largest stiffness must leave at most, or the
/// steps end.
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

/// Share of the residual that each soft step at the end must leave at most, and their largest
/// number.
inline constexpr double kPolishProgress = 0.9;
inline constexpr int kMaxPolishSteps = 30;

/// Sweeps before the first Newton step and after its first failure, which double from failure to
/// failure; and their number for one problem with springs, until one is solved and thereafter.
inline constexpr int kFirstConeSweeps = 10;
inline constexpr int kMaxFirstSpringSweeps = 150;
inline constexpr int kMaxSpringSweeps = 10;

/// Turns of sweeps without springs. The last one has kFirstConeSweeps 2^(kMaxConeTurns - 1) sweeps.
inline constexpr int kMaxConeTurns = 7;

/// Newton steps of one proximal step, the shortest step along a direction, and the share of the
/// decrease of |F| that a step must reach.
inline constexpr int kMaxConeNewtonSteps = 60;
inline constexpr double kLeastConeNewtonStep = 1.0 / 1024;
inline constexpr double kConeNewtonDecrease = 1e-4;

/// Round-off of F, relative to its terms times the stiffness, and the multiple of it at which a
/// solve counts as solved although |F| does not decrease any more.
inline constexpr double kConeRoundOff = 4e-16;
inline constexpr double kConeNewtonSlack = 1e3;

/// The path of ConePath begins with springs for which |M - I| is at most this, and its first motion
/// takes at most this many steps of the contraction.
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

/// Where proximal steps from the path fail, it is followed further, by this factor of the stiffness
/// from one extrapolation to the next, and up to this stiffness. There, the round-off of springs is
/// about as large as their compliance.
inline constexpr double kConePathGrowth = 10;
inline constexpr double kStiffestConePath = 2e8;

/// How far the path looks behind a corner for the states of the blocks there.
inline constexpr double kConePathLooks[] = {1e-7, 1e-6, 1e-5, 1e-4};

/// Evaluations of one path. In 4000 random problems with up to 8 contacts, the median was 63 and
/// the largest number was 671.
inline constexpr int kMaxConePathIterations = 2000;

/// The leverage at which corrections are jammed, see ConeJam. Below the smallest share of them,
/// bodies would still be faster than kOverlapLeverage allows. In 41,000 problems of piles, no
/// solution had a leverage of 30.
inline constexpr double kJamLeverage = kOverlapLeverage / kLeastShare;

}  // namespace stiction::formulations
