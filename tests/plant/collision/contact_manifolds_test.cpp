#include "stiction/plant/collision/contact_manifolds.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/scene.hpp"

namespace stiction::plant::contact_manifolds_test {
namespace {

using math::Vec3;
using support::Scene;

/// A geom above a plane, whose contacts are found for one pose after the other.
class Pair {
 public:
  explicit Pair(const std::string& geom, const std::string& assets = "")
      : scene_(support::make_mjcf("", "<asset>" + assets +
                                          "</asset><worldbody><geom type='plane' size='5 5 1'/>"
                                          "<body><freejoint/><geom " +
                                          geom + "/></body></worldbody>")) {}

  /// Turns the body about a horizontal axis, sinks its center to a height, and finds its contacts.
  /// @param tilt  angle [rad], 0: flat
  /// @param about direction of the axis in the plane [rad]
  std::vector<mjContact> collide(double height, double tilt, double about, double x = 0,
                                 bool keeps = true) {
    mjtNum* const q = scene_.data->qpos;
    const double pose[] = {x,
                           0,
                           height,
                           std::cos(0.5 * tilt),
                           std::sin(0.5 * tilt) * std::cos(about),
                           std::sin(0.5 * tilt) * std::sin(about),
                           0};
    std::copy_n(pose, 7, q);
    mj_fwdPosition(scene_.model, scene_.data);
    listed_.assign(scene_.data->contact, scene_.data->contact + scene_.data->ncon);
    if (keeps) keep();
    return {scene_.data->contact, scene_.data->contact + scene_.data->ncon};
  }
  /// Goes on as if MuJoCo listed these contacts at the present pose.
  std::vector<mjContact> go_on_with(const std::vector<mjContact>& listed) {
    std::ranges::copy(listed, scene_.data->contact);
    scene_.data->ncon = static_cast<int>(listed.size());
    keep();
    return {scene_.data->contact, scene_.data->contact + scene_.data->ncon};
  }
  /// The contacts that MuJoCo listed in the last call.
  const std::vector<mjContact>& listed() const { return listed_; }

 private:
  void keep() {
    manifolds_.set_memory(&before_, &now_);
    manifolds_.keep(scene_.model, scene_.data);
    std::swap(before_, now_);
  }

