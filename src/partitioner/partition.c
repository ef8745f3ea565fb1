// Programs partitioned on the partitioner's mesh, under its rules.
#include "base/sized.h"
#include "base/text_internal.h"
#include "partitioned/partitioned.h"
#include "partitioner/partitioner.h"
#include "tessera/own.h"

static tsr_status check_mesh(const tsr_mesh *given, const tsr_mesh *mesh) {
  if (!given || tsr_mesh_equal(given, mesh)) return NULL;
  TSR_OWN(text, texts);
  tsr_text_add(&texts, "mesh {");
  tsr_mesh_print(given, &texts);
  tsr_text_add(&texts, "} is given, expected the partitioner's {");
  tsr_mesh_print(mesh, &texts);
  tsr_text_add(&texts, "} or none");
  TSR_TRY(tsr_text_check(&texts));
  return tsr_fail(BAD_ARGUMENT, "%s", tsr_text_string(&texts));
}

tsr_status tsr_partitioner_partition(const tsr_partitioner *partitioner, const tsr_program *program,
                                     const tsr_partition_options *given,
                                     tsr_partitioned **out_partitioned) {
  tsr_partition_options options;
  tsr_partitioned *made = NULL;
  tsr_scope scope = 0;
  TSR_TRY(tsr_sized_read(tsr_partition_options, given, &options));
  TSR_TRY(tsr_partitioner_need_mesh(partitioner));
  TSR_TRY(check_mesh(options.mesh, partitioner->mesh));
  options.mesh = partitioner->mesh;
  TSR_TRY(tsr_scopes_enter(partitioner->mesh, partitioner->rules, &scope));
  tsr_status status = tsr_program_partition(program, &options, &made);
  tsr_scope_leave(scope);
  if (status) return status;
  tsr_partitioned_set_scope(made, partitioner->rules);
  *out_partitioned = made;
  return NULL;
}
