// The assignment as users meet it: when it fails, it names mesh shapes that would fit.
//
// Every shape that fits gives each physical axis to one logical axis. There are at most
// TSR_MAX_AXES^4 ways to do so; they are walked like the digits of a number, and the few shapes
// nearest to the wanted one are kept, where near means few doublings and halvings.
#include <string.h>

#include "base/text_internal.h"
#include "mesh/jax.h"
#include "tessera/mesh.h"
#include "tessera/text.h"

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
  // Serving axes one after the other may get stuck even on a shape that could be served.
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
    int64_t candidate[TSR_MAX_AXES];
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
  tsr_status status = tsr_text_check(&text);
  if (!status) status = tsr_fail(NO_AXIS_ASSIGNMENT, "%s", tsr_text_string(&text));
  tsr_text_deinit(&text);
  return status;
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
