#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "stiction/base/work_limits.hpp"
#include "stiction/formulations/convex/contact_space.hpp"
#include "stiction/formulations/convex/coupled_island.hpp"
#include "stiction/formulations/convex/formulation.hpp"
#include "stiction/formulations/convex/sweeps.hpp"
#include "stiction/numerics/factorizations.hpp"

namespace stiction::formulations {

/// The convex problem of an island in contact space, a numerics::NewtonProblem that starts from
/// sweeps over the contacts. Its solution is the start of IslandProblem, which checks it.
template <HasFrictionBound F>
class ContactSpaceIsland : public ContactSpace {
 public:
  using Formulation = F;
  using Torsion = typename F::Torsion;

  struct Arrays {
    Scratch space;
    std::vector<ContactBatch<F>> batches;
    std::vector<TorsionBatch<Torsion>> torsion_batches;
    std::vector<double> M, column;  // of solve_bounds
  };

  /// @param island at its start, see IslandDofs::start
  /// @param factor of the problem, or null
  ContactSpaceIsland(const IslandDofs& island, const contact::MomentumFactor* factor,
                     Arrays* arrays)
      : ContactSpace(island, factor, &arrays->space), arrays_(*arrays) {}

  /// Computes W, makes the laws of the contacts, and sweeps.
  /// @return false if A is not positive definite
  bool start(const contact::ModelParameters& model) {
    if (!build()) return false;
    make_laws(model);
    sweep();
    return true;
  }

  numerics::Residual calc_gradient() {
    update_velocities();
    for_each_place([&](auto& batch, const Place& place) { read_velocity(place, &batch); });
    int k = first_row();
    for (RowSlice& row : rows()) {
      row.v_r = x_.u[k] + problem_.rows[row.row].bias;
      row.impulse = laws::calc_row_impulse(problem_.rows[row.row], row.v_r);
      x_.gamma[k++] = row.impulse.gamma;
    }
    calc_impulses();
    residual_ = calc_residual();
    return residual_;
  }
  /// Computes the impulses of the contacts at the last velocities, after their bounds changed.
  void calc_impulses() {
    for_each_place([&](auto& batch, const Place& place) {
      batch.calc_impulse();
      write_impulse(batch, place);
    });
    for (int i = 0; i < width_; i += kLanes)
      math::store(x_.s.data() + i,
                  math::load<Lanes>(x_.gamma.data() + i) - math::load<Lanes>(x_.lambda.data() + i));
  }

  bool calc_direction() {
    if (!factor_hessian(choose_curvature())) return false;
    solve_direction();
    return true;
  }
  bool factor_hessian(Curvature curvature) {
    start_factor();
    for_each_place(
        [&](const auto& batch, const Place& place) { add_curvatures_of(batch, place, curvature); });
    int k = first_row();
    for (const RowSlice& row : rows()) add_curvature(k++, row.impulse.stiffness);
    return factor();
  }
  void calc_contact_directions() {
    for_each_place([&](auto& batch, const Place& place) { read_direction(place, &batch); });
  }

  double start_line_search() {
    calc_contact_directions();
    int k = first_row();
    for (RowSlice& row : rows()) row.dv_r = x_.du[k++];
    start_momentum_line();
    return -math::dot(width_, x_.s.data(), x_.du.data());
  }
  numerics::Slope calc_slope(double alpha) {
    numerics::Slope at = momentum_slope(alpha);
    LineDerivatives contacts;
    for_each_batch([&](const auto& batch) {
      const LineDerivatives line = batch.calc_line_derivatives(alpha);
      contacts.slope += line.slope;
      contacts.curvature += line.curvature;
    });
    at.slope -= math::sum(contacts.slope);
    at.curvature += math::sum(contacts.curvature);
    add_row_slopes(alpha, &at);
    return at;
  }
  double move(double alpha) {
    math::add_multiple(width_, alpha, x_.d.data(), x_.lambda.data());
    return alpha * std::sqrt(momentum_slope(1).curvature);
  }

  /// Calls f(batch) for all batches, in the order of contacts().
  template <class Function>
  void for_each_batch(Function&& f) {
    for (auto& batch : arrays_.batches) f(batch);
    for (auto& batch : arrays_.torsion_batches) f(batch);
  }

