#include "stiction/contact/dense_hessian.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "stiction/contact/plain_kinematics.hpp"
#include "stiction/contact/reference_laws.hpp"
#include "stiction/contact/row_impulse.hpp"

namespace stiction::contact {
namespace {

double largest(const ContactVector& x) {
  double out = 0;
  for (const double e : x) out = std::max(out, std::abs(e));
  return out;
}

/// -d gamma / d v_c[e] by central differences. The step is the smallest whose change of the impulse
/// rounding cannot spoil: a larger one might reach over a kink, where contact or slip begins.
template <class Law>
ContactVector calc_hessian_column(const Law& law, const ContactVector& v_c, int e) {
  constexpr double kMinChange = 1e-6;  // of the impulse; its rounding is ten orders below
  constexpr double kMaxStep = 1e-5;    // [m/s, rad/s]; the impulse hardly depends on v_c[e]
  const double scale = largest(law(v_c));
  for (double h = 1e-14;; h *= 10) {
    ContactVector above = v_c, below = v_c, column;
    above[e] += h;
    below[e] -= h;
    const ContactVector gamma_above = law(above), gamma_below = law(below);
    for (int i = 0; i < 6; ++i) column[i] = gamma_below[i] - gamma_above[i];
    if (largest(column) < kMinChange * scale && h < kMaxStep) continue;
    for (double& entry : column) entry /= above[e] - below[e];  // as rounded
    return column;
  }
}

/// H as a sum, column-major.
class DenseSum {
 public:
  explicit DenseSum(int num_dofs)
      : num_dofs_(num_dofs), H_(static_cast<std::size_t>(num_dofs) * num_dofs, 0.0) {}

  /// H += x g y^T.
  void add_outer_product(std::span<const double> x, double g, std::span<const double> y) {
    if (g == 0) return;
    for (int j = 0; j < num_dofs_; ++j) {
      if (y[j] == 0) continue;
      for (int i = 0; i < num_dofs_; ++i) H_[i + j * num_dofs_] += x[i] * g * y[j];
    }
  }

  void add_A(const ContactProblem& problem) {
    std::vector<double> unit(num_dofs_, 0.0);
    for (int j = 0; j < num_dofs_; ++j) {
      unit[j] = 1;
      add_A_product(problem, unit,
                    {H_.data() + j * num_dofs_, static_cast<std::size_t>(num_dofs_)});
      unit[j] = 0;
    }
  }

  std::vector<double> take() { return std::move(H_); }

 private:
  int num_dofs_;
  std::vector<double> H_;
};

/// Rows of J of one contact.
std::array<std::vector<double>, 6> calc_jacobian(const ContactProblem& problem,
                                                 const BodyPair& pair, const Contact& c) {
  std::array<std::vector<double>, 6> J;
  for (int e = 0; e < 6; ++e) {
    ContactVector unit{};
    unit[e] = 1;
    double F[6] = {0, 0, 0, 0, 0, 0};
    add_contact_wrench(c, unit, F);
    J[e].assign(problem.num_dofs(), 0.0);
    add_pair_force(problem, pair, F, J[e]);
  }
  return J;
}

}  // namespace

std::vector<double> calc_dense_hessian(const ContactProblem& problem, ContactModel model,
                                       const ModelParameters& parameters,
                                       std::span<const double> v) {
  DenseSum H(problem.num_dofs());
  H.add_A(problem);
  for (const BodyPair& pair : problem.pairs) {
    double V0[6], V[6];
    calc_pair_motion(problem, pair, problem.v0, V0);
    calc_pair_motion(problem, pair, v, V);
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      const Contact& c = problem.contacts[i];
      const double v_n0 = calc_contact_velocity(c, V0)[2];
      const auto law = [&](const ContactVector& v_c) {
        return calc_reference_impulse(model, parameters, c, problem.time_step, problem.delassus[i],
                                      v_n0, v_c)
            .gamma;
      };
      const ContactVector v_c = calc_contact_velocity(c, V);
      const std::array<std::vector<double>, 6> J = calc_jacobian(problem, pair, c);
      for (int e = 0; e < 6; ++e) {
        const ContactVector G = calc_hessian_column(law, v_c, e);
        for (int f = 0; f < 6; ++f) H.add_outer_product(J[f], G[f], J[e]);
      }
    }
  }
  std::vector<double> J_row(problem.num_dofs());
  for (const Row& row : problem.rows) {
    std::fill(J_row.begin(), J_row.end(), 0.0);
    add_row_force(problem, row, 1, J_row);
    const double v_r = calc_row_velocity(problem, row, v);
    H.add_outer_product(J_row, calc_row_impulse(row, v_r).stiffness, J_row);
  }
  return H.take();
}

}  // namespace stiction::contact
