#include "campaign/world_connections.hpp"

namespace stiction::campaign {
namespace {

/// Adds what connects bodies: equalities, tendons and actuators.
class Connections {
 public:
  Connections(const View& view, Dice* dice, const Parts& parts, WorldTraits* traits)
      : view_(view), dice_(*dice), parts_(parts), traits_(*traits) {}

  std::string make() {
    std::string out;
    if (dice_.chance(0.25)) out += "<equality>" + make_equality() + "</equality>";
    if (dice_.chance(0.3)) out += "<tendon>" + make_tendon() + "</tendon>";
    std::string actuators;
    for (const std::string& joint : parts_.scalar_joints)
      if (dice_.chance(0.5)) actuators += make_actuator("joint", joint);
    if (has_tendon_ && dice_.chance(0.5)) actuators += make_actuator("tendon", "t");
    if (dice_.chance(0.08)) actuators += make_adhesion();
    if (!actuators.empty()) out += "<actuator>" + actuators + "</actuator>";
    return out;
  }

 private:
  const std::string& choose(const std::vector<std::string>& names) {
    return names[dice_.below(static_cast<int>(names.size()))];
  }

  std::string make_equality() {
    const std::string& a = choose(parts_.bodies);
    const std::string& b = choose(parts_.bodies);
    const int kind = dice_.below(3);
    const bool is_to_world = dice_.chance(0.4) || a == b;
    const std::string soft = attribute("solref", text(dice_.log_uniform(5e-3, 0.1)) + " 1");
    if (kind == 2) {
      if (parts_.scalar_joints.size() < 2) return "";
      return "<joint" + attribute("joint1", parts_.scalar_joints[0]) +
             attribute("joint2", parts_.scalar_joints[1]) +
             attribute("polycoef", "0 " + text(dice_.uniform(-1, 1)) + " 0 0 0") + soft + "/>";
    }
    traits_.has_equality = true;
    return (kind == 0 ? "<connect" + attribute("anchor", view_.polar(0.05, 0.02, 0)) : "<weld") +
           attribute("body1", a) + attribute("body2", is_to_world ? "fixed" : b) + soft + "/>";
  }

  std::string make_tendon() {
    std::string common = attribute("name", "t");
    if (dice_.chance(0.5)) common += attribute("stiffness", dice_.log_uniform(1, 300));
    if (dice_.chance(0.5)) common += attribute("damping", dice_.log_uniform(0.01, 10));
    if (dice_.chance(0.2)) common += attribute("frictionloss", dice_.log_uniform(0.01, 1));
    if (dice_.chance(0.3)) common += attribute("limited", "true") + attribute("range", "0.05 0.15");
    has_tendon_ = true;
    if (parts_.scalar_joints.size() > 1 && dice_.chance(0.5)) {
      std::string out = "<fixed" + common + ">";
      for (int i = 0; i < 2; ++i)
        out += "<joint" + attribute("joint", parts_.scalar_joints[i]) +
               attribute("coef", dice_.uniform(-1, 1)) + "/>";
      return out + "</fixed>";
    }
    traits_.has_spatial_tendon = true;
    std::string out = "<spatial" + common + "><site site=\"tie\"/>";
    traits_.has_wrap = !parts_.wraps.empty();
    if (traits_.has_wrap) out += "<geom" + attribute("geom", choose(parts_.wraps)) + "/>";
    return out + "<site" + attribute("site", "s" + choose(parts_.bodies)) + "/></spatial>";
  }

  std::string make_actuator(const char* transmission, const std::string& name) {
    std::string common = attribute(transmission, name);
    if (dice_.chance(0.4))
      common += attribute("forcelimited", "true") +
                attribute("forcerange", "-" + text(1) + " " + text(dice_.log_uniform(0.01, 10)));
    common += attribute("gear", dice_.uniform(0.5, 2));
    const double gain = dice_.log_uniform(1, 1000), damping = dice_.log_uniform(0.01, 10);
    switch (dice_.below(6)) {
      case 0: return "<motor" + common + "/>";
      case 1: return "<position" + common + attribute("kp", gain) + attribute("kv", damping) + "/>";
      case 2: return "<velocity" + common + attribute("kv", damping) + "/>";
      case 3:
        return "<intvelocity" + common + attribute("kp", gain) + attribute("actrange", "-1 1") +
               "/>";
      case 4:
        return "<damper" + common + attribute("kv", damping) + attribute("ctrlrange", "0 1") + "/>";
      default:
        return "<general" + common + attribute("dyntype", "filter") + attribute("dynprm", 0.05) +
               attribute("gainprm", damping) + "/>";
    }
  }

  std::string make_adhesion() {
    traits_.has_adhesion = true;
    const double gain = dice_.log_uniform(1, 100);
    const std::string& body = choose(parts_.bodies);
    return "<adhesion" + attribute("body", body) + attribute("ctrlrange", "0 1") +
           attribute("gain", gain) + "/>";
  }

  const View& view_;
  Dice& dice_;
  const Parts& parts_;
  WorldTraits& traits_;
  bool has_tendon_ = false;
};

}  // namespace

std::string make_connections(const View& view, const Parts& parts, Dice* dice,
                             WorldTraits* traits) {
  return Connections(view, dice, parts, traits).make();
}

}  // namespace stiction::campaign
