// Copy plans at the size of a fleet: certificates for 100,000 devices, and the copies of some
// devices of block-cyclic matrices.
//
// bench: copy plans: 6 certificates, 100,000 devices; block-cyclic copies of 64 of 1,024
// bar: 1.0 s
// bar: 256 MB
#include "rounds.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/layout.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "transfer/transfer_internal.h"

static const struct {
  const char *mesh, *from, *to, *shape;
} certified[] = {
    {"data=3125,fsdp=4,tensor=8", "fsdp, tensor", "tensor, fsdp", "8192,8192"},
    {"data=3125,fsdp=4,tensor=8", "data+fsdp+tensor, _", "_, _", "128256,8192"},
    {"data=3125,fsdp=4,tensor=8", "_, _", "data+fsdp+tensor, _", "128256,8192"},
    {"data=3125,fsdp=4,tensor=8", "data, fsdp, tensor", "_, tensor, data+fsdp", "3125,4096,14336"},
    {"data=3125,fsdp=4,tensor=8", "fsdp, tensor/cyclic(128)", "fsdp, tensor", "8192,28672"},
    {"data=3125,fsdp=4,tensor=8", "data;fsdp, tensor", "data+fsdp+tensor, _", "131072,8192"},
};

static const struct {
  const char *from, *to, *shape;
} copied[] = {
    {"x/cyclic(64), y/cyclic(64)", "x+y, _", "1048576,1048576"},
    {"x/cyclic(64), y/cyclic(64)", "x/cyclic(96), y/cyclic(32)", "1048576,1048576"},
};
enum { COPIED_DEVICES = 64, STEP = 16 };

typedef struct bench {
  bool printed;
  long long copies, bytes;
} bench;

static tsr_status lay_out(const char *mesh_text, const char *spec_text, const char *shape_text,
                          tsr_layout **out_layout) {
  tsr_mesh *mesh = NULL;
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_shape shape;
  tsr_status status = tsr_mesh_parse(mesh_text, NULL, &mesh);
  if (!status) status = tsr_spec_parse(spec_text, TSR_FORM_SHORT, &spec);
  if (!status) status = tsr_shape_parse(shape_text, &shape);
  if (!status) status = tsr_sharding_bind(mesh, spec, false, &sharding);
  if (!status) status = tsr_layout_create(sharding, &shape, TSR_POLICY_UNEVEN, out_layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  return status;
}

static tsr_status plan_of(const char *mesh, const char *from_text, const char *to_text,
                          const char *shape, tsr_copy_plan **out_plan) {
  tsr_layout *from = NULL, *to = NULL;
  tsr_status status = lay_out(mesh, from_text, shape, &from);
  if (!status) status = lay_out(mesh, to_text, shape, &to);
  if (!status) status = tsr_copy_plan_create(from, to, NULL, out_plan);
  tsr_layout_release(from);
  tsr_layout_release(to);
  return status;
}

static tsr_status certify(bench *b, size_t i) {
  tsr_copy_plan *plan = NULL;
  tsr_certificate found = TSR_CERTIFICATE;
  TSR_TRY(
      plan_of(certified[i].mesh, certified[i].from, certified[i].to, certified[i].shape, &plan));
  tsr_status status = tsr_copy_plan_certify(plan, TSR_BF16, &found);
  b->bytes += found.bytes_moved / 1000000;
  tsr_copy_plan_release(plan);
  return status;
}

static tsr_status count_copies(bench *b, const tsr_copy_plan *plan, int64_t position) {
  tsr_copies copies;
  TSR_TRY(tsr_copies_init_into(&copies, plan, position));
  b->copies += tsr_copies_count(&copies);
  tsr_copies_deinit(&copies);
  TSR_TRY(tsr_copies_init_out_of(&copies, plan, position));
  b->copies += tsr_copies_count(&copies);
  tsr_copies_deinit(&copies);
  return NULL;
}

static tsr_status copy(bench *b, size_t i) {
  tsr_copy_plan *plan = NULL;
  TSR_TRY(plan_of("x=32,y=32", copied[i].from, copied[i].to, copied[i].shape, &plan));
  tsr_status status = NULL;
  for (int64_t p = 0; p < COPIED_DEVICES && !status; p++) status = count_copies(b, plan, p * STEP);
  tsr_copy_plan_release(plan);
  return status;
}

static tsr_status make_plans(void *context) {
  bench *b = context;
  b->copies = b->bytes = 0;
  for (size_t i = 0; i < sizeof certified / sizeof *certified; i++) TSR_TRY(certify(b, i));
  for (size_t i = 0; i < sizeof copied / sizeof *copied; i++) TSR_TRY(copy(b, i));
  if (!b->printed)
    fprintf(stderr, "copy_plan: %lld MB certified, %lld copies\n", b->bytes, b->copies);
  b->printed = true;
  return NULL;
}

int main(void) {
  bench b = {.printed = false};
  return rounds_serve(make_plans, &b);
}