  Scene scene_;
  ContactManifolds manifolds_;
  ManifoldList before_, now_;
  std::vector<mjContact> listed_;
};

constexpr const char* kCan = "type='cylinder' size='.1 .05'";

double find_deepest(const std::vector<mjContact>& contacts) {
  double deepest = 0;
  for (const mjContact& con : contacts) deepest = std::min<double>(deepest, con.dist);
  return deepest;
}

/// Returns how far the contacts reach in a direction of the plane [m].
double find_extent(const std::vector<mjContact>& contacts, double direction) {
  double most = -1;
  for (const mjContact& con : contacts)
    most = std::max(most, std::cos(direction) * con.pos[0] + std::sin(direction) * con.pos[1]);
  return most;
}

TEST(ContactManifolds, ChangeNothingWherePointsStay) {
  Pair box("type='box' size='.1 .1 .05'");
  for (int i = 0; i < 20; ++i) {
    const double x = 1e-3 * i;  // it slides
    const auto contacts = box.collide(0.0499 - 1e-6 * i, 0, 0, x);
    ASSERT_EQ(contacts.size(), box.listed().size());
    for (std::size_t c = 0; c < contacts.size(); ++c)
      EXPECT_EQ(std::memcmp(&contacts[c], &box.listed()[c], sizeof(mjContact)), 0) << i;
  }
}

// A can that rocks by microradians is listed at other points of its rim.
TEST(ContactManifolds, GoOnWhereACanRocks) {
  Pair can(kCan);
  std::mt19937_64 rng(1);
  std::uniform_real_distribution<double> angle(0, 2 * std::numbers::pi), tilt(0, 2e-6);
  std::size_t num_before = can.collide(0.0499, 0, 0).size();
  for (int i = 0; i < 100; ++i) {
    const std::size_t num = can.collide(0.0499, tilt(rng), angle(rng)).size();
    EXPECT_GE(num, std::min<std::size_t>(num_before, 20));  // none of them goes
    EXPECT_LE(num, 30u);
    num_before = num;
  }
}

// Whatever a body does, no depth and no extent of MuJoCo's points is lost.
TEST(ContactManifolds, HideNoContactThatTheyDoNotSupport) {
  const std::string prism = support::make_prism_mesh();
  for (const bool is_can : {true, false}) {
    Pair pair(is_can ? kCan : "type='mesh' mesh='prism'", is_can ? "" : prism);
    std::mt19937_64 rng(2);
    std::uniform_real_distribution<double> unit(0, 1);
    double height = 0.0499, tilt = 0, about = 0;
    for (int i = 0; i < 3000; ++i) {
      // Small and large moves in turn.
      const double size = std::pow(10, -7 + 5 * unit(rng));
      tilt = std::abs(tilt + size * (unit(rng) - 0.5)) * (i % 50 != 0);
      about += i % 10 == 0 ? 6 * unit(rng) : size * unit(rng);
      height = 0.0499 - 1e-4 * unit(rng) * unit(rng) + 0.1 * tilt;
      const auto contacts = pair.collide(height, tilt, about);
      if (pair.listed().empty()) continue;
      const double deepest = find_deepest(pair.listed());
      EXPECT_LE(find_deepest(contacts), 0.998 * deepest) << i;
      for (double direction = 0; direction < 6.2; direction += 0.1)
        EXPECT_GE(find_extent(contacts, direction), find_extent(pair.listed(), direction) - 2.5e-3)
            << i << ' ' << direction;
    }
  }
}

/// Returns a point of the edge between two contacts.
mjContact find_between(const mjContact& one, const mjContact& other) {
  mjContact middle = one;
  for (int i = 0; i < 3; ++i) middle.pos[i] = 0.5 * (one.pos[i] + other.pos[i]);
  middle.dist = 0.5 * (one.dist + other.dist);
  return middle;
}

// Faces that nearly coincide have edges that cross anywhere, so that MuJoCo lists such points. A
// box that stands on one edge must not get a new spring there, which would kick it.
TEST(ContactManifolds, LeaveOutPointsOfEdgesBetweenTwoOfThem) {
  Pair pair("type='box' size='.1 .1 .05' gap='.01'");
  std::vector<mjContact> corners = pair.collide(0.05015, 2e-3, 0);
  ASSERT_EQ(corners.size(), 4u);
  std::ranges::sort(corners, {}, [](const mjContact& con) { return con.dist; });
  ASSERT_LT(corners[1].dist, 0);
  ASSERT_GT(corners[2].dist, 1e-4);
  const bool is_side = std::abs(corners[0].pos[0] - corners[2].pos[0]) < 1e-3;
  const mjContact& above = corners[is_side ? 2 : 3];  // on the same side as the first
  const mjContact& other = corners[is_side ? 3 : 2];
  // In place of an open corner, a point of the edge that leads to it.
  const mjContact stray = find_between(corners[0], above);
  std::vector<mjContact> kept = pair.go_on_with({corners[0], corners[1], stray, other});
  EXPECT_EQ(kept.size(), 4u);
  EXPECT_TRUE(std::ranges::none_of(
      kept, [&](const mjContact& con) { return std::equal(con.pos, con.pos + 3, stray.pos); }));
  // A point between the two that press, where no other is listed.
  const mjContact middle = find_between(corners[0], corners[1]);
  kept = pair.go_on_with({corners[0], middle});
  EXPECT_EQ(kept.size(), 2u);
  EXPECT_TRUE(std::ranges::none_of(
      kept, [&](const mjContact& con) { return std::equal(con.pos, con.pos + 3, middle.pos); }));
}

TEST(ContactManifolds, GoWhereBodiesSeparateSlideOrTurn) {
  // Returns the number of contacts beside those that MuJoCo lists.
  const auto count_kept = [](double height, double tilt, double x) {
    Pair can(kCan);
    for (const double about : {0.0, 2.1, 4.0}) can.collide(0.0499, 1e-6, about);
    const std::size_t num = can.collide(height, tilt, 1, x).size();
    return static_cast<int>(num - can.listed().size());
  };
  EXPECT_GT(count_kept(0.0499, 1e-6, 0), 0);
  EXPECT_GT(count_kept(0.0499, 1e-6, 0.4e-4), 0);  // a thousandth of the radius is 5e-5 m
  EXPECT_EQ(count_kept(0.0499, 1e-6, 2e-4), 0);
  EXPECT_EQ(count_kept(0.0499, 3e-3, 0), 0);  // the normals differ
  EXPECT_EQ(count_kept(0.06, 0, 0), 0);
}

TEST(ManifoldList, FindsThePointsOfTwoGeoms) {
  ManifoldList list, copy;
  for (const int geom : {3, 1, 2}) {
    list.manifolds.push_back({.geoms = {0, geom},
                              .first_point = static_cast<int>(list.points.size()),
                              .num_points = geom});
    for (int i = 0; i < geom; ++i)
      list.points.push_back({.place = {Vec3{1.0 * geom, 1.0 * i, 0}, Vec3{}}});
  }
  list.sort();
  EXPECT_EQ(list.points_of(*list.find({0, 3})).size(), 3u);
  EXPECT_EQ(list.points_of(*list.find({0, 2}))[1].place[0].x, 2);
  EXPECT_EQ(list.find({1, 2}), nullptr);
  copy.copy(list.manifolds[1], list);
  EXPECT_EQ(copy.points_of(*copy.find({0, 2})).size(), 2u);
  EXPECT_EQ(copy.points_of(*copy.find({0, 2}))[1].place[0].y, 1);
}

}  // namespace
}  // namespace stiction::plant::contact_manifolds_test
