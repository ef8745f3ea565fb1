// A plan of a hundred thousand tensors on a hundred thousand devices: every tensor gets its layout,
// all are kept, and the bytes of 16 devices are added up.
//
// bench: layouts of 100,000 tensors, 100,000 devices, bytes of 16
// bar: 1.0 s
// bar: 64 MB
#include <stdlib.h>

#include "rounds.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/layout.h"
#include "tessera/spec.h"

enum { TENSORS = 100000, DEVICES = 100000, ASKED = 16, WIDTHS = 12, KINDS = 10 };

// What a layer of a model has.
typedef struct kind {
  const char *spec;  // NULL = fused, with parts as wide as the model's width says
  int rank;
  double shape[3];  // in widths; below zero: that many elements
} kind;

// clang-format off
static const kind kinds[KINDS] = {
    {"fsdp, tensor",             2, {1, 1}},           // queries
    {NULL,                       2, {1, 0.5}},         // keys and values, fewer heads than devices
    {"tensor, fsdp",             2, {1, 1}},           // output
    {"fsdp, tensor/cyclic(128)", 2, {1, 8}},           // gate and up
    {"tensor, fsdp",             2, {4, 1}},           // down
    {"_",                        1, {1}},              // norm
    {"tensor+fsdp, _",           2, {-128256, 1}},     // vocabulary
    {"data, fsdp, tensor",       3, {-3125, 1, 0.5}},  // experts
    {"data;fsdp, tensor",        2, {4, 1}},           // optimizer
    {"_, _",                     2, {-64, -64}},       // router
};
// clang-format on

typedef struct bench {
  tsr_mesh *mesh;
  tsr_sharding *shardings[WIDTHS][KINDS];
  tsr_layout *layouts[TENSORS];
  int64_t asked[ASKED];  // positions
  bool printed;
} bench;

static int64_t width_of(int index) { return 1024 + 512 * (int64_t)index; }

static tsr_status bind(bench *b, int width, int k) {
  char fused[96];
  const long long part = width_of(width) / 4;
  snprintf(fused, sizeof fused, "fsdp, tensor/parts(k:%lld/64*2, v:%lld/64*2)", part, part);
  tsr_spec *spec = NULL;
  TSR_TRY(tsr_spec_parse(kinds[k].spec ? kinds[k].spec : fused, TSR_FORM_SHORT, &spec));
  tsr_status status = tsr_sharding_bind(b->mesh, spec, false, &b->shardings[width][k]);
  tsr_spec_release(spec);
  return status;
}

// The distinct shardings of the plan, as a plan's pool would have them.
static tsr_status bind_all(bench *b) {
  for (int w = 0; w < WIDTHS; w++)
    for (int k = 0; k < KINDS; k++) TSR_TRY(bind(b, w, k));
  return NULL;
}

static tsr_status lay_out(bench *b, int tensor) {
  const int width = tensor / 1000 % WIDTHS, k = tensor % KINDS;
  tsr_shape shape = {.rank = kinds[k].rank};
  for (int d = 0; d < shape.rank; d++) {
    const double size = kinds[k].shape[d];
    shape.dims[d] = (int64_t)(size < 0 ? -size : size * (double)width_of(width));
  }
  return tsr_layout_create(b->shardings[width][k], &shape, TSR_POLICY_UNEVEN, &b->layouts[tensor]);
}

static int64_t bytes_of(const bench *b, int64_t position) {
  int64_t elements = 0;
  for (int t = 0; t < TENSORS; t++)
    elements += tsr_layout_shard_elements(b->layouts[t], tsr_layout_shard(b->layouts[t], position));
  return 2 * elements;  // bf16
}

static void clear(bench *b) {
  for (int t = 0; t < TENSORS; t++) {
    tsr_layout_release(b->layouts[t]);
    b->layouts[t] = NULL;
  }
  for (int w = 0; w < WIDTHS; w++)
    for (int k = 0; k < KINDS; k++) {
      tsr_sharding_release(b->shardings[w][k]);
      b->shardings[w][k] = NULL;
    }
}

static tsr_status make_plan(void *context) {
  bench *b = context;
  tsr_status status = bind_all(b);
  for (int t = 0; t < TENSORS && !status; t++) status = lay_out(b, t);
  int64_t bytes = 0;
  for (int i = 0; i < ASKED && !status; i++) bytes += bytes_of(b, b->asked[i]);
  if (!b->printed && !status)
    fprintf(stderr, "plan_100k: %lld bytes on 16 devices\n", (long long)bytes);
  b->printed = true;
  clear(b);
  return status;
}

// The same devices on every run.
static void choose_devices(bench *b) {
  uint64_t state = 1;
  for (int i = 0; i < ASKED; i++) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    b->asked[i] = (int64_t)(state >> 33) % DEVICES;
  }
}

int main(void) {
  bench *b = calloc(1, sizeof *b);
  if (!b) return 1;
  choose_devices(b);
  tsr_status status = tsr_mesh_parse("data=3125,fsdp=4,tensor=8", NULL, &b->mesh);
  const int code = status ? rounds_fail(status) : rounds_serve(make_plan, b);
  tsr_mesh_release(b->mesh);
  free(b);
  return code;
}