  /// Solves ((1 + rate) I - g') dx = difference with the last factor, see CoupledNewton.
  void solve_bounds(double rate, std::span<const double> difference,
                    std::span<double> dx) requires HasNormalBound<F> {
    const int n = num_contacts();
    arrays_.M.resize(static_cast<std::size_t>(n) * n);
    arrays_.column.resize(static_cast<std::size_t>(n) * kLanes);
    int first = 0;  // contact of the batch's first lane
    for_each_place([&](const auto& batch, const Place& place) {
      calc_normal_response(batch, place);
      for (int i = 0; i < n; ++i)
        math::store_first(batch.source.num_contacts,
                          math::load<Lanes>(arrays_.column.data() + kLanes * i) * -1.0,
                          arrays_.M.data() + i * n + first);
      first += batch.source.num_contacts;
    });
    int row = 0;
    for_each_batch([&](const auto& batch) {
      for (int lane = 0; lane < batch.source.num_contacts; ++lane, ++row) {
        double* const M = arrays_.M.data() + row * n;
        for (int j = 0; j < n; ++j) M[j] *= batch.state.normal.dn_dv[lane];
        M[row] += 1 + rate;
      }
    });
    std::copy(difference.begin(), difference.end(), dx.begin());
    if (numerics::solve_in_place(n, arrays_.M.data(), 1, dx.data()) >= 0)
      std::copy(difference.begin(), difference.end(), dx.begin());
  }

  /// Reads the normal impulses of the contacts.
  void read_normals(std::span<double> x) const {
    for (int c = 0; c < num_contacts(); ++c) x[c] = x_.lambda[normal_of(c)];
  }
  /// Copies bounds in the order of contact space to that of another island.
  void write_bounds(std::span<const double> from, IslandProblem<F>* island,
                    std::span<double> to) const {
    int three = 0, six = num_three_, i = 0;
    island->for_each_batch([&](const auto& batch) {
      constexpr bool kIsSix = !std::is_same_v<std::decay_t<decltype(batch)>, ContactBatch<F>>;
      for (int lane = 0; lane < batch.source.num_contacts; ++lane)
        to[i++] = from[kIsSix ? six++ : three++];
    });
  }

 private:
  static constexpr int kLanes = math::kNumLanes;

  /// Calls f(batch, place) for all batches.
  template <class Function>
  void for_each_place(Function&& f) {
    int first = 0;
    for (auto& batch : arrays_.batches)
      f(batch, place_of_three(std::exchange(first, first + kLanes)));
    first = 0;
    for (auto& batch : arrays_.torsion_batches)
      f(batch, place_of_six(std::exchange(first, first + kLanes)));
  }

  // Operations on a batch of either kind.
  void read_velocity(const Place& place, ContactBatch<F>* batch) const {
    batch->v_c =
        Lanes3{get(x_.u, place, 0), get(x_.u, place, 1), get(x_.u, place, 2)} + batch->frame.bias;
  }
  void read_velocity(const Place& place, TorsionBatch<Torsion>* batch) const {
    for (int k = 0; k < 6; ++k) batch->v_c[k] = get(x_.u, place, k);
    batch->add_bias();
  }
  void read_direction(const Place& place, ContactBatch<F>* batch) const {
    batch->dv_c = {get(x_.du, place, 0), get(x_.du, place, 1), get(x_.du, place, 2)};
  }
  void read_direction(const Place& place, TorsionBatch<Torsion>* batch) const {
    for (int k = 0; k < 6; ++k) batch->dv_c[k] = get(x_.du, place, k);
  }
  void write_impulse(const ContactBatch<F>& batch, const Place& place) {
    set(batch.gamma.x, place, 0, &x_.gamma);
    set(batch.gamma.y, place, 1, &x_.gamma);
    set(batch.gamma.z, place, 2, &x_.gamma);
  }
  void write_impulse(const TorsionBatch<Torsion>& batch, const Place& place) {
    for (int k = 0; k < 6; ++k) set(batch.gamma[k], place, k, &x_.gamma);
  }
  void add_curvatures_of(const ContactBatch<F>& batch, const Place& place, Curvature curvature) {
    const LanesSymmetric3 G = F::calc_hessian(batch.parameters, batch.state, curvature);
    for (int lane = 0; lane < batch.source.num_contacts; ++lane) {
      const int t1 = place.first + lane, t2 = t1 + place.stride, normal = t2 + place.stride;
      if (G.xx[lane] > 0 && G.yy[lane] > 0) {
        double friction[kMaxSlips][kMaxSlips] = {{G.xx[lane]}, {G.xy[lane], G.yy[lane]}};
        const int components[] = {t1, t2};
        add_curvatures(2, components, friction);
      } else {  // slip along an axis, under a law whose friction has a largest value
        add_curvature(t1, G.xx[lane]);
        add_curvature(t2, G.yy[lane]);
      }
      add_curvature(normal, G.zz[lane]);
    }
  }
  void add_curvatures_of(const TorsionBatch<Torsion>& batch, const Place& place,
                         Curvature curvature) {
    Lanes G[6][6];
    Torsion::calc_hessian(batch.parameters, batch.state, curvature, G);
    for (int lane = 0; lane < batch.source.num_contacts; ++lane) {
      double friction[kMaxSlips][kMaxSlips];
      int components[kMaxSlips], slips[kMaxSlips], size = 0;
      for (const int k : Torsion::kSlipIndex) {
        if (!(G[k][k][lane] > 0)) continue;
        slips[size] = k;
        components[size] = place.first + lane + k * place.stride;
        for (int j = 0; j <= size; ++j) friction[size][j] = G[k][slips[j]][lane];
        ++size;
      }
      if (size > 0) add_curvatures(size, components, friction);
      constexpr int kNormal = Torsion::kNormalIndex;
      add_curvature(place.first + lane + kNormal * place.stride, G[kNormal][kNormal][lane]);
    }
  }
  /// Computes the changes of all normal velocities per bound of each contact of a batch.
  void calc_normal_response(const ContactBatch<F>& batch, const Place& place) {
    const Lanes3 impulse = F::calc_bound_derivative(batch.parameters, batch.state);
    const Lanes of_slips[] = {impulse.x, impulse.y};
    solve_four(place, SweptFriction::kTwoSlips, of_slips, arrays_.column.data());
  }
  void calc_normal_response(const TorsionBatch<Torsion>& batch, const Place& place) {
    Lanes impulse[6], of_slips[kMaxSlips];
    Torsion::calc_bound_derivative(batch.parameters, batch.state, impulse);
    for (int k = 0; k < kMaxSlips; ++k) of_slips[k] = impulse[Torsion::kSlipIndex[k]];
    solve_four(place, Torsion::kSlipIndex, of_slips, arrays_.column.data());
  }

