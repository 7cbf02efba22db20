#include "stiction/math/spatial.hpp"

#include <gtest/gtest.h>

namespace stiction::math::spatial_test {
namespace {

TEST(CrossMatrix, TimesAVectorIsTheCrossProduct) {
  constexpr double kRoundOff = 1e-15;  // of differences of two products with factors up to 1
  for (int i = 0; i < 100; ++i) {
    const Vector3 r = Vector3::Random(), a = Vector3::Random();
    EXPECT_LE((cross_matrix(r) * a - r.cross(a)).norm(), kRoundOff);
  }
}

TEST(CrossMatrix, IsSkewSymmetric) {
  const Matrix3 m = cross_matrix({1, -2, 3});
  EXPECT_EQ(m.transpose(), Matrix3(-m));
  EXPECT_EQ(m.diagonal(), Vector3::Zero());
}

}  // namespace
}  // namespace stiction::math::spatial_test
