// The roles of axes, by their usual names, and which new axis takes over the role of an old one.
//
// The same name comes first, then another usual name of the role, then the same size unless the
// names contradict. An axis without a successor of its own shares one of its family: parameters cut
// over fsdp on one mesh may be cut over data on another.
#include "advice/roles.h"

#include <string.h>

typedef enum axis_role { DATA, FSDP, TENSOR, SEQUENCE, EXPERT, PIPELINE, NO_ROLE } axis_role;

static const struct {
  const char *name;
  axis_role axis_role;
} usual_names[] = {
    {"dp", DATA},        {"data", DATA},         {"batch", DATA},        {"replica", DATA},
    {"fsdp", FSDP},      {"zero", FSDP},         {"shard", FSDP},        {"tp", TENSOR},
    {"model", TENSOR},   {"mp", TENSOR},         {"tensor", TENSOR},     {"sp", SEQUENCE},
    {"seq", SEQUENCE},   {"sequence", SEQUENCE}, {"cp", SEQUENCE},       {"context", SEQUENCE},
    {"ep", EXPERT},      {"expert", EXPERT},     {"experts", EXPERT},    {"pp", PIPELINE},
    {"stage", PIPELINE}, {"pipe", PIPELINE},     {"pipeline", PIPELINE},
};

static axis_role role_of(const tsr_mesh *mesh, int axis) {
  for (size_t i = 0; i < sizeof usual_names / sizeof *usual_names; i++)
    if (!strcmp(usual_names[i].name, tsr_mesh_axis_at(mesh, axis)->name))
      return usual_names[i].axis_role;
  return NO_ROLE;
}

bool tsr_axis_splits_blocks(const tsr_mesh *mesh, int axis) {
  return role_of(mesh, axis) == TENSOR;
}

static bool same_family(axis_role a, axis_role b) {
  const bool data = a <= FSDP && b <= FSDP;
  const bool model = a >= TENSOR && a <= EXPERT && b >= TENSOR && b <= EXPERT;
  return data || model;
}

typedef struct mesh_pair {
  const tsr_mesh *before, *after;
} mesh_pair;

static bool same_size(const mesh_pair *of, int old, int next) {
  return tsr_mesh_axis_at(of->before, old)->size == tsr_mesh_axis_at(of->after, next)->size;
}

// ---- ways to match an old axis and a new one ----

typedef bool match_fn(const mesh_pair *of, int old, int next);

static bool by_name(const mesh_pair *of, int old, int next) {
  return !strcmp(tsr_mesh_axis_at(of->before, old)->name, tsr_mesh_axis_at(of->after, next)->name);
}

static bool by_role(const mesh_pair *of, int old, int next) {
  const axis_role own = role_of(of->before, old);
  return own != NO_ROLE && own == role_of(of->after, next);
}

static bool by_size(const mesh_pair *of, int old, int next) {
  const axis_role a = role_of(of->before, old), b = role_of(of->after, next);
  return same_size(of, old, next) && (a == NO_ROLE || b == NO_ROLE || same_family(a, b));
}

static bool by_family(const mesh_pair *of, int old, int next) {
  return same_family(role_of(of->before, old), role_of(of->after, next));
}

// The new axis that matches, preferably of the same size; -1 = none.
static int find_successor(const mesh_pair *of, int old, match_fn *matches, uint32_t among) {
  int found = -1;
  for (int next = 0; next < tsr_mesh_axis_count(of->after); next++) {
    if (!(among >> next & 1) || !matches(of, old, next)) continue;
    if (found < 0 || (same_size(of, old, next) && !same_size(of, old, found))) found = next;
  }
  return found;
}

// Axes of size 1 cut nothing; they are matched by name only.
static void match_all(const mesh_pair *of, match_fn *matches, bool shared,
                      tsr_axis_successors *successors) {
  for (int old = 0; old < tsr_mesh_axis_count(of->before); old++) {
    if (successors->of[old] >= 0) continue;
    if (tsr_mesh_axis_at(of->before, old)->size == 1 && matches != by_name) continue;
    const int next = find_successor(of, old, matches, shared ? UINT32_MAX : successors->unclaimed);
    if (next < 0) continue;
    successors->of[old] = next;
    successors->unclaimed &= ~(UINT32_C(1) << next);
  }
}

void tsr_axis_successors_find(const tsr_mesh *before, const tsr_mesh *after,
                              tsr_axis_successors *out_successors) {
  const mesh_pair of = {before, after};
  for (int i = 0; i < TSR_MAX_AXES; i++) out_successors->of[i] = -1;
  out_successors->unclaimed = (UINT32_C(1) << tsr_mesh_axis_count(after)) - 1;
  match_all(&of, by_name, false, out_successors);
  match_all(&of, by_role, false, out_successors);
  match_all(&of, by_size, false, out_successors);
  match_all(&of, by_family, true, out_successors);
}
