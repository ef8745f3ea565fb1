// One case: its handler is called, and its answer or failure held against the recorded one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status_internal.h"
#include "base/text_internal.h"
#include "golden/golden.h"
#include "json/json.h"

enum { LINE_PART = 300, MOST_ENVIRONMENT = 8 };

// ---- reporting ----

static void print_cut(const char *text) {
  const size_t length = strlen(text);
  printf("%.*s%s", LINE_PART, text, length > LINE_PART ? "..." : "");
}

static void print_json(const tsr_json *value) {
  tsr_text text = TSR_TEXT_EMPTY;
  if (value) tsr_json_print(value, &text);
  print_cut(value ? tsr_text_string(&text) : "nothing");
  tsr_text_deinit(&text);
}

// The slug of a recorded error: "kind" in four schemas, "gist" in eformer's.
static const tsr_json *error_slug(const tsr_json *error) {
  const tsr_json *kind = tsr_json_find(error, "kind");
  return kind ? kind : tsr_json_find(error, "gist");
}

static void print_failure(const golden_case *c, const golden_function *function, const char *aspect,
                          const tsr_json *expected, const tsr_json *got, tsr_status status) {
  const tsr_json *error = tsr_json_find(c->json, "error");
  print_json(tsr_json_find(c->json, "id"));
  printf(" %s%s%s: expected ", function->name, *aspect ? " " : "", aspect);
  if (error) printf("error ");
  print_json(error ? error_slug(error) : expected);
  printf(", got ");
  if (status) {
    printf("error \"%s\" (", tsr_cause_slug(tsr_status_cause(status)));
    print_cut(tsr_status_text(status));
    printf(")\n");
  } else {
    print_json(got);
    printf("\n");
  }
}

// ---- one case ----

// Sets the variables of a case for the time of its call.
typedef struct environment {
  int count;
  char *names[MOST_ENVIRONMENT], *before[MOST_ENVIRONMENT];
} environment;

char *golden_copy_string(const tsr_json *value) {
  const char *bytes = NULL;
  size_t length = 0;
  tsr_status status = tsr_json_get_string(value, "env", &bytes, &length);
  tsr_status_free(status);
  return status ? NULL : strndup(bytes, length);
}

static void set_environment(const tsr_json *variables, environment *saved) {
  saved->count = 0;
  if (!variables) return;
  for (const tsr_json *at = tsr_json_first(variables); at && saved->count < MOST_ENVIRONMENT;
       at = tsr_json_next(at)) {
    size_t length = 0;
    const char *key = tsr_json_key(at, &length);
    char *name = strndup(key, length), *value = golden_copy_string(at);
    if (!name || !value) abort();
    const char *before = getenv(name);
    saved->names[saved->count] = name;
    saved->before[saved->count++] = before ? strdup(before) : NULL;
    setenv(name, value, 1);
    free(value);
  }
}

static void restore_environment(environment *saved) {
  while (saved->count) {
    char *name = saved->names[--saved->count], *before = saved->before[saved->count];
    if (before)
      setenv(name, before, 1);
    else
      unsetenv(name);
    free(name);
    free(before);
  }
}

// Compares what a handler wrote; reports the first difference.
static bool judge_answer(const golden_case *c, const golden_function *function, const tsr_json *got,
                         const tsr_json *beside, bool quiet) {
  const tsr_json *expected = tsr_json_find(c->json, "output");
  if (!expected) expected = tsr_json_find(c->json, "result");
  if (!expected || !golden_equal(expected, got)) {
    if (!quiet) print_failure(c, function, "", expected, got, NULL);
    return false;
  }
  for (int i = 0; i < 4 && function->beside[i]; i++) {
    const char *name = function->beside[i];
    const tsr_json *wanted = tsr_json_find(c->json, name), *found = tsr_json_find(beside, name);
    if (!wanted || golden_equal(wanted, found)) continue;  // not recorded for every case
    if (!quiet) print_failure(c, function, name, wanted, found, NULL);
    return false;
  }
  return true;
}

static bool judge_error(const golden_case *c, const golden_function *function, tsr_status status,
                        bool quiet) {
  const tsr_json *error = tsr_json_find(c->json, "error");
  char *slug = error ? golden_copy_string(error_slug(error)) : NULL;
  // "no_rule_for:a/b" names a thing as well, which our message has to do too.
  char *thing = slug ? strchr(slug, ':') : NULL;
  if (thing) *thing++ = '\0';
  const bool right = slug && tsr_cause_matches(tsr_status_cause(status), slug) &&
                     (!thing || strstr(tsr_status_text(status), thing));
  free(slug);
  if (right || quiet) return right;
  const tsr_json *expected = tsr_json_find(c->json, "output");
  if (!expected) expected = tsr_json_find(c->json, "result");
  print_failure(c, function, "", expected, NULL, status);
  return false;
}

static tsr_status run_handler(const golden_case *c, const golden_function *function, tsr_text *out,
                              tsr_text *beside) {
  tsr_json_writer out_writer, beside_writer;
  tsr_json_writer_init(&out_writer, out, 0);
  tsr_json_writer_init(&beside_writer, beside, 0);
  const golden_answer answer = {&out_writer, &beside_writer};
  environment saved;
  set_environment(tsr_json_find(c->json, "env"), &saved);
  tsr_json_begin_object(&beside_writer);
  tsr_status status = function->run(c, &answer);
  restore_environment(&saved);
  if (status) return status;
  tsr_json_end_object(&beside_writer);
  TSR_TRY(tsr_text_check(out));
  return tsr_text_check(beside);
}

bool golden_run_case(const golden_case *given, const golden_function *function, bool quiet) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_text out = TSR_TEXT_EMPTY, beside = TSR_TEXT_EMPTY;
  tsr_json_doc *out_doc = NULL, *beside_doc = NULL;
  golden_case with_memory = *given;
  const golden_case *c = &with_memory;
  with_memory.arena = &arena;
  bool passed = false;
  tsr_status status = run_handler(c, function, &out, &beside);
  if (status) {
    passed = judge_error(c, function, status, quiet);
    goto done;
  }
  status = tsr_json_parse(tsr_text_string(&out), out.length, &out_doc);
  if (!status) status = tsr_json_parse(tsr_text_string(&beside), beside.length, &beside_doc);
  if (status)
    printf("%s: the handler wrote bad JSON: %s\n", function->name, tsr_status_text(status));
  else
    passed = judge_answer(c, function, tsr_json_root(out_doc), tsr_json_root(beside_doc), quiet);
done:
  tsr_status_free(status);
  tsr_json_destroy(out_doc);
  tsr_json_destroy(beside_doc);
  tsr_text_deinit(&out);
  tsr_text_deinit(&beside);
  tsr_arena_deinit(&arena);
  return passed;
}
