// A text that begins with { is XLA's, placements are PyTorch's; the library recognises the
// notations that name axes.
#include "cli/sources.h"

#include <ctype.h>
#include <string.h>

#include "spec/notation_internal.h"
#include "spec/sharding_internal.h"
#include "tessera/compat/hlo.h"
#include "tessera/compat/torch.h"
#include "tessera/engine/layout.h"

static tsr_spec_form named_form(const char *name) {
  if (!strcmp(name, "jax")) return TSR_FORM_JAX;
  return !strcmp(name, "shardy") ? TSR_FORM_SHARDY : TSR_FORM_SHORT;
}

static tsr_status read_tiling(const char *text, const tsr_mesh *mesh, tsr_spec **out_spec) {
  tsr_tiling *tiling = NULL;
  TSR_TRY(tsr_tiling_parse(text, &tiling));
  tsr_status status =
      mesh ? tsr_tiling_to_spec(tiling, mesh, out_spec)
           : tsr_fail(BAD_ARGUMENT, "XLA's notation names no axes: --mesh is needed");
  tsr_tiling_release(tiling);
  return status;
}

static tsr_status translate_placements(const tsr_dtensor *dtensor, const tsr_mesh *mesh, int rank,
                                       const tsr_shape *shape, tsr_spec **out_spec) {
  TSR_TRY(tsr_dtensor_check(dtensor, mesh, shape));
  if (!mesh) mesh = dtensor->mesh;
  if (!mesh) return tsr_fail(BAD_ARGUMENT, "PyTorch's notation names no axes: --mesh is needed");
  if (!shape && dtensor->has_shape) shape = &dtensor->shape;
  if (rank < 0 && shape) rank = shape->rank;
  if (rank < 0)
    return tsr_fail(BAD_ARGUMENT, "PyTorch's notation has no rank: --rank or --shape is needed");
  return tsr_placements_to_spec(&dtensor->placements, mesh, rank, shape, out_spec);
}

static tsr_status read_placements(const char *text, const tsr_mesh *mesh, int rank,
                                  const tsr_shape *shape, tsr_spec **out_spec) {
  tsr_dtensor dtensor;
  TSR_TRY(tsr_dtensor_parse(text, mesh ? tsr_mesh_topology(mesh) : NULL, &dtensor));
  const tsr_status status = translate_placements(&dtensor, mesh, rank, shape, out_spec);
  tsr_dtensor_deinit(&dtensor);
  return status;
}

// PyTorch's notation has two names.
static bool names_dtensor(const char *form) {
  return !strcmp(form, "dtensor") || !strcmp(form, "torch");
}

static bool is_dtensor(const char *text, const char *form) {
  return form ? names_dtensor(form) : tsr_dtensor_looks_like(text);
}

tsr_status cli_read_spec(const char *text, const char *form, const tsr_mesh *mesh, int rank,
                         const tsr_shape *shape, tsr_spec **out_spec) {
  const char *start = text;
  while (isspace((unsigned char)*start)) start++;
  if (form ? !strcmp(form, "xla") : *start == '{') return read_tiling(text, mesh, out_spec);
  if (is_dtensor(text, form)) return read_placements(text, mesh, rank, shape, out_spec);
  return tsr_spec_parse(text, form ? named_form(form) : TSR_FORM_ANY, out_spec);
}

tsr_status cli_read_layout(const char *text, const char *form, const tsr_mesh *mesh,
                           const tsr_shape *shape, tsr_policy policy, tsr_layout **out_layout) {
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_status status = cli_read_spec(text, form, mesh, shape->rank, shape, &spec);
  if (!status) status = tsr_sharding_bind(mesh, spec, false, &sharding);
  if (!status) status = tsr_layout_create(sharding, shape, policy, out_layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  return status;
}

tsr_status cli_find_context(const char *text, const char *form, const tsr_topology *topology,
                            tsr_mesh **mesh, tsr_shape *shape, bool *has_shape) {
  tsr_dtensor dtensor;
  if (!is_dtensor(text, form)) return NULL;
  TSR_TRY(tsr_dtensor_parse(text, topology, &dtensor));
  if (!*mesh && dtensor.mesh) *mesh = tsr_mesh_retain(dtensor.mesh);
  if (!*has_shape && dtensor.has_shape) {
    *shape = dtensor.shape;
    *has_shape = true;
  }
  tsr_dtensor_deinit(&dtensor);
  return NULL;
}

tsr_status cli_print_spec(const tsr_spec *spec, const char *form, tsr_text *out) {
  return tsr_spec_print(spec, named_form(form), out);
}

static tsr_status write_tiling(const tsr_sharding *sharding, int rank, tsr_text *out) {
  if (rank < 0) rank = tsr_sharding_dim_count(sharding);
  tsr_tiling *tiling = NULL;
  TSR_TRY(tsr_tiling_from_sharding(sharding, rank, &tiling));
  tsr_tiling_print(tiling, out);
  tsr_tiling_release(tiling);
  return NULL;
}

static tsr_status write_placements(const tsr_sharding *sharding, int rank, const tsr_shape *shape,
                                   tsr_text *out) {
  if (rank < 0) rank = tsr_sharding_dim_count(sharding);
  tsr_placements placements;
  TSR_TRY(tsr_placements_from_sharding(sharding, rank, shape, &placements));
  tsr_placements_print(&placements, out);
  return NULL;
}

tsr_status cli_write_spec(const tsr_sharding *sharding, const char *form, int rank,
                          const tsr_shape *shape, tsr_text *out) {
  if (!strcmp(form, "xla")) return write_tiling(sharding, rank, out);
  if (names_dtensor(form)) return write_placements(sharding, rank, shape, out);
  return cli_print_spec(tsr_sharding_spec(sharding), form, out);
}
