// The assignment of the physical axes of a torus to the logical axes of a mesh.
//
// Logical axes are assigned from last to first, since the last communicates most. First choice:
// whole physical axes, as many as possible, for more links. If no set of them has the required
// product and splitting is allowed, all axes are assigned again by factors.
//
// The best split is computed, not searched. JAX considers every distribution of the prime factors
// of a size over the physical axes, and prefers, in order: a greater product of whole axes, more
// whole axes, a greater product on axes already in use, and the lexicographically greatest tuple.
// With the set of whole axes fixed (at most 16 sets), the rest is greedy: the largest factor an
// axis can take of the remaining size is their greatest common divisor, each prime independent of
// the others. So axes in use take what they can, in order, and then the unused ones.
#include <assert.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/text_internal.h"
#include "mesh/jax.h"
#include "tessera/text.h"

static bool has_axis(unsigned set, int axis) { return set >> axis & 1; }

static void fill_with_ones(tsr_assignment *assignment) {
  for (int axis = 0; axis < TSR_FIELD_COUNT; axis++)
    for (int l = 0; l < TSR_MAX_AXES; l++) assignment->factors[axis][l] = 1;
}

// ---- whole axes ----

// Of the sets of free axes with product `size`: the one with most axes, then the first in
// lexicographic order. 0 = none.
//
// Sets of equal length are in lexicographic order if axis 0 is the highest bit and the numbers
// descend.
static unsigned choose_whole_axes(const int64_t *dims, int dim_count, unsigned free_set,
                                  int64_t size) {
  unsigned best = 0;
  for (unsigned number = (1u << dim_count) - 1; number > 0; number--) {
    unsigned set = 0;
    int64_t product = 1;
    for (int axis = 0; axis < dim_count; axis++) {
      if (!has_axis(number, dim_count - 1 - axis)) continue;
      set |= 1u << axis;
      product *= dims[axis];
    }
    if (product != size || (set & ~free_set)) continue;
    if (__builtin_popcount(set) > __builtin_popcount(best)) best = set;
  }
  return best;
}

bool tsr_torus_assign_whole(const int64_t *dims, int dim_count, const int64_t *shape, int rank,
                            tsr_assignment *out_assignment, tsr_stuck *out_stuck) {
  unsigned free_set = (1u << dim_count) - 1;
  fill_with_ones(out_assignment);
  for (int l = rank - 1; l >= 0; l--) {
    const unsigned set = choose_whole_axes(dims, dim_count, free_set, shape[l]);
    if (!set && shape[l] > 1) {
      *out_stuck = (tsr_stuck){.axis = l, .free_set = free_set};
      return false;
    }
    for (int axis = 0; axis < dim_count; axis++)
      if (has_axis(set, axis)) out_assignment->factors[axis][l] = dims[axis];
    free_set &= ~set;
  }
  return true;
}

// ---- split axes ----

// Factors for one logical axis, and their criteria.
typedef struct axis_share {
  int64_t factors[TSR_FIELD_COUNT];
  int64_t whole_product, shared_product;
  int whole_count;
} axis_share;

// The torus after the axes assigned so far.
typedef struct progress {
  int dim_count;
  const int64_t *dims;
  int64_t taken[TSR_FIELD_COUNT];  // product of the factors taken
} progress;

// Distributes `size`, with the axes of `whole` taken whole; false if impossible.
static bool spread(const progress *done, unsigned whole, int64_t size, axis_share *out_share) {
  int64_t rest = size;
  for (int axis = 0; axis < done->dim_count; axis++) {
    if (!has_axis(whole, axis)) continue;
    if (done->taken[axis] != 1 || rest % done->dims[axis]) return false;
    out_share->factors[axis] = done->dims[axis];
    rest /= done->dims[axis];
  }
  for (int untouched = 0; untouched <= 1; untouched++) {
    for (int axis = 0; axis < done->dim_count; axis++) {
      if (has_axis(whole, axis) || (done->taken[axis] == 1) != untouched) continue;
      const int64_t factor = tsr_gcd(done->dims[axis] / done->taken[axis], rest);
      out_share->factors[axis] = factor;
      rest /= factor;
    }
  }
  return rest == 1;
}

static void judge(const progress *done, axis_share *way) {
  way->whole_product = way->shared_product = 1;
  way->whole_count = 0;
  for (int axis = 0; axis < done->dim_count; axis++) {
    const int64_t factor = way->factors[axis];
    if (factor > 1 && factor == done->dims[axis]) {
      way->whole_product *= factor;
      way->whole_count++;
    }
    if (done->taken[axis] > 1) way->shared_product *= factor;
  }
}

static bool is_better(const axis_share *a, const axis_share *b, int dim_count) {
  if (a->whole_product != b->whole_product) return a->whole_product > b->whole_product;
  if (a->whole_count != b->whole_count) return a->whole_count > b->whole_count;
  if (a->shared_product != b->shared_product) return a->shared_product > b->shared_product;
  for (int axis = 0; axis < dim_count; axis++)
    if (a->factors[axis] != b->factors[axis]) return a->factors[axis] > b->factors[axis];
  return false;
}

