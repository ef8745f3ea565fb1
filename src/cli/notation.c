#include "cli/notation.h"

#include <ctype.h>
#include <string.h>

static tsr_status read_tiling(const char *text, const tsr_mesh *mesh, tsr_spec **out_spec) {
  tsr_tiling *tiling = NULL;
  TSR_TRY(tsr_tiling_parse(text, &tiling));
  tsr_status status =
      mesh ? tsr_tiling_to_spec(tiling, mesh, out_spec)
           : tsr_fail(BAD_ARGUMENT, "XLA's notation names no axes: --mesh is needed");
  tsr_tiling_release(tiling);
  return status;
}

static tsr_status read_placements(const char *text, const tsr_mesh *mesh, int rank,
                                  const tsr_shape *shape, tsr_spec **out_spec) {
  tsr_placements placements;
  TSR_TRY(tsr_placements_parse(text, &placements));
  if (!mesh) return tsr_fail(BAD_ARGUMENT, "PyTorch's notation names no axes: --mesh is needed");
  if (rank < 0)
    return tsr_fail(BAD_ARGUMENT,
                    "PyTorch's notation does not tell the rank: --rank or --shape is needed");
  return tsr_placements_to_spec(&placements, mesh, rank, shape, out_spec);
}

tsr_status cli_read_spec(const char *text, const char *form, const tsr_mesh *mesh, int rank,
                         const tsr_shape *shape, tsr_spec **out_spec) {
  const char *start = text;
  while (isspace((unsigned char)*start)) start++;
  if (form ? !strcmp(form, "xla") : *start == '{') return read_tiling(text, mesh, out_spec);
  if (form ? !strcmp(form, "dtensor") : *start == '[')
    return read_placements(text, mesh, rank, shape, out_spec);
  tsr_spec_form kind = TSR_FORM_ANY;
  if (form && !strcmp(form, "short")) kind = TSR_FORM_SHORT;
  if (form && !strcmp(form, "jax")) kind = TSR_FORM_JAX;
  if (form && !strcmp(form, "shardy")) kind = TSR_FORM_SHARDY;
  return tsr_spec_parse(text, kind, out_spec);
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
  const tsr_spec *spec = tsr_sharding_spec(sharding);
  if (!strcmp(form, "xla")) return write_tiling(sharding, rank, out);
  if (!strcmp(form, "dtensor")) return write_placements(sharding, rank, shape, out);
  if (!strcmp(form, "jax")) return tsr_spec_print(spec, TSR_FORM_JAX, out);
  if (!strcmp(form, "shardy")) return tsr_spec_print(spec, TSR_FORM_SHARDY, out);
  return tsr_spec_print(spec, TSR_FORM_SHORT, out);
}
