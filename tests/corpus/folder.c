// Folders that are spelled out line by line, and made on disk.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_internal.h"
#include "corpus/corpus.h"

static void clear_file(corpus_file *file) {
  tsr_text_deinit(&file->head);
  tsr_text_deinit(&file->body);
  tsr_text_deinit(&file->added);
}

void corpus_folder_clear(corpus_folder *folder) {
  for (int i = 0; i < folder->count; i++) clear_file(&folder->files[i]);
  *folder = (corpus_folder){0};
}

static void copy_text(const tsr_text *from, tsr_text *to) {
  *to = (tsr_text)TSR_TEXT_EMPTY;
  tsr_text_add_bytes(to, tsr_text_string(from), from->length);
}

void corpus_folder_copy(const corpus_folder *from, corpus_folder *to) {
  *to = *from;
  to->current = 0;
  for (int i = 0; i < from->count; i++) {
    copy_text(&from->files[i].head, &to->files[i].head);
    copy_text(&from->files[i].body, &to->files[i].body);
    copy_text(&from->files[i].added, &to->files[i].added);
  }
}

// ---- lines ----

static int digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
}

// Adds TEXT with its escapes resolved.
static void add_decoded(const char *text, tsr_text *out) {
  for (const char *c = text; *c; c++) {
    if (*c != '\\') {
      tsr_text_add_char(out, *c);
      continue;
    }
    c++;
    if (*c == 'x') {
      tsr_text_add_char(out, (char)(digit(c[1]) * 16 + digit(c[2])));
      c += 2;
    } else if (*c == '*') {
      char *end = NULL;
      for (long n = strtol(c + 1, &end, 10); n > 0; n--) tsr_text_add_char(out, *end);
      c = end;
    } else {
      tsr_text_add_char(out, *c == 'n' ? '\n' : *c == 't' ? '\t' : *c == 'r' ? '\r' : *c);
    }
  }
}

static corpus_file *find_file(corpus_folder *folder, const char *name) {
  for (int i = 0; i < folder->count; i++)
    if (!strcmp(folder->files[i].name, name)) {
      folder->current = i;
      return &folder->files[i];
    }
  return NULL;
}

static bool start_file(corpus_folder *folder, const char *name) {
  corpus_file *file = find_file(folder, name);
  if (file) clear_file(file);
  if (!file && folder->count == CORPUS_FILES) return false;
  if (!file) {
    folder->current = folder->count;
    file = &folder->files[folder->count++];
  }
  *file = (corpus_file){.cut = INT64_MAX};
  snprintf(file->name, sizeof file->name, "%s", name);
  return true;
}

// Where `old` stands, if it stands there only.
static char *find_once(tsr_text *text, const tsr_text *old) {
  char *found = text->length ? memmem(text->data, text->length, old->data, old->length) : NULL;
  if (!found) return NULL;
  const size_t rest = text->length - (size_t)(found + 1 - text->data);
  return memmem(found + 1, rest, old->data, old->length) ? NULL : found;
}

static bool replace(tsr_text *text, const tsr_text *old, const tsr_text *new) {
  tsr_text result = TSR_TEXT_EMPTY;
  const char *found = find_once(text, old);
  if (!found) return false;
  const size_t before = (size_t)(found - text->data);
  tsr_text_add_bytes(&result, text->data, before);
  tsr_text_add_bytes(&result, tsr_text_string(new), new->length);
  tsr_text_add_bytes(&result, found + old->length, text->length - before - old->length);
  tsr_text_deinit(text);
  *text = result;
  return true;
}

// Both lines of a replacement come together: "- OLD\n+ NEW".
static bool replace_line(corpus_file *file, const char *line) {
  tsr_text old = TSR_TEXT_EMPTY, new = TSR_TEXT_EMPTY;
  const char *newline = strchr(line, '\n');
  if (!newline || strncmp(newline, "\n+", 2) != 0) return false;
  char *first = strndup(line + 2, (size_t)(newline - line) - 2);
  add_decoded(first, &old);
  free(first);
  if (newline[2]) add_decoded(newline + 3, &new);
  const bool done = replace(file->has_head ? &file->head : &file->body, &old, &new);
  tsr_text_deinit(&old);
  tsr_text_deinit(&new);
  return done;
}

