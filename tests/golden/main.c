// golden [--only fn,fn] [--quiet] [--tally] file.json ...
//
// Replays every case of the files, prints one line for each that fails and closes with the line
// "N passed, N failed"; exit status 1 if any failed, 2 if there was nothing to run or a file could
// not be read. Cases marked `defect` are counted on a line of their own: there the recorded answer
// is a fault of the peer and ours is defined by our own tests.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/golden.h"
#include "json/json.h"

enum { MOST_FUNCTIONS = 256 };

typedef struct options {
  const char *only;  // names separated by commas; NULL = all
  bool quiet, tally;
} options;

// How one function of one schema fared.
typedef struct golden_tally {
  golden_schema schema;
  char name[64];
  const golden_function *function;  // NULL = there is no handler
  int passed, failed, defects;
} golden_tally;

typedef struct golden_run {
  options options;
  golden_tally tallies[MOST_FUNCTIONS];
  int tally_count;
  int unread_files;
} golden_run;

static const struct {
  const char *name;
  const golden_function *functions;
} schemas[GOLDEN_SCHEMA_COUNT] = {
#define X(id, name) [GOLDEN_##id] = {#name, golden_##name##_functions},
    GOLDEN_SCHEMAS(X)
#undef X
};

// ---- files ----

static const golden_function *find_function(golden_schema schema, const char *name) {
  for (const golden_function *at = schemas[schema].functions; at->name; at++)
    if (!strcmp(at->name, name)) return at;
  return NULL;
}

static golden_tally *find_tally(golden_run *run, golden_schema schema, const char *name) {
  for (int i = 0; i < run->tally_count; i++)
    if (run->tallies[i].schema == schema && !strcmp(run->tallies[i].name, name))
      return &run->tallies[i];
  if (run->tally_count == MOST_FUNCTIONS) abort();
  golden_tally *tally = &run->tallies[run->tally_count++];
  tally->schema = schema;
  snprintf(tally->name, sizeof tally->name, "%s", name);
  tally->function = find_function(schema, name);
  return tally;
}

// Whether a list of names separated by commas has this one.
static bool is_listed(const char *list, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
    if (strcspn(at, ",") == length && !strncmp(at, name, length)) return true;
  return false;
}

static bool is_any(const char *name, const char *const *names) {
  for (; *names; names++)
    if (!strcmp(*names, name)) return true;
  return false;
}

// Told by content: eformer's files are plain lists, t5x has fleets, jax_mesh topologies, numpy
// formats, torch releases; of the two others only flax is about logical names.
static golden_schema tell_schema(const tsr_json *root, const tsr_json *cases) {
  static const char *const sharding[] = {
      "sharding",   "partition_spec",         "equivalent", "processes", "mesh",
      "device_put", "reshard_to_collectives", NULL};
  if (tsr_json_kind_of(root) == TSR_JSON_ARRAY) return GOLDEN_EFORMER;
  if (tsr_json_find(root, "fleets")) return GOLDEN_T5X;
  if (tsr_json_find(root, "topologies")) return GOLDEN_JAX_MESH;
  if (tsr_json_find(root, "formats")) return GOLDEN_NUMPY;
  if (tsr_json_find(root, "releases")) return GOLDEN_TORCH;
  for (const tsr_json *at = tsr_json_first(cases); at; at = tsr_json_next(at)) {
    char *name = golden_copy_string(tsr_json_find(at, "fn"));
    const bool found = name && is_any(name, sharding);
    free(name);
    if (found) return GOLDEN_JAX_SHARDING;
  }
  return GOLDEN_FLAX;
}

static void run_cases(golden_run *run, golden_case *c, const tsr_json *cases) {
  for (const tsr_json *at = tsr_json_first(cases); at; at = tsr_json_next(at)) {
    char *name = golden_copy_string(tsr_json_find(at, "fn"));
    if (!name) abort();
    c->json = at;
    c->input = tsr_json_find(at, c->schema == GOLDEN_EFORMER ? "args" : "input");
    if (!run->options.only || is_listed(run->options.only, name)) {
      golden_tally *tally = find_tally(run, c->schema, name);
      if (tsr_json_find(at, "defect"))
        tally->defects++;
      else if (tally->function && golden_run_case(c, tally->function, run->options.quiet))
        tally->passed++;
      else
        tally->failed++;
    }
    free(name);
  }
}

static void run_file(golden_run *run, const char *path) {
  tsr_json_doc *doc = NULL;
  tsr_status status = tsr_json_read_file(path, &doc);
  if (status) {
    fprintf(stderr, "golden: %s\n", tsr_status_text(status));
    tsr_status_free(status);
    run->unread_files++;
    return;
  }
  const tsr_json *root = tsr_json_root(doc);
  const bool list = tsr_json_kind_of(root) == TSR_JSON_ARRAY;
  const tsr_json *cases = list ? root : tsr_json_find(root, "cases");
  if (cases) {
    golden_case c = {.schema = tell_schema(root, cases)};
    c.machines = tsr_json_find(root, c.schema == GOLDEN_T5X ? "fleets" : "topologies");
    run_cases(run, &c, cases);
  } else {
    fprintf(stderr, "golden: %s has no cases\n", path);
    run->unread_files++;
  }
  tsr_json_destroy(doc);
}

// ---- the command ----

static int report(const golden_run *run) {
  int passed = 0, failed = 0, defects = 0;
  for (int i = 0; i < run->tally_count; i++) {
    const golden_tally *tally = &run->tallies[i];
    if (!tally->function && tally->failed)
      printf("%s %s: no such function yet, %d cases\n", schemas[tally->schema].name, tally->name,
             tally->failed);
    else if (run->options.tally)
      printf("%s %s: %d of %d\n", schemas[tally->schema].name, tally->name, tally->passed,
             tally->passed + tally->failed);
    passed += tally->passed;
    failed += tally->failed;
    defects += tally->defects;
  }
  printf("%d cases with a defect of the peer left out\n", defects);
  printf("%d passed, %d failed\n", passed, failed);
  if (failed) return 1;
  if (run->unread_files) return 2;
  if (!passed && !defects) fprintf(stderr, "golden: nothing to run\n");
  return passed || defects ? 0 : 2;
}

static int usage(void) {
  fprintf(stderr, "usage: golden [--only fn,fn] [--quiet] [--tally] file.json ...\n");
  return 2;
}

int main(int argc, char **argv) {
  static golden_run run;
  int i = 1;
  for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
    if (!strcmp(argv[i], "--only") && i + 1 < argc)
      run.options.only = argv[++i];
    else if (!strcmp(argv[i], "--quiet"))
      run.options.quiet = true;
    else if (!strcmp(argv[i], "--tally"))
      run.options.tally = true;
    else
      return usage();
  }
  if (i == argc) return usage();
  // What the cases themselves set must not come from outside.
  unsetenv("MEGASCALE_NUM_SLICES");
  unsetenv("LOG_SHARDING_MOVE");
  for (; i < argc; i++) run_file(&run, argv[i]);
  return report(&run);
}
