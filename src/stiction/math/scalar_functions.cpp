#include "stiction/math/scalar_functions.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "stiction/math/six.hpp"

namespace stiction::math {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Constants whose digits exceed a double are sums of two or three. The first ones have zeros at
// their ends, so products with small integers are exact.
constexpr double kLog2[2] = {0x1.62e42fee00000p-1, 0x1.a39ef35793c76p-33};
constexpr double kHalfPi[2] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
constexpr double kHalfPiParts[3] = {0x1.921fb54400000p+0, 0x1.0b4611a600000p-34,
                                    0x1.3198a2e037073p-69};
/// atan(k / 8)
constexpr double kAtan[9][2] = {{0, 0},
                                {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
                                {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
                                {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
                                {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
                                {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
                                {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
                                {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
                                {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};

/// Returns the nearest integer to x, where |x| < 2^52. Halves are rounded up.
double round_up(double x) { return std::floor(x + 0.5); }

/// Returns the sum of coefficients[i] x^i.
template <int n>
double evaluate(const double (&coefficients)[n], double x) {
  double sum = coefficients[n - 1];
  for (int i = n - 2; i >= 0; --i) sum = multiply_add(sum, x, coefficients[i]);
  return sum;
}

/// Returns (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2, from Taylor's series.
double exp_rest(double r) {
  constexpr double kSeries[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                                1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                                1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  return evaluate(kSeries, r);
}

/// Returns sin(r) for |r| <= pi / 4.
double sin_near_zero(double r) {
  constexpr double kSeries[] = {
      -1.0 / 6,        1.0 / 120,        -1.0 / 5040,         1.0 / 362880,
      -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368e3, 1.0 / 355687428096e3};
  const double z = r * r;
  return multiply_add(r * z, evaluate(kSeries, z), r);
}

/// Returns cos(r) for |r| <= pi / 4.
double cos_near_zero(double r) {
  constexpr double kSeries[] = {
      1.0 / 24,        -1.0 / 720,         1.0 / 40320,         -1.0 / 3628800,
      1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888e3, -1.0 / 6402373705728e3};
  const double z = r * r, half = 0.5 * z, most = 1 - half;
  return most + multiply_add(z * z, evaluate(kSeries, z), (1 - most) - half);
}

/// An angle as a multiple of pi / 2, modulo 4, and a rest of at most pi / 4.
struct Quadrant {
  int index;
  double rest;
};

Quadrant find_quadrant(double x) {
  constexpr double kPerRadian = 0x1.45f306dc9c883p-1;
  const double k = round_up(x * kPerRadian);
  double rest = x;
  for (const double part : kHalfPiParts) rest = multiply_add(-k, part, rest);
  return {static_cast<int>(k - 4 * std::floor(k / 4)), rest};
}

/// Returns the sine of an angle that is `quarters` turns of pi / 2 larger than x.
double sin_after(double x, int quarters) {
  if (!(std::abs(x) <= kLargestAngle)) return kNan;
  const Quadrant at = find_quadrant(x);
  const int index = (at.index + quarters) % 4;
  const double value = index % 2 == 0 ? sin_near_zero(at.rest) : cos_near_zero(at.rest);
  return index < 2 ? value : -value;
}

}  // namespace

double exp(double x) {
  if (std::isnan(x)) return x;
  if (x > 710) return kInfinity;
  if (x < -746) return 0;
  constexpr double kPerLog2 = 0x1.71547652b82fep+0;
  const double k = round_up(x * kPerLog2);
  const double high = multiply_add(-k, kLog2[0], x), r = multiply_add(-k, kLog2[1], high);
  const double low = multiply_add(-k, kLog2[1], high - r);
  return std::ldexp(1 + (r + multiply_add(r * r, exp_rest(r), low)), static_cast<int>(k));
}

double log(double x) {
  if (x == 0) return -kInfinity;
  if (!(x > 0)) return kNan;
  if (x == kInfinity) return x;
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0x1.6a09e667f3bcdp-1) {  // sqrt(1/2)
    m *= 2;
    --exponent;
  }
  // log(1 + f) = 2 artanh(s) = f - (f^2/2 - s (f^2/2 + R)), R = 2/3 s^2 + 2/5 s^4 + ...
  const double f = m - 1, s = f / (2 + f), z = s * s, half_square = 0.5 * f * f, k = exponent;
  constexpr double kSeries[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13,
                                2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};
  const double rest = multiply_add(s, half_square + z * evaluate(kSeries, z), k * kLog2[1]);
  return k * kLog2[0] - ((half_square - rest) - f);
}

double log1p(double x) {
  if (!(x > -1) || x == kInfinity) return x == kInfinity ? x : log(1 + x);
  if (std::abs(x) < 0x1p-53) return x;
  const double sum = 1 + x;
  const double lost = x < 1 ? x - (sum - 1) : 1 - (sum - x);  // 1 + x - sum, exactly
  return log(sum) + lost / sum;
}

double atan(double x) {
  if (std::isnan(x)) return x;
  const double size = std::abs(x);
  const bool is_steep = size > 1;
  const double t = is_steep ? 1 / size : size;
  // atan(t) = atan(c) + atan(r) with c = k / 8
  const auto k = static_cast<int>(std::lround(8 * t));
  const double c = k / 8.0, r = (t - c) / multiply_add(t, c, 1), z = r * r;
  constexpr double kSeries[] = {-1.0 / 3,  1.0 / 5,  -1.0 / 7, 1.0 / 9,
                                -1.0 / 11, 1.0 / 13, -1.0 / 15};
  const double rest = multiply_add(r * z, evaluate(kSeries, z), kAtan[k][1]) + r;
  const double angle = kAtan[k][0] + rest;
  return std::copysign(is_steep ? kHalfPi[0] - (angle - kHalfPi[1]) : angle, x);
}

double atan2(double y, double x) {
  if (std::isnan(x) || std::isnan(y)) return x + y;
  const double up = std::abs(y), along = std::abs(x);
  double angle = 0;
  if (up == along && (up == 0 || up == kInfinity))
    angle = up == 0 ? 0 : 0.5 * kHalfPi[0];
  else
    angle = atan(up / along);
  if (std::signbit(x)) angle = 2 * kHalfPi[0] - (angle - 2 * kHalfPi[1]);
  return std::copysign(angle, y);
}

double sin(double x) { return x == 0 ? x : sin_after(x, 0); }
double cos(double x) { return sin_after(x, 1); }

double hypot(double x, double y) {
  double a = std::abs(x), b = std::abs(y);
  if (a == kInfinity || b == kInfinity) return kInfinity;
  if (std::isnan(a) || std::isnan(b)) return kNan;
  if (a < b) std::swap(a, b);
  if (b <= a * 0x1p-54) return a + b;
  // Scaled by a power of 2, squares are normal numbers.
  const double scale = a > 0x1p500 ? 0x1p-600 : b < 0x1p-450 ? 0x1p600 : 1;
  a *= scale;
  b *= scale;
  // The square is carried with its rounding error, which corrects the root.
  const double aa = a * a, bb = b * b, square = aa + bb;
  const double error = ((aa - square) + bb) + (multiply_add(a, a, -aa) + multiply_add(b, b, -bb));
  const double root = std::sqrt(square);
  return (root + (multiply_add(-root, root, square) + error) / (2 * root)) / scale;
}

double cbrt(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  if (std::abs(x) < 0x1p-500) return 0x1p-200 * cbrt(0x1p600 * x);  // the residual must be normal
  const double size = std::abs(x), root = exp(log(size) / 3), square = root * root;
  // One step of Newton's method, with an accurate residual.
  const double residual =
      multiply_add(square, root, -size) + multiply_add(root, root, -square) * root;
  return std::copysign(root - residual / (3 * square), x);
}

}  // namespace stiction::math
