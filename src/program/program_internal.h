// The program behind its handle, for the rooms above.
#ifndef TESSERA_PROGRAM_PROGRAM_INTERNAL_H
#define TESSERA_PROGRAM_PROGRAM_INTERNAL_H

#include "ir/ir.h"
#include "tessera/program/program.h"

// A handle that owns `ir`, also when this fails. `name` stands for the file in messages.
TSR_MUST_USE tsr_status tsr_program_wrap(tsr_ir *ir, const char *name, tsr_program_form form,
                                         tsr_program **out_program);
const tsr_ir *tsr_program_ir(const tsr_program *program);
const char *tsr_program_path(const tsr_program *program);  // its name in messages
// The op of a function by index; NULL if out of range.
const tsr_op *tsr_program_function_op(const tsr_program *program, int64_t index);
// Describes the function that a caller runs. Fails with not_found if there is none.
TSR_MUST_USE tsr_status tsr_program_entry_function(const tsr_program *program, int64_t *out_index,
                                                   tsr_program_function *out_function);
// What a file of jax.export says around the program; NULL for other programs.
struct tsr_export_file;
const struct tsr_export_file *tsr_program_export(const tsr_program *program);
// A copy of the program that a pass may change; NULL without memory.
tsr_ir *tsr_program_copy_ir(const tsr_program *program);
// Writes a file, which has the old content or the whole new one at any time.
TSR_MUST_USE tsr_status tsr_content_write(const char *path, const tsr_text *content);

#endif
