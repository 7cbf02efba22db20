#pragma once

/// The tolerances and limits of the rigid solver, each with its reason. The unit of double
/// precision is 2.2e-16. Those of friction cones are in cone_tolerances.hpp.
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

/// Round-off of a sum of large terms that cancel, relative to the terms: a few hundred units of
/// double precision, for a sum over a few hundred dofs.
inline constexpr double kSumRoundOff = 1e-13;

/// Length of a projected row, relative to the longest, below which the row is round-off: 45 units
/// of double precision. An LCP with such a row asks for impulses of 1e16 N s and more.
inline constexpr double kProjectionRoundOff = 1e-14;

// Least energy.

/// Slack of the bound kappa on separation speeds, relative to 1 m/s plus the fastest. Without it
/// the feasible set has no interior and multipliers have no bound, and round-off would decide which
/// feasible point is found.
inline constexpr double kEnergyPlay = 1e-6;

/// Shift e of H in KktProjection, relative to H's largest diagonal entry: large enough to factor
/// any positive semidefinite H, and so small that kProgramPasses passes take it out.
inline constexpr double kProgramShift = 1e-9;
inline constexpr int kProgramPasses = 3;

/// The energy per impulse that another contact must remove to be added [m/s]: 0, with a margin for
/// the tolerance of the LCP solvers.
inline constexpr double kLeastEnergyGain = 1e-10;

/// The largest number of contacts that are added to those of phase 1. Each one takes another solve,
/// and the impulses before it are a solution already.
inline constexpr int kMaxContactsAdded = 8;

// Bilateral constraints.

/// Share of a row's squared norm that must be independent of other rows, see
/// BilateralConstraints::eliminate. Rows within 3e-7 of the span of others are redundant; impulses
/// of kept rows are at most 3e6 times as large as needed.
inline constexpr double kRankTolerance = 1e-13;

/// The same at the last level of fallbacks: rows within 1e-5 of the span are redundant, and
/// impulses are at most 1e5 times as large as needed.
inline constexpr double kWideRankTolerance = 1e-10;

/// Velocity by which a redundant constraint may be missed before it is reported [m/s, rad/s]:
/// 1 um in a step of 1 ms.
inline constexpr double kMissedVelocity = 1e-3;

// Sticking and slipping.

/// Speeds above which a contact separates or slips [m/s]: 0, with a margin for round-off.
inline constexpr double kSeparatingSpeed = 1e-9;
inline constexpr double kSlippingSpeed = 1e-9;

/// Speed along which friction may drive a contact, relative to the fastest or to 1 m/s: 0, with a
/// margin for round-off.
inline constexpr double kDrivenSpeed = 1e-10;

// Checks of a motion.

/// Velocity by which a motion may miss constraints, relative to the fastest: the tolerance of the
/// certificate.
inline constexpr double kConstraintTolerance = 1e-6;

/// The largest speed of bodies from the corrections of all overlaps together, relative to the root
/// of the sum of squares of what each alone would cause. A row that other constraints fix almost
/// exactly is a lever: without this limit, levers made bodies as fast as 10 km/s.
inline constexpr double kOverlapLeverage = 3;

/// The same for equalities and moving surfaces, relative to the sum. Equalities may have to move
/// robots in poses that are nearly singular.
inline constexpr double kWedgeLeverage = 10;

/// The largest ratio of the speeds that an equality's constant causes to those that it causes in a
/// usual pose. A light body that leads a heavy one has a ratio of 10 or 20. At the end of an arm's
/// reach, or where strong dampers hold the bodies, the ratio grows without bound.
inline constexpr double kDrivenLeverage = 30;

/// Round-off of the norms in that check.
inline constexpr double kWedgeRoundOff = 1e-9;

/// Corrections are slowed down at most this many times in a step, each time by the factor that
/// would suffice if the same constraints were active, and by this factor more.
inline constexpr int kMaxSlowdowns = 4;
inline constexpr double kSlowdownMargin = 0.9;

/// The smallest share of corrections. Below it they are given up with a warning, because overlaps
/// would part too slowly for anyone to notice.
inline constexpr double kLeastShare = 0.1;

/// The largest impulse, relative to the momentum of the island, in the units of sqrt(J) of whitened
/// rows. Beyond it, sums of impulses have fewer than 9 digits.
inline constexpr double kLargestImpulse = 1e7;

/// The largest number of contacts and limits that are solved without friction after their law
/// failed. Larger islands would take seconds, and usually have friction.
inline constexpr int kMaxFrictionlessSize = 1000;

/// Stiffness of relaxed equalities, relative to the mass that they move. They miss an unhindered
/// correction by a millionth of it, and yield to other constraints.
inline constexpr double kRelaxedStiffness = 1e6;

// Impacts.

/// Speed above which a row that closes after restitution is stopped again [m/s]: 0, with a margin
/// for the tolerance of the LCP solvers.
inline constexpr double kClosingSpeed = 1e-10;

/// Round-off of the energies that limit a rebound, relative to the energy taken.
inline constexpr double kEnergyRoundOff = 1e-12;

}  // namespace stiction::formulations
