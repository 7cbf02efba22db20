#pragma once
namespace stiction::formulations {
inline constexpr double kMaxFriction = 1e8;
inline constexpr int kMaxDenseSize = 3000;
inline constexpr double kAcceptedResidual = 1e-7;
inline constexpr double kSumRoundOff = 1e-13;
inline constexpr double kProjectionRoundOff = 1e-14;
inline constexpr double kEnergyPlay = 1e-6;
inline constexpr double kProgramShift = 1e-9;
inline constexpr int kProgramPasses = 3;
inline constexpr double kLeastEnergyGain = 1e-10;
inline constexpr int kMaxContactsAdded = 8;
inline constexpr double kRankTolerance = 1e-13;
inline constexpr double kWideRankTolerance = 1e-10;
inline constexpr double kMissedVelocity = 1e-3;
inline constexpr double kSeparatingSpeed = 1e-9;
inline constexpr double kSlippingSpeed = 1e-9;
inline constexpr double kConstraintTolerance = 1e-6;
inline constexpr double kWedgeLeverage = 10;
inline constexpr double kWedgeRoundOff = 1e-9;
inline constexpr double kLargestImpulse = 1e7;
inline constexpr double kRelaxedStiffness = 1e6;
inline constexpr double kFrictionTolerance = 1e-10;
inline constexpr double kEnoughFrictionTolerance = 1e-7;
inline constexpr int kExactFrictionRounds = 30;
inline constexpr int kMaxFrictionRounds = 200;
inline constexpr double kLeastShareOfA = 1e-6;
inline constexpr double kClosingSpeed = 1e-10;
inline constexpr double kEnergyRoundOff = 1e-12;
}  // namespace stiction::formulations
