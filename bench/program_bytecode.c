// Reads and checks the same program as bench/program_text.c as a portable artifact, from memory.
//
// bench: read a portable artifact of 105 MB with 25 constants of 4 MB
// rival: jaxlib's deserializer
// bar: 1 x
// bar: 0.105 s
//
// The second bar is 1 GB/s. The bytes are copied once, since the program must own them.
#include "large_program.h"
#include "rounds.h"

static tsr_status make_artifact(tsr_text *out) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_program *program = NULL;
  tsr_status status = large_program_text(&text);
  if (!status) status = tsr_program_read("large", text.data, text.length, NULL, &program);
  if (!status) status = tsr_program_serialize(program, NULL, out);
  tsr_program_release(program);
  tsr_text_deinit(&text);
  return status;
}

int main(void) {
  tsr_text artifact = TSR_TEXT_EMPTY;
  tsr_status status = make_artifact(&artifact);
  const int code = status ? rounds_fail(status) : rounds_serve(read_large_program, &artifact);
  tsr_text_deinit(&artifact);
  return code;
}
