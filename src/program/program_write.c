// Programs as text and as artifacts, in memory and in files.
#include "base/sized.h"
#include "base/text_internal.h"
#include "bytecode/bytecode.h"
#include "file/replace.h"
#include "program/program_internal.h"
#include "program/program_state.h"
#include "syntax/syntax.h"

tsr_status tsr_program_print(const tsr_program *program, const tsr_program_print_options *options,
                             tsr_text *out) {
  tsr_program_print_options given;
  TSR_TRY(tsr_sized_read(tsr_program_print_options, options, &given));
  const tsr_print_options how = {.generic = given.generic,
                                 .locations = given.locations,
                                 .elide_elements = given.elide_elements};
  if (given.elide_elements < 0)
    return tsr_fail(BAD_ARGUMENT, "elide_elements is %lld, expected 0 or more",
                    (long long)given.elide_elements);
  pthread_mutex_t *marks = (pthread_mutex_t *)(uintptr_t)&program->marks;
  pthread_mutex_lock(marks);
  tsr_syntax_print(program->ir, &how, out);
  pthread_mutex_unlock(marks);
  return tsr_text_check(out);
}

tsr_status tsr_program_serialize(const tsr_program *program, const char *version, tsr_text *out) {
  return tsr_bytecode_write(program->ir, version, out);
}

static bool is_text_name(const char *path) {
  return tsr_ends_with(path, ".mlir") || tsr_ends_with(path, ".txt");
}

tsr_status tsr_content_write(const char *path, const tsr_text *content) {
  tsr_replacement file;
  TSR_TRY(tsr_replacement_begin(&file, path));
  tsr_status status = tsr_replacement_write(&file, content->data, (int64_t)content->length, 0);
  return tsr_replacement_end(&file, status);
}

tsr_status tsr_program_save(const tsr_program *program, const char *path, const char *version) {
  tsr_text content = TSR_TEXT_EMPTY;
  if (is_text_name(path) && version)
    return tsr_fail(BAD_ARGUMENT, "%s is a text, which has no version; \"%s\" was given", path,
                    version);
  tsr_status status = is_text_name(path) ? tsr_program_print(program, NULL, &content)
                                         : tsr_program_serialize(program, version, &content);
  if (!status) status = tsr_content_write(path, &content);
  tsr_text_deinit(&content);
  return status;
}
