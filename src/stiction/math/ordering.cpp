#include "stiction/math/ordering.hpp"

#include <algorithm>
#include <numeric>

#include <suitesparse/amd.h>

namespace stiction::math {

std::span<const int> MinimumDegreeOrdering::compute(int num_nodes,
                                                    std::span<const BlockEdge> edges) {
  const int n = num_nodes;
  order_.resize(n);
  std::iota(order_.begin(), order_.end(), 0);
  // With at most two nodes, no order causes fill.
  if (n <= 2 || edges.empty()) return order_;

  // amd_2 expects both halves of the pattern, without the diagonal. First count the edges of each
  // node, repeats included.
  degree_.assign(n + 1, 0);
  for (const BlockEdge& e : edges) {
    if (e.a == e.b) continue;
    ++degree_[e.a];
    ++degree_[e.b];
  }
  const int nnz = std::accumulate(degree_.begin(), degree_.end(), 0);
  const int room = nnz + nnz / 2 + n + 1;  // amd_2 needs at least nnz / 5 + n spare entries.
  work_.resize(room + 9 * n + n);
  int* index = work_.data();
  int* start = index + room;
  int* length = start + n;
  int* amd_work = length + n;
  for (int i = 0, at = 0; i < n; ++i) {
    start[i] = at;
    length[i] = 0;
    at += degree_[i];
  }
  // List the neighbors of each node once.
  const auto add = [&](int i, int j) {
    const int* begin = index + start[i];
    if (std::find(begin, begin + length[i], j) == begin + length[i])
      index[start[i] + length[i]++] = j;
  };
  for (const BlockEdge& e : edges) {
    if (e.a == e.b) continue;
    add(e.a, e.b);
    add(e.b, e.a);
  }
  // Close the gaps that repeats left, because amd_2 expects contiguous lists.
  int free = 0;
  for (int i = 0; i < n; ++i) {
    std::copy_n(index + start[i], length[i], index + free);
    start[i] = free;
    free += length[i];
  }

  double control[AMD_CONTROL];
  double info[AMD_INFO];
  amd_defaults(control);
  int* nv = amd_work;
  int* next = nv + n;
  int* last = next + n;
  int* head = last + n;
  int* elen = head + n;
  int* deg = elen + n;
  int* w = deg + n;
  amd_2(n, start, index, length, room, free, nv, next, last, head, elen, deg, w, control, info);
  std::copy_n(last, n, order_.begin());
  return order_;
}

}  // namespace stiction::math
