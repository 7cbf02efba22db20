#include "stiction/contact/reference_laws.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stiction::contact {
namespace {

double positive_part(double x) { return x > 0 ? x : 0; }

/// dt k (x0 - dt v)_+ (1 - d v)_+, the implicit Hunt-Crossley impulse at velocity v.
double hunt_crossley(const Contact& c, double dt, double v) {
  return dt * positive_part(c.fn0 - dt * c.stiffness * v) * positive_part(1 - c.dissipation * v);
}

/// Friction of the lagged models: -gamma_n0 m (m u) / sqrt(|m u|^2 + (mu eps_s)^2).
void add_lagged_friction(const Contact& c, double gamma_n0, double eps_s, const ContactVector& v_c,
                         ContactVector* gamma) {
  constexpr int kSlip[5] = {0, 1, 3, 4, 5};
  const int num_slips = c.dim - 1;  // none for a frictionless contact
  double largest = 1e-9;            // coefficient; those of rotation at a radius of one meter
  for (int i = 0; i < num_slips; ++i) largest = std::max(largest, c.friction[i]);
  double squared = std::pow(largest * eps_s, 2);
  for (int i = 0; i < num_slips; ++i) squared += std::pow(c.friction[i] * v_c[kSlip[i]], 2);
  for (int i = 0; i < num_slips; ++i)
    (*gamma)[kSlip[i]] =
        -gamma_n0 * c.friction[i] * (c.friction[i] * v_c[kSlip[i]]) / std::sqrt(squared);
}

/// The point of the cone |gamma_t| <= mu gamma_n nearest to y in the norm of R.
void project_on_cone(double mu, double R_t, double R_n, double y_t1, double y_t2, double y_n,
                     ContactVector* gamma) {
  const double y_t = std::hypot(y_t1, y_t2);
  double n = y_n, t = y_t;
  if (y_t > mu * y_n || y_n < 0) {
    // On the boundary gamma = s (mu, 1): minimize R_t (mu s - y_t)^2 + R_n (s - y_n)^2 over s >= 0.
    n = positive_part((mu * R_t * y_t + R_n * y_n) / (mu * mu * R_t + R_n));
    t = mu * n;
  }
  (*gamma)[0] = y_t > 0 ? t * y_t1 / y_t : 0;
  (*gamma)[1] = y_t > 0 ? t * y_t2 / y_t : 0;
  (*gamma)[2] = n;
}

}  // namespace

ReferenceImpulse calc_reference_impulse(ContactModel model, const ModelParameters& parameters,
                                        const Contact& c, double dt, double w, double v_n0,
                                        const ContactVector& v_c) {
  ReferenceImpulse out;
  const double mu = c.dim == 1 ? 0 : (c.friction[0] + c.friction[1]) / 2;
  const double gamma_n0 = dt * positive_part(c.fn0) * positive_part(1 - c.dissipation * v_n0);
  const double eps_regularized = std::max(parameters.stiction_tolerance,
                                          parameters.friction_regularization * w * mu * gamma_n0);
  switch (model) {
    case ContactModel::lagged:
    case ContactModel::lagged_regularized: {
      const double eps_s =
          model == ContactModel::lagged ? parameters.stiction_tolerance : eps_regularized;
      out.gamma[2] = hunt_crossley(c, dt, v_c[2]);
      out.normal_bound = gamma_n0;
      add_lagged_friction(c, gamma_n0, eps_s, v_c, &out.gamma);
      break;
    }
    case ContactModel::similar: {
      const double slip2 = v_c[0] * v_c[0] + v_c[1] * v_c[1];
      const double h = std::sqrt(slip2 + eps_regularized * eps_regularized);
      const double n = hunt_crossley(c, dt, v_c[2] - mu * slip2 / (h + eps_regularized));
      out.gamma = {-mu * n * v_c[0] / h, -mu * n * v_c[1] / h, n};
      out.normal_bound = n;
      break;
    }
    case ContactModel::sap: {
      const double pi = std::numbers::pi;
      const double beta = parameters.near_rigid_factor;
      const double R_n = std::max(beta * beta / (4 * pi * pi) * w,
                                  1 / (dt * c.stiffness * (dt + c.relaxation_time)));
      const double R_t = std::max(parameters.friction_regularization, 1e-9) * w;
      const double v_hat = c.fn0 / c.stiffness / (dt + c.relaxation_time);
      project_on_cone(mu, R_t, R_n, -v_c[0] / R_t, -v_c[1] / R_t, (v_hat - v_c[2]) / R_n,
                      &out.gamma);
      out.normal_bound = out.gamma[2];
      break;
    }
    case ContactModel::tamsi: {
      const double v_s = parameters.stiction_tolerance;
      const double slip = std::hypot(v_c[0], v_c[1], 0.01 * v_s);
      const double missing = positive_part(1 - slip / v_s);  // to full slip
      const double n = hunt_crossley(c, dt, v_c[2]);
      const double per_slip = mu * (1 - missing * missing) * n / slip;
      out.gamma = {-per_slip * v_c[0], -per_slip * v_c[1], n};
      out.normal_bound = n;
      break;
    }
    case ContactModel::mujoco: break;  // not a law of ours; never certified
  }
  return out;
}

double calc_friction_work(const ContactVector& gamma, const ContactVector& v_c) {
  double work = 0;
  for (const int e : {0, 1, 3, 4, 5}) work += gamma[e] * v_c[e];
  return work;
}

double calc_reference_row_impulse(const Row& row, double v_r) {
  if (row.kind == RowKind::kFriction) return -row.bound * v_r / std::hypot(v_r, row.slip_tolerance);
  const double gamma = (row.target - v_r) / row.regularization;
  return row.kind == RowKind::kLimit ? positive_part(gamma) : gamma;
}

}  // namespace stiction::contact
