// A spec such as "data, model" becomes the text of a sharding attribute, after it was bound to the
// mesh that it names, which finds unknown axes and axes used twice.
#include "builder/builder_spec.h"

#include <string.h>

#include "base/text_internal.h"
#include "tessera/engine/sharding.h"
#include "tessera/shape.h"
#include "tessera/spec.h"

static const tsr_builder_mesh *find_mesh(const char *name, const tsr_builder_mesh *meshes,
                                         int count) {
  for (int i = 0; i < count; i++)
    if (!strcmp(meshes[i].name, name)) return &meshes[i];
  return NULL;
}

static tsr_status check_axes(const tsr_spec *spec, const tsr_mesh *mesh) {
  tsr_sharding *sharding = NULL;
  TSR_TRY(tsr_sharding_bind(mesh, spec, false, &sharding));
  tsr_sharding_release(sharding);
  return NULL;
}

// The spec with one entry per dimension, as Shardy wants it.
static tsr_status fill_up(const tsr_spec *spec, int rank, const char *mesh_name,
                          tsr_spec **out_spec) {
  tsr_spec_desc desc = *tsr_spec_desc_of(spec);
  if (desc.dim_count > rank)
    return tsr_fail(RANK_TOO_SMALL, "the spec has %d dimensions, expected at most %d",
                    desc.dim_count, rank);
  tsr_spec_dim dims[TSR_MAX_RANK] = {{0}};
  for (int i = 0; i < desc.dim_count; i++) dims[i] = desc.dims[i];
  desc.dims = dims;
  desc.dim_count = rank;
  desc.mesh_name = mesh_name;
  return tsr_spec_create(&desc, out_spec);
}

tsr_status tsr_spec_on_mesh(const tsr_spec *spec, int rank, const tsr_builder_mesh *mesh,
                            tsr_text *out) {
  TSR_TRY(check_axes(spec, mesh->mesh));
  tsr_spec *full = NULL;
  TSR_TRY(fill_up(spec, rank, mesh->name, &full));
  const tsr_status status = tsr_spec_print(full, TSR_FORM_SHARDY, out);
  tsr_spec_release(full);
  return status ? status : tsr_text_check(out);
}

static tsr_status print(const tsr_spec *spec, int rank, const tsr_builder_mesh *meshes,
                        int mesh_count, tsr_text *out) {
  const char *given = tsr_spec_desc_of(spec)->mesh_name;
  const char *name = given ? given : "mesh";
  const tsr_builder_mesh *mesh = find_mesh(name, meshes, mesh_count);
  if (!mesh) return tsr_fail(UNKNOWN_SYMBOL, "mesh \"%s\" is not declared in this program", name);
  return tsr_spec_on_mesh(spec, rank, mesh, out);
}

tsr_status tsr_spec_to_shardy(const char *spec, int rank, const tsr_builder_mesh *meshes,
                              int mesh_count, tsr_text *out) {
  tsr_spec *parsed = NULL;
  TSR_TRY(tsr_spec_parse(spec, TSR_FORM_ANY, &parsed));
  const tsr_status status = print(parsed, rank, meshes, mesh_count, out);
  tsr_spec_release(parsed);
  return status;
}