  /// Fills batches of four contacts each.
  void make_laws(const contact::ModelParameters& model) {
    const auto fill = [&](int begin, int end, auto* batches) {
      batches->resize((end - begin + kLanes - 1) / kLanes);
      for (auto& batch : *batches) batch.source = BatchSource();
      for (int i = begin; i < end; ++i) {
        BatchSource& source = (*batches)[(i - begin) / kLanes].source;
        source.contact[source.num_contacts++] = contacts()[i];
      }
    };
    fill(0, num_three_, &arrays_.batches);
    fill(num_three_, num_contacts(), &arrays_.torsion_batches);
    calc_start_velocities(&x_.u);
    for_each_place([&](auto& batch, const Place& place) {
      make_laws_of<F>(
          problem_, model, [&](auto* to) { read_velocity(place, to); }, &batch);
    });
  }

  /// Solves one contact or row after the other for the others' impulses, from no impulses on.
  void sweep() {
    constexpr int kMaxSweeps = 20;
    x_.u = x_.u_star;
    for (int i = 0; i < kMaxSweeps; ++i) {
      base::check_limits();
      SweepChange change;
      for_each_place([&](auto& batch, const Place& place) {
        for (int lane = 0; lane < batch.source.num_contacts; ++lane)
          sweep_contact<F>(batch, lane, Components{this, place.first + lane, place.stride},
                           &change);
      });
      sweep_rows(&change);
      if (change.is_small()) return;
    }
  }

  /// The components of one contact or row for a sweep.
  struct Components {
    ContactSpaceIsland* island;
    int first, stride;

    double velocity(int k) const { return island->x_.u[first + k * stride]; }
    double impulse(int k) const { return island->x_.lambda[first + k * stride]; }
    double mobility(int k) const { return island->own_mobility(first + k * stride); }
    void set_impulse(int k, double impulse) const {
      island->set_impulse(first + k * stride, impulse);
    }
  };

  void sweep_rows(SweepChange* change) {
    int k = first_row();
    for (const RowSlice& slice : rows()) {
      const contact::Row& row = problem_.rows[slice.row];
      const Components at{this, k++, 0};
      const double w = at.mobility(0);
      const double free = at.velocity(0) + row.bias - w * at.impulse(0);
      set_swept_impulse(at, 0, laws::solve_row_impulse(row, free, w), change);
    }
  }

  Arrays& arrays_;
};

/// The arrays of a model that may be solved in contact space; of others none.
template <class F>
struct ContactSpaceArrays {
  struct type {};
};
template <HasFrictionBound F>
struct ContactSpaceArrays<F> {
  using type = typename ContactSpaceIsland<F>::Arrays;
};

/// True if contact space pays for an island and its laws can be solved there: few impulses beside
/// the dofs, no barrier, and no law so stiff that velocities may need compensation.
template <class F>
bool suits_contact_space(IslandProblem<F>& island, const SolverOptions& options) {
  constexpr int kLeastDofs = 8;       // smaller matrices of velocities are as cheap
  constexpr int kMostImpulses = 128;  // W is dense
  if (!options.allows_contact_space || island.num_dofs() < kLeastDofs) return false;
  if (contact::traits(options.parameters.normal_law).is_barrier) return false;
  const int m = island.count_impulses();
  return m > 0 && m <= std::min(island.num_dofs(), kMostImpulses) && !island.may_be_stiff();
}

}  // namespace stiction::formulations
