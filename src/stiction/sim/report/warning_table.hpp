#pragma once

#include "stiction/sim/report/warning_text.hpp"

/// The warnings of a step: the kind and the text of each, and the causes that a text may name.
namespace stiction::sim::warnings {

inline constexpr Warning kMuJoCo{WarningKind::mujoco, "{text}"};

inline constexpr Warning kThinPatch{
    WarningKind::patch_limit,
    "{geom 0} and {geom 1} approach each other by more than half the thickness of a compliant body "
    "within a step, so the contact may be missed; take a smaller step"};
inline constexpr Warning kTurnedPatch{
    WarningKind::patch_limit,
    "{geom 0} and {geom 1} are pushed aside: the force along their first direction decreases with "
    "the depth, because it has turned. A round body passes beside the middle of another one, or a "
    "body reaches over an edge, and will come out at the side or behind; press the bodies along "
    "the line of their centers, or use a larger modulus or a smaller step"};
inline constexpr Warning kDeepPatch{
    WarningKind::patch_limit,
    "{geom 0} and {geom 1} overlap deeper than their pressure fields cover: beyond a compliant "
    "body's medial axis, or where their force decreases with the depth, or one is behind a "
    "plane{cause}"};
inline constexpr const char* kKnownPatch =
    "; use a thicker body, a larger modulus or a smaller step";
inline constexpr const char* kUnknownPatch =
    ". No step before is known from which the force could go on, so it is that of the fields; "
    "start with less overlap, give each MjData its own simulator, or restore its state with a "
    "checkpoint";

inline constexpr Warning kConflict{
    WarningKind::conflict,
    "overlaps, limits or equalities cannot be corrected together, so some were corrected only "
    "partly or not at all{text}: a body is squeezed, a joint limit lies inside a surface, or an "
    "equality pulls a body into a surface or contradicts another equality; remove one of them"};
inline constexpr Warning kTiedMocap{
    WarningKind::conflict,
    "a connect, weld or tendon ties a body to a moving mocap body, but 'rk4' does not correct "
    "equalities and limits, so the body does not follow; choose the integrator 'euler' or "
    "'event_driven'"};
inline constexpr Warning kBlockedMocap{
    WarningKind::conflict,
    "a mocap body pushes or pulls others where they cannot go, so in this step it closes no "
    "contact, or has no velocity at all, and may pass into them; move it back, or use a compliant "
    "contact model"};
inline constexpr const char* kJump =
    "mocap {body 0} jumped: its known velocity does not explain {0:2} times the thickness of its "
    "geoms, so {cause} no faster than max_correction_speed; move it by a similar, smaller distance "
    "before every step";
inline constexpr Warning kJumpIntoOthers{WarningKind::penetration, kJump};
inline constexpr Warning kJumpOfTies{WarningKind::conflict, kJump};

inline constexpr Warning kLargeForce{
    WarningKind::large_force,
    "{geom 0} and {geom 1} press on each other with {0:2} N, {1:1} times the weight of all bodies "
    "that contacts and joints connect with them, which neither motion nor applied forces explain; "
    "they overlap by {2:2} m, and {cause}"};
inline constexpr const char* kRigidForce =
    "sticking contacts may hold a moment by a short lever, or joints hardly let the geoms part; "
    "use rigid_coulomb or a compliant contact model, or exclude the pair from collision";
inline constexpr const char* kCompliantForce =
    "their joints hardly let them part; exclude the pair from collision, or give the geoms a "
    "stiffness";

inline constexpr Warning kPenetration{
    WarningKind::penetration,
    "{geom 0} and {geom 1} overlap by {0:2} m in the step, and {geom 2} is {1:2} m thick: {cause}"};
inline constexpr const char* kRestingMocap =
    "the pose of the mocap body has jumped, or it pushes others where they cannot go, so it has no "
    "velocity and pushes no faster than overlaps part, at max_correction_speed; move it by a "
    "similar distance before every step, or raise max_correction_speed";
inline constexpr const char* kIgnoredGap =
    "the contact model ignores contacts that have a gap at the start of a step, so fast bodies "
    "pass through others; take a smaller step, or choose another contact model";
inline constexpr const char* kPassedThrough =
    "they have passed into each other between the contact points of two steps, as a thin or fast "
    "body can; take a smaller step, or make the bodies thicker";
inline constexpr const char* kTooSoft =
    "the contact is too soft for its load or its speed, so a body may be squeezed flat or pass "
    "through the other; take a smaller step, or give the geoms a larger stiffness";
inline constexpr const char* kTooSoftNearRigid =
    "the contact is too soft for its load or its speed, so a body may be squeezed flat or pass "
    "through the other; take a smaller step or a smaller near_rigid_factor, which limits the "
    "stiffness, or choose another contact model";
inline constexpr const char* kTooFastRigid =
    "their velocities do not keep them apart; take a smaller step";

inline constexpr Warning kLimit{
    WarningKind::limit,
    "{text} is {0:2} {cause} beyond its range, and the contact model should let it go by less than "
    "{1:2}: it moves too far along a curve within a step, or other constraints push it; take a "
    "smaller step, raise max_correction_speed, or use a compliant contact model"};

inline constexpr Warning kLawDepth{
    WarningKind::law_range,
    "{geom 0} and {geom 1} touch with a penetration of {0:3} m, but the table of the normal law "
    "ends at {1:3} m: the force continues along the table's tangent; extend the table"};
inline constexpr Warning kLawRate{
    WarningKind::law_range,
    "{geom 0} and {geom 1} touch with a rate of {0:3} m/s, but the table of the normal law ends at "
    "{1:3} m/s: the force continues along the table's tangent; extend the table"};

inline constexpr Warning kCoupling{
    WarningKind::coupling,
    "{geom 0}, {geom 1} and the {id 2} contacts that are connected with them: friction is bounded "
    "by normal impulses that differ from those of the step by {0:2} times their mean, because no "
    "impulses that agree were found in {id 3} rounds; take a smaller step, or choose "
    "lagged_regularized, whose friction is bounded by those of the step before"};

inline constexpr Warning kRotation{
    WarningKind::rotation,
    "{joint 0} turns by {0:3} rad in the step, more than half a turn, so forces that depend on its "
    "angle or on its speed are not resolved and may add energy; take a smaller step, or give the "
    "joint armature or damping"};

inline constexpr Warning kPluginState{
    WarningKind::plugin_state,
    "the state of the engine plugins {text} is stepped, but its error does not shorten the steps "
    "of advance, because nothing is known of its units; give max_time_step the step that the "
    "plugins need"};

inline constexpr Warning kCreep{
    WarningKind::anchors,
    "{geom 0} and {geom 1} creep by {0:2} m/s although friction could hold them: in many steps "
    "their contacts are others than in the step before, or the step does not begin with the state "
    "in which the last one ended, so the springs of contacts that stick are lost; set no positions "
    "between steps, or give both geoms pressure fields (hydroelastic_modulus), a larger stiffness, "
    "or a shape with fewer corners"};

inline constexpr Warning kWalk{
    WarningKind::anchors,
    "{geom 0} and {geom 1} walk on each other by {0:2} m/s although friction could hold them: in "
    "many steps some of their contacts slip while the others stick, because their loads swing near "
    "the bound of friction; press them harder, or give them a larger friction or stiffness"};

inline constexpr Warning kMadeEnergy{
    WarningKind::made_energy,
    "{geom 0} and {geom 1} have gained {0:2} J since they touch that their motion has not put into "
    "the contact: they overlap so deeply that its direction turns or its points change faster than "
    "a step resolves, or the contact model lifts what slides; exclude the pair from collision, "
    "give the geoms less stiffness, take a smaller step, or use 'coulomb' in place of 'sap' or "
    "'similar'"};

inline constexpr Warning kFullContactList{
    WarningKind::contact_list,
    "{geom 0} and {geom 1} touch at {id 2} points or more, of which MuJoCo keeps no more than "
    "{id 2}: on the ridges and peaks beyond them the geoms do not touch, so a body may tip or "
    "sink; give the height field coarser cells, or divide the geom into smaller ones"};

}  // namespace stiction::sim::warnings
