// Partitioned programs compiled for the devices of a comm.
#include "partitioned/compiled.h"

#include <inttypes.h>
#include <stdlib.h>

#include "array/array.h"
#include "base/sized.h"
#include "tessera/engine/collectives.h"

static tsr_status check_values(const tsr_partitioned_value *values, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (tsr_dtype_info_of(values[i].dtype)->sub_byte)
      return tsr_fail(UNSUPPORTED,
                      "%s has dtype %s; arrays of elements narrower than a byte "
                      "cannot be passed to programs",
                      values[i].name, tsr_dtype_info_of(values[i].dtype)->name);
  return NULL;
}

static tsr_status check_devices(const tsr_partitioned *partitioned, const tsr_comm *comm) {
  const tsr_mesh *mesh = partitioned->mesh;
  for (int64_t i = 0; i < tsr_mesh_device_count(mesh); i++)
    if (tsr_mesh_device_at(mesh, i) >= tsr_comm_device_count(comm))
      return tsr_fail(TOO_FEW_DEVICES,
                      "the mesh has device %" PRId64 ", the comm has %" PRId64 " devices",
                      tsr_mesh_device_at(mesh, i), tsr_comm_device_count(comm));
  return NULL;
}

static tsr_status check(const tsr_partitioned *partitioned, const tsr_comm *comm,
                        const tsr_compile_options *given, tsr_compile_options *out_options) {
  TSR_TRY(tsr_sized_read(tsr_compile_options, given, out_options));
  if (out_options->comm && out_options->comm != comm)
    return tsr_fail(BAD_ARGUMENT, "the options have another comm than the one to compile for");
  TSR_TRY(check_devices(partitioned, comm));
  TSR_TRY(check_values(partitioned->arguments, partitioned->info.argument_count));
  return check_values(partitioned->results, partitioned->info.result_count);
}

// Workers and memory are the comm's, unless the caller has others. The executable of several ranks
// compares the programs of all.
static tsr_status compile(tsr_compiled *compiled, tsr_compile_options *options) {
  const tsr_partitioned *partitioned = compiled->partitioned;
  tsr_scope scope = 0;
  if (!options->pool && !options->workers) options->pool = tsr_comm_pool(compiled->comm);
  if (!options->buffers) options->buffers = tsr_comm_buffers(compiled->comm);
  options->comm = compiled->comm;
  TSR_TRY(tsr_array_agree(compiled->comm, "compile", tsr_partitioned_enter(partitioned, &scope)));
  tsr_status status = tsr_executable_compile(partitioned->entry, options, &compiled->executable);
  if (partitioned->scoped) tsr_scope_leave(scope);
  return status;
}

tsr_status tsr_partitioned_compile(const tsr_partitioned *partitioned, tsr_comm *comm,
                                   const tsr_compile_options *given, tsr_compiled **out_compiled) {
  tsr_compile_options options;
  tsr_compiled *compiled = calloc(1, sizeof *compiled);
  tsr_status status = compiled ? check(partitioned, comm, given, &options)
                               : tsr_fail(NO_MEMORY, "a compiled program");
  status = tsr_array_agree(comm, "compile", status);
  if (!status && compiled) {
    compiled->partitioned = tsr_partitioned_retain(partitioned);
    compiled->comm = tsr_comm_retain(comm);
    status = compile(compiled, &options);
  }
  if (status)
    tsr_compiled_release(compiled);
  else
    *out_compiled = compiled;
  return status;
}

void tsr_compiled_release(const tsr_compiled *compiled) {
  tsr_compiled *own = (tsr_compiled *)(uintptr_t)compiled;
  if (!own) return;
  tsr_executable_release(own->executable);
  tsr_partitioned_release(own->partitioned);
  tsr_comm_release(own->comm);
  free(own);
}

const tsr_executable *tsr_compiled_executable(const tsr_compiled *compiled) {
  return compiled->executable;
}
