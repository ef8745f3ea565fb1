// All output of the command. Escape sequences are removed: names of tensors and files may hold
// them.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text_internal.h"
#include "cli/cli.h"

static bool is_stdout(const char *path) { return !path || !strcmp(path, "-"); }

tsr_status cli_output_figure(const tsr_text *text, const char *path) {
  TSR_TRY(tsr_text_check(text));
  const bool to_stdout = is_stdout(path);
  FILE *file = to_stdout ? stdout : fopen(path, "w");
  if (!file) return tsr_fail(IO, "cannot write %s: %s", path, strerror(errno));
  const bool written = fwrite(tsr_text_string(text), 1, text->length, file) == text->length;
  const bool flushed = to_stdout ? !fflush(file) : !fclose(file);
  if (!written || !flushed)
    return tsr_fail(IO, "cannot write %s: %s", to_stdout ? "the output" : path, strerror(errno));
  return NULL;
}

tsr_status cli_output(tsr_text *text, const char *path) {
  if (is_stdout(path) && text->length) tsr_make_plain(text->data, text->length);
  return cli_output_figure(text, path);
}

tsr_status cli_finish(tsr_status status, tsr_text *text, const char *path) {
  if (!status) status = cli_output(text, path);
  tsr_text_deinit(text);
  return status;
}

void cli_say(const char *format, ...) {
  char line[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  tsr_make_plain(line, strlen(line));
  fputs(line, stderr);
}
