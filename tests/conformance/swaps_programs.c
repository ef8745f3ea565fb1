// The collectives of tessera/program/partitioned.h with an argument swapped.
#include <stdio.h>
#include <string.h>

#include "conformance/swaps.h"
#include "tessera/own.h"
#include "tessera/program/partitioned.h"

// The tensor by rows becomes the tensor by columns, through an op that leaves it as it is.
static tsr_status partition(const scene *s, bool other, tsr_partitioned **out_partitioned) {
  static const tsr_value_constraint specs[] = {{"a", "data+model, _"}, {"result", "_, data+model"}};
  tsr_partition_options options = TSR_PARTITION_OPTIONS;
  const long long side = 2 * s->n;
  char text[512];
  TSR_OWN(program, program);
  snprintf(text, sizeof text,
           "func.func @main(%%a: tensor<%lldx%lldxi32> loc(\"a\"))\n"
           "    -> (tensor<%lldx%lldxi32> {jax.result_info = \"result\"}) {\n"
           "  %%0 = stablehlo.%s %%a, %%a : tensor<%lldx%lldxi32>\n"
           "  return %%0 : tensor<%lldx%lldxi32>\n}\n",
           side, side, side, side, other ? "or" : "and", side, side, side, side);
  TSR_TRY(tsr_program_read("swaps", text, strlen(text), NULL, &program));
  options.mesh = s->mesh;
  options.specs = specs;
  options.spec_count = sizeof specs / sizeof *specs;
  return tsr_program_partition(program, &options, out_partitioned);
}

static tsr_status run(const scene *s, const tsr_compiled *compiled, tsr_array *input,
                      const tsr_call_options *options) {
  tsr_array *output = NULL;
  tsr_status status = tsr_compiled_call(compiled, &input, options, &output);
  if (!status) status = swap_check(s, output, 0);
  tsr_array_release(output);
  return status;
}

static tsr_status compile(scene *s, int swapped) {
  tsr_compile_options options = TSR_COMPILE_OPTIONS;
  if (swapped == 2) options.size = 1;
  TSR_OWN(partitioned, partitioned);
  TSR_OWN(compiled, compiled);
  TSR_TRY(partition(s, swapped == 1, &partitioned));
  TSR_TRY(tsr_partitioned_compile(partitioned, s->comm, &options, &compiled));
  return run(s, compiled, s->arrays[0], NULL);
}

static tsr_status call(scene *s, int swapped) {
  tsr_call_options options = TSR_CALL_OPTIONS;
  options.reshard = swapped != 2;
  options.keep = swapped == 3;
  if (swapped == 5) options.size = 1;
  TSR_OWN(partitioned, partitioned);
  TSR_OWN(compiled, compiled);
  TSR_TRY(partition(s, false, &partitioned));
  TSR_TRY(tsr_partitioned_compile(partitioned, s->comm, NULL, &compiled));
  return run(s, compiled,
             swapped == 1   ? s->by_columns
             : swapped == 4 ? s->of_floats
                            : s->arrays[0],
             &options);
}

const collective program_collectives[] = {
    {"tsr_partitioned_compile", "program ! options.size", compile},
    {"tsr_compiled_call", "layout reshard keep ! dtype options.size", call},
    {0}};
