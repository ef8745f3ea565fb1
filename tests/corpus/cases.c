// Blocks of cases, what is said of each, and the same written back.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status_internal.h"
#include "base/text_internal.h"
#include "corpus/corpus.h"
#include "format/fsck_report.h"
#include "tessera/checkpoint/fsck.h"

// ---- what is said of one folder ----

// The text with every mention of the folder as DIR.
static void add_without_folder(const char *text, const test_folder *folder, tsr_text *out) {
  const size_t length = strlen(folder->path);
  for (const char *found = NULL; (found = strstr(text, folder->path)); text = found + length) {
    tsr_text_add_bytes(out, text, (size_t)(found - text));
    tsr_text_add(out, "DIR");
  }
  tsr_text_add(out, text);
}

static bool has_errors(const corpus_kind *kind, const test_folder *folder) {
  tsr_fsck *fsck = NULL;
  tsr_status status =
      tsr_fsck_run(kind->file ? test_folder_path(folder, kind->file) : folder->path, NULL, &fsck);
  const bool found = status || tsr_fsck_total(fsck, TSR_SEVERITY_ERROR) > 0;
  tsr_status_free(status);
  tsr_fsck_destroy(fsck);
  return found;
}

corpus_answer corpus_ask(const corpus_kind *kind, const corpus_folder *folder) {
  corpus_answer result = {.fsck_agrees = true};
  tsr_text warnings = TSR_TEXT_EMPTY, said = TSR_TEXT_EMPTY;
  test_folder where;
  test_folder_make(&where);
  corpus_folder_make(folder, &where);
  tsr_status status = kind->open(&where, &warnings);
  result.refused = status || (kind->report && warnings.length);
  if (status)
    tsr_text_addf(&said, "%s: %.*s", tsr_cause_slug(tsr_status_cause(status)),
                  TSR_STATUS_LINE(status));
  else if (kind->report)
    tsr_text_add(&said, tsr_text_string(&warnings));
  else
    tsr_text_addf(&said, "accepted%s%s", warnings.length ? ": " : "", tsr_text_string(&warnings));
  while (said.length && said.data[said.length - 1] == '\n') said.data[--said.length] = '\0';
  add_without_folder(tsr_text_string(&said), &where, &result.text);
  // That there is no plan is for the caller to mend, not for the folder.
  const bool broken = status && tsr_status_cause(status) != TSR_CAUSE_PLAN_REQUIRED;
  if (kind->checkpoint) result.fsck_agrees = has_errors(kind, &where) == broken;
  tsr_status_free(status);
  tsr_text_deinit(&warnings);
  tsr_text_deinit(&said);
  test_folder_remove(&where);
  return result;
}

// ---- blocks ----

char *corpus_read(const corpus_kind *kind, char out_path[static 128]) {
  char *bytes = NULL;
  size_t length = 0;
  snprintf(out_path, 128, "tests/corpus/%s.cases", kind->name);
  assert_ok(tsr_file_read(out_path, &bytes, &length));
  char *text = strndup(bytes, length);
  free(bytes);
  assert_non_null(text);
  return text;
}

// Takes one line, or with "- OLD" the next one too; gives where the line after it starts.
static char *take_line(corpus_block *block, char *line) {
  char *end = strchrnul(line, '\n');
  if (*line == '-' && !strncmp(end, "\n+", 2)) end = strchrnul(end + 1, '\n');
  char *next = *end ? end + 1 : end;
  *end = '\0';
  if (*line == '>')
    tsr_text_addf(&block->wanted, "%s%s", block->wanted.length ? "\n" : "", line + 2);
  else if (*line != '#' && !corpus_folder_change(&block->folder, line))
    fail_msg("case %s: \"%s\" is not understood", block->name, line);
  return next;
}

bool corpus_block_next(const char *text, const corpus_folder *good, corpus_block *out) {
  *out = (corpus_block){0};
  while (*text == '\n' || *text == '#') text = strchrnul(text, '\n') + 1;
  if (!*text) return false;
  const char *end = strstr(text, "\n\n");
  out->start = text;
  out->length = end ? (size_t)(end - text) : strlen(text) - 1;
  out->copy = strndup(text, out->length);
  assert_non_null(out->copy);
  char *line = strchrnul(out->copy, '\n');
  if (*line) *line++ = '\0';
  const bool is_case = !strncmp(out->copy, "case ", 5);
  out->name = is_case ? out->copy + 5 : NULL;
  if (!is_case) assert_string_equal(out->copy, "good");
  if (is_case) corpus_folder_copy(good, &out->folder);
  while (*line) line = take_line(out, line);
  return true;
}

void corpus_block_end(corpus_block *block, corpus_folder *good) {
  if (!block->name) {
    corpus_folder_clear(good);
    corpus_folder_copy(&block->folder, good);
  }
  corpus_folder_clear(&block->folder);
  tsr_text_deinit(&block->wanted);
  free(block->copy);
}

// ---- update ----

static void add_lines(const char *text, size_t length, const char *prefix, tsr_text *out) {
  for (const char *line = text, *stop = text + length; line < stop;) {
    const char *newline = memchr(line, '\n', (size_t)(stop - line));
    const char *end = newline ? newline : stop;
    tsr_text_add(out, prefix);
    tsr_text_add_bytes(out, line, (size_t)(end - line));
    tsr_text_add_char(out, '\n');
    line = end + 1;
  }
}

static void add_block(const corpus_kind *kind, const corpus_block *block, tsr_text *out) {
  const char *told = memmem(block->start, block->length, "\n>", 2);
  add_lines(block->start, told ? (size_t)(told - block->start) : block->length, "", out);
  if (!block->name) return;
  corpus_answer answer = corpus_ask(kind, &block->folder);
  add_lines(tsr_text_string(&answer.text), answer.text.length, "> ", out);
  tsr_text_deinit(&answer.text);
}

static void update_kind(const corpus_kind *kind) {
  char path[128];
  corpus_folder good = {0};
  corpus_block block;
  tsr_text out = TSR_TEXT_EMPTY;
  char *text = corpus_read(kind, path);
  const char *at = text;
  for (; corpus_block_next(at, &good, &block); corpus_block_end(&block, &good)) {
    tsr_text_add_bytes(&out, at, (size_t)(block.start - at));
    add_block(kind, &block, &out);
    at = block.start + block.length + 1;
  }
  tsr_text_add(&out, at);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(tsr_text_string(&out), 1, out.length, file), out.length);
  assert_int_equal(fclose(file), 0);
  corpus_folder_clear(&good);
  tsr_text_deinit(&out);
  free(text);
}

void corpus_update(void) {
  for (int i = 0; i < corpus_kind_count; i++) update_kind(&corpus_kinds[i]);
}
