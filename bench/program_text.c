// Reads and checks a program whose text is mostly large constants, from memory.
//
// bench: read MLIR text of 210 MB with 25 constants of 4 MB
// rival: jaxlib's parser
// bar: 1 x
// bar: 1.05 s
//
// The second bar is 200 MB/s.
#include "large_program.h"
#include "rounds.h"

int main(void) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status = large_program_text(&text);
  const int code = status ? rounds_fail(status) : rounds_serve(read_large_program, &text);
  tsr_text_deinit(&text);
  return code;
}