static const char *after(const char *line, const char *word) {
  const size_t length = strlen(word);
  if (strncmp(line, word, length) != 0) return NULL;
  return line[length] == ' ' ? line + length + 1 : line[length] ? NULL : line + length;
}

static bool change_form(corpus_file *file, const char *line) {
  const char *rest = NULL;
  if (after(line, "gone"))
    file->form = CORPUS_GONE;
  else if (after(line, "folder"))
    file->form = CORPUS_FOLDER;
  else if ((rest = after(line, "link"))) {
    file->form = CORPUS_LINK;
    snprintf(file->target, sizeof file->target, "%s", rest);
  } else
    return false;
  return true;
}

static bool change_bytes(corpus_file *file, const char *line) {
  const char *rest = NULL;
  if ((rest = after(line, "|"))) {
    add_decoded(rest, &file->body);
    tsr_text_add_char(&file->body, '\n');
  } else if ((rest = after(line, "raw"))) {
    add_decoded(rest, &file->body);
  } else if ((rest = after(line, "head"))) {
    file->has_head = true;
    add_decoded(rest, &file->head);
  } else if ((rest = after(line, "add"))) {
    add_decoded(rest, &file->added);
  } else if ((rest = after(line, "data"))) {
    file->data = strtoll(rest, NULL, 10);
  } else if ((rest = after(line, "length"))) {
    file->has_length = true;
    file->length = strtoull(rest, NULL, 10);
  } else if ((rest = after(line, "cut"))) {
    file->cut = strtoll(rest, NULL, 10);
  } else if (after(line, "-")) {
    return replace_line(file, line);
  } else {
    return change_form(file, line);
  }
  return true;
}

bool corpus_folder_change(corpus_folder *folder, const char *line) {
  const char *name = NULL;
  if ((name = after(line, "file"))) return start_file(folder, name);
  if ((name = after(line, "in"))) return find_file(folder, name) != NULL;
  return folder->count && change_bytes(&folder->files[folder->current], line);
}

// ---- on disk ----

void corpus_file_bytes(const corpus_file *file, tsr_text *out) {
  if (file->has_head) {
    const uint64_t length = file->has_length ? file->length : file->head.length;
    for (int i = 0; i < 8; i++) tsr_text_add_char(out, (char)(length >> 8 * i & 0xff));
    tsr_text_add_bytes(out, tsr_text_string(&file->head), file->head.length);
  }
  tsr_text_add_bytes(out, tsr_text_string(&file->body), file->body.length);
  // Data that is not the same in two files, nor in two places of one.
  unsigned char byte = 1;
  for (const char *c = file->name; *c; c++) byte = (unsigned char)(byte * 31 + *c);
  for (int64_t i = 0; i < file->data; i++, byte += 7) tsr_text_add_char(out, (char)byte);
  const int64_t keep = file->cut < 0 ? (int64_t)out->length + file->cut : file->cut;
  if (keep < (int64_t)out->length) out->length = (size_t)keep;
  tsr_text_add_bytes(out, tsr_text_string(&file->added), file->added.length);
}

static void make_file(const corpus_file *file, const char *path) {
  tsr_text bytes = TSR_TEXT_EMPTY;
  corpus_file_bytes(file, &bytes);
  FILE *out = fopen(path, "wb");
  assert_non_null(out);
  assert_int_equal(fwrite(tsr_text_string(&bytes), 1, bytes.length, out), bytes.length);
  assert_int_equal(fclose(out), 0);
  tsr_text_deinit(&bytes);
}

void corpus_folder_make(const corpus_folder *folder, const test_folder *where) {
  for (int i = 0; i < folder->count; i++) {
    const corpus_file *file = &folder->files[i];
    const char *path = test_folder_path(where, file->name);
    if (file->form == CORPUS_FILE) make_file(file, path);
    if (file->form == CORPUS_FOLDER) assert_int_equal(mkdir(path, 0700), 0);
    if (file->form == CORPUS_LINK) assert_int_equal(symlink(file->target, path), 0);
  }
}
