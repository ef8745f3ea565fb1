// A program as JAX exports it: what it takes and gives, and its text after passes.
//
//   program PROGRAM [PASSES]
#include <inttypes.h>
#include <stdio.h>
#include <tessera/program.h>
#include <tessera/tessera.h>

static tsr_status show(const char *kind, const tsr_program_value *value) {
  TSR_OWN(text, spec);
  if (value->spec) TSR_TRY(tsr_spec_print(value->spec, TSR_FORM_SHORT, &spec));
  printf("%-8s %-12s %-20s %s%s\n", kind, value->name, value->type,
         value->spec ? tsr_text_string(&spec) : "any sharding", value->donated ? ", donated" : "");
  return NULL;
}

static tsr_status run(const char *path, const char *passes) {
  TSR_OWN(program, program);  // released at the end of the block, as is the changed one
  TSR_OWN(program, changed);
  TSR_OWN(text, text);
  tsr_program_function entry = TSR_PROGRAM_FUNCTION;
  tsr_program_value value = TSR_PROGRAM_VALUE;
  TSR_TRY(tsr_program_open(path, NULL, &program));
  const int64_t index = tsr_program_entry(program);
  TSR_TRY(tsr_program_function_at(program, index, &entry));
  for (int64_t i = 0; i < entry.argument_count; i++) {
    TSR_TRY(tsr_program_argument(program, index, i, &value));
    TSR_TRY(show("argument", &value));
  }
  for (int64_t i = 0; i < entry.result_count; i++) {
    TSR_TRY(tsr_program_result(program, index, i, &value));
    TSR_TRY(show("result", &value));
  }
  TSR_TRY(tsr_program_transform(program, passes, &changed));
  TSR_TRY(tsr_program_print(changed, NULL, &text));
  printf("%s", tsr_text_string(&text));
  return NULL;
}

int main(int argc, char **argv) {
  if (argc == 2 || argc == 3)
    return tsr_status_exit(run(argv[1], argc == 3 ? argv[2] : "simplify"));
  fprintf(stderr, "usage: program PROGRAM [PASSES]\n");
  return 2;
}