void tsr_torus_assign_split(const int64_t *dims, int dim_count, const int64_t *shape, int rank,
                            tsr_assignment *out_assignment) {
  progress done = {.dim_count = dim_count, .dims = dims, .taken = {1, 1, 1, 1}};
  fill_with_ones(out_assignment);
  for (int l = rank - 1; l >= 0; l--) {
    axis_share best = {0}, other = {0};
    bool found = false;
    for (unsigned whole = 0; whole < 1u << dim_count; whole++) {
      if (!spread(&done, whole, shape[l], &other)) continue;
      judge(&done, &other);
      if (!found || is_better(&other, &best, dim_count)) best = other;
      found = true;
    }
    assert(found);
    for (int axis = 0; axis < dim_count; axis++) {
      out_assignment->factors[axis][l] = best.factors[axis];
      done.taken[axis] *= best.factors[axis];
    }
  }
}

// ---- shapes that would fit ----

// Every shape that fits gives each physical axis to one logical axis. There are at most
// TSR_MAX_AXES^4 such assignments; they are counted through like the digits of a number, and the
// shapes nearest to the wanted one are kept. Near means few doublings and halvings.

enum { ADVICE_COUNT = 3 };

typedef struct advice_list {
  int count;
  struct candidate {
    int64_t shape[TSR_MAX_AXES];
    double distance;
  } best[ADVICE_COUNT];  // nearest first
} advice_list;

static double distance_between(const int64_t *a, const int64_t *b, int rank) {
  double distance = 1;
  for (int l = 0; l < rank; l++)
    distance *= a[l] > b[l] ? (double)a[l] / (double)b[l] : (double)b[l] / (double)a[l];
  return distance;
}

static bool is_known(const advice_list *advice, const int64_t *shape, int rank) {
  for (int i = 0; i < advice->count; i++)
    if (!memcmp(advice->best[i].shape, shape, sizeof *shape * (size_t)rank)) return true;
  return false;
}

static void consider(advice_list *advice, const tsr_torus *torus, const int64_t *candidate,
                     const int64_t *wanted, int rank) {
  const double distance = distance_between(candidate, wanted, rank);
  int at = advice->count;
  while (at > 0 && advice->best[at - 1].distance > distance) at--;
  if (at == ADVICE_COUNT || is_known(advice, candidate, rank)) return;
  // Assigning axes one after the other may fail on a shape that has an assignment.
  tsr_assignment unused;
  tsr_stuck stuck;
  if (!tsr_torus_assign_whole(torus->dims, torus->rank, candidate, rank, &unused, &stuck)) return;
  if (advice->count < ADVICE_COUNT) advice->count++;
  for (int i = advice->count - 1; i > at; i--) advice->best[i] = advice->best[i - 1];
  memcpy(advice->best[at].shape, candidate, sizeof *candidate * (size_t)rank);
  advice->best[at].distance = distance;
}

static void find_advice(const tsr_torus *torus, const int64_t *wanted, int rank, advice_list *out) {
  int owner[TSR_FIELD_COUNT] = {0};  // the logical axis each physical one goes to
  out->count = 0;
  for (;;) {
    int64_t candidate[TSR_MAX_AXES] = {0};
    for (int l = 0; l < rank; l++) candidate[l] = 1;
    for (int axis = 0; axis < torus->rank; axis++) candidate[owner[axis]] *= torus->dims[axis];
    consider(out, torus, candidate, wanted, rank);
    int axis = torus->rank - 1;
    for (; axis >= 0 && ++owner[axis] == rank; axis--) owner[axis] = 0;
    if (axis < 0) return;
  }
}

static void add_free_axes(const tsr_torus *torus, unsigned free_set, tsr_text *out) {
  static const char *const names[TSR_FIELD_COUNT] = {"x", "y", "z", "core"};
  const char *separator = "";
  for (int axis = 0; axis < torus->rank; axis++) {
    if (!(free_set >> axis & 1)) continue;
    tsr_text_addf(out, "%s%s=%lld", separator, names[torus->fields[axis]],
                  (long long)torus->dims[axis]);
    separator = ", ";
  }
}

static tsr_status fail_stuck(const tsr_torus *torus, const int64_t *shape, int rank,
                             const tsr_stuck *stuck) {
  char buffer[TSR_DIMS_TEXT];
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_addf(&text, "axis %d of mesh (%s) has size %lld, which is no product of the axes {",
                stuck->axis, tsr_dims_text(shape, rank, ", ", buffer),
                (long long)shape[stuck->axis]);
  add_free_axes(torus, stuck->free_set, &text);
  tsr_text_addf(&text, "} still free on the %s torus; these would fit:",
                tsr_dims_text(torus->dims, torus->rank, "x", buffer));
  advice_list advice;
  find_advice(torus, shape, rank, &advice);
  for (int i = 0; i < advice.count; i++)
    tsr_text_addf(&text, " (%s),", tsr_dims_text(advice.best[i].shape, rank, ", ", buffer));
  tsr_text_add(&text, " or allow physical axes to be split");
  return tsr_text_end(&text, tsr_fail(NO_AXIS_ASSIGNMENT, "%s", tsr_text_string(&text)));
}

tsr_status tsr_torus_assign(const tsr_torus *torus, const int64_t *shape, int rank, bool split,
                            tsr_assignment *out_assignment) {
  tsr_stuck stuck;
  if (tsr_torus_assign_whole(torus->dims, torus->rank, shape, rank, out_assignment, &stuck))
    return NULL;
  if (!split) return fail_stuck(torus, shape, rank, &stuck);
  tsr_torus_assign_split(torus->dims, torus->rank, shape, rank, out_assignment);
  return NULL;
}
