// Programs of one op each, with arguments sharded in all ways over meshes of 2, 4 and 6 devices:
// the partitioned run equals the whole one.
//
// The ways are all placements of the axes on dims, for each argument and a constraint on the
// result, those that do not divide a dim also for constraints on the arguments; and Shardy's passes
// alone, on programs with all shardings. Without --all, a sample of them, drawn by --seed. Failures
// are listed by op; names of ops choose some. --part I/N takes every Nth case from I on, for
// several processes. At the end every op that runs must have had a case, or a reason for having
// none (uncovered.def).
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "ir/ir.h"
#include "lower/lowering.h"
#include "program/program_internal.h"
#include "spmd_test.h"
#include "tessera/program.h"
#include "tessera/program/executable.h"
#include "trial/trial.h"

enum { MOST_ARGS = 8, SAMPLES = 5, MOST_WAYS = 400, CHAINS = 60, ALL_CHAINS = 2000 };

typedef struct op_case {
  const char *op, *args, *result, *text;
} op_case;

static const op_case cases[] = {
#define CASE(op, args, result, text) {op, args, result, text},
#include "op_cases.def"
#undef CASE
};

// Words of a case that depend on the mesh: groups along axis x, pairs of neighbours along it, all
// axes, devices in one step along x.
enum { WORD_COUNT = 4 };
static const char *const words[WORD_COUNT] = {"$GROUPS", "$PAIRS", "$AXES", "$AFTER"};

typedef struct test_mesh {
  const char *text;
  const char *axes[2];
  int count, sizes[2];
  const char *words[WORD_COUNT];
} test_mesh;
static const test_mesh meshes[] = {
    {"[\"x\"=2]",
     {"x", NULL},
     1,
     {2, 1},
     {"dense<[[0, 1]]> : tensor<1x2xi64>", "dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>", "\"x\"",
      "1"}},
    {"[\"x\"=2, \"y\"=2]",
     {"x", "y"},
     2,
     {2, 2},
     {"dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>",
      "dense<[[0, 2], [1, 3], [2, 0], [3, 1]]> : tensor<4x2xi64>", "\"x\", \"y\"", "2"}},
    {"[\"x\"=2, \"y\"=3]",
     {"x", "y"},
     2,
     {2, 3},
     {"dense<[[0, 3], [1, 4], [2, 5]]> : tensor<3x2xi64>",
      "dense<[[0, 3], [1, 4], [2, 5], [3, 0], [4, 1], [5, 2]]> : tensor<6x2xi64>", "\"x\", \"y\"",
      "3"}},
};
enum { MESH_COUNT = sizeof meshes / sizeof *meshes };

// ---- random numbers ----

static uint64_t state;
uint64_t spmd_draw(uint64_t below) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (state >> 33) % below;
}

// ---- shardings ----

static int rank_of(const char *type, size_t length) {
  int rank = 0;
  for (size_t i = 0; i + 1 < length; i++)
    rank +=
        type[i] == 'x' && type[i - 1] >= '0' && type[i - 1] <= '9' && (i < 2 || type[i - 1] != 'e');
  return rank;
}

// The ways to place axes on dims: each on a dim or none, both on one dim in either order.
static int ways_of(const test_mesh *mesh, int rank) {
  return mesh->count == 1 ? rank + 1 : (rank + 1) * (rank + 1) + rank;
}

// The dim that each axis is placed on, -1 for none; whether the last axis comes first.
static bool place_axes(const test_mesh *mesh, int rank, int way, int *place) {
  place[0] = place[1] = -1;
  if (mesh->count == 1) {
    place[0] = way - 1;
  } else if (way < (rank + 1) * (rank + 1)) {
    place[0] = way / (rank + 1) - 1;
    place[1] = way % (rank + 1) - 1;
  } else {
    place[0] = place[1] = way - (rank + 1) * (rank + 1);
    return true;
  }
  return false;
}

static void add_sharding(const test_mesh *mesh, int rank, int way, tsr_text *out) {
  int place[2];
  const bool turned = place_axes(mesh, rank, way, place);
  tsr_text_add(out, "<@mesh, [");
  for (int d = 0; d < rank; d++) {
    const char *names[2] = {NULL, NULL};
    int count = 0;
    for (int k = 0; k < mesh->count; k++) {
      const int axis = turned ? mesh->count - 1 - k : k;
      if (place[axis] == d) names[count++] = mesh->axes[axis];
    }
    tsr_text_addf(out, "%s{", d ? ", " : "");
    for (int k = 0; k < count; k++) tsr_text_addf(out, "%s\"%s\"", k ? ", " : "", names[k]);
    tsr_text_add(out, "}");
  }
  tsr_text_add(out, "]>");
}

// Whether a way does not divide a dim of a type.
static bool is_uneven(const test_mesh *mesh, const char *type, size_t length, int way) {
  const int rank = rank_of(type, length);
  int place[2];
  place_axes(mesh, rank, way, place);
  for (int d = 0; d < rank; d++) {
    char *end = NULL;
    const long size = strtol(type, &end, 10);
    long shards = 1;
    for (int k = 0; k < mesh->count; k++)
      if (place[k] == d) shards *= mesh->sizes[k];
    if (size % shards) return true;
    type = end + 1;
  }
  return false;
}

// ---- one program ----

typedef struct program_text {
  const op_case *op;
  const test_mesh *mesh;
  const char *args[MOST_ARGS];
  size_t lengths[MOST_ARGS];
  int count;
  bool inside;  // arguments are whole, and sharded by constraints
} program_text;

static void split_args(program_text *p) {
  for (const char *at = p->op->args; *at;) {
    p->args[p->count] = at;
    p->lengths[p->count] = strcspn(at, ";");
    at += p->lengths[p->count++];
    at += *at == ';';
  }
}

// The text of a case with its words replaced.
static void write_body(const program_text *p, tsr_text *out) {
  for (const char *at = p->op->text; *at;) {
    int word = 0;
    while (word < WORD_COUNT && strncmp(at, words[word], strlen(words[word]))) word++;
    if (word == WORD_COUNT) {
      tsr_text_add_char(out, *at++);
      continue;
    }
    tsr_text_add(out, p->mesh->words[word]);
    at += strlen(words[word]);
  }
}

static void write_program(const program_text *p, const int *ways, tsr_text *out) {
  const int rank = rank_of(p->op->result, strlen(p->op->result));
  tsr_text_addf(out, "module {\n sdy.mesh @mesh = <%s>\n func.func @main(", p->mesh->text);
  for (int i = 0; i < p->count; i++) {
    tsr_text_addf(out, "%s%%%s%d: tensor<%.*s>", i ? ", " : "", p->inside ? "in" : "arg", i,
                  (int)p->lengths[i], p->args[i]);
    if (p->inside) continue;
    tsr_text_add(out, " {sdy.sharding = #sdy.sharding");
    add_sharding(p->mesh, rank_of(p->args[i], p->lengths[i]), ways[i], out);
    tsr_text_add(out, "}");
  }
  tsr_text_addf(out, ") -> tensor<%s> {\n ", p->op->result);
  for (int i = 0; p->inside && i < p->count; i++) {
    tsr_text_addf(out, "%%arg%d = sdy.sharding_constraint %%in%d ", i, i);
    add_sharding(p->mesh, rank_of(p->args[i], p->lengths[i]), ways[i], out);
    tsr_text_addf(out, " : tensor<%.*s>\n ", (int)p->lengths[i], p->args[i]);
  }
  write_body(p, out);
  tsr_text_add(out, "\n");
  if (ways[p->count]) {
    tsr_text_add(out, " %last = sdy.sharding_constraint %out ");
    add_sharding(p->mesh, rank, ways[p->count] - 1, out);
    tsr_text_addf(out, " : tensor<%s>\n return %%last : tensor<%s>\n }\n", p->op->result,
                  p->op->result);
  } else {
    tsr_text_addf(out, " return %%out : tensor<%s>\n }\n", p->op->result);
  }
  if (!strcmp(p->op->op, "func.call"))
    tsr_text_add(out,
                 " func.func private @half(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {\n"
                 " %c = stablehlo.constant dense<0.5> : tensor<4x4xf32>\n"
                 " %r = stablehlo.multiply %a, %c : tensor<4x4xf32>\n"
                 " return %r : tensor<4x4xf32>\n }\n");
  if (!strcmp(p->op->op, "stablehlo.composite"))
    tsr_text_add(out,
                 " func.func private @sum(%a: tensor<4x6xf32>, %b: tensor<4x6xf32>) -> "
                 "tensor<4x6xf32> {\n"
                 " %r = stablehlo.add %a, %b : tensor<4x6xf32>\n"
                 " return %r : tensor<4x6xf32>\n }\n");
  tsr_text_add(out, "}\n");
}

static tsr_status run(const tsr_program *program, tsr_trial_values *outputs,
                      tsr_executable **executable) {
  tsr_compile_options options = TSR_COMPILE_OPTIONS;
  tsr_trial_values inputs = {0};
  options.workers = 1;
  TSR_TRY(tsr_executable_compile(program, &options, executable));
  tsr_status status = tsr_trial_values_create(*executable, false, &inputs);
  if (!status) status = tsr_trial_values_random(&inputs, 7);
  if (!status) status = tsr_trial_values_create(*executable, true, outputs);
  if (!status) status = tsr_trial_run(*executable, &inputs, outputs);
  tsr_trial_values_deinit(&inputs);
  return status;
}

static tsr_status compare(const tsr_program *whole, const tsr_program *cut) {
  tsr_executable *first = NULL, *second = NULL;
  tsr_trial_values want = {0}, got = {0};
  tsr_trial_tolerance tolerance = TSR_TRIAL_TOLERANCE;
  tsr_trial_verdict verdict = {0};
  tsr_text differences = TSR_TEXT_EMPTY;
  tsr_status status = tsr_note(run(whole, &want, &first), "whole");
  if (!status) status = tsr_note(run(cut, &got, &second), "partitioned");
  if (!status) status = tsr_trial_compare_values(&got, &want, &tolerance, &differences, &verdict);
  if (!status && (verdict.differing || !verdict.elements))
    status = tsr_fail(CHECK_FAILED, "%s", tsr_text_string(&differences));
  tsr_text_deinit(&differences);
  tsr_trial_values_deinit(&want);
  tsr_trial_values_deinit(&got);
  tsr_executable_release(first);
  tsr_executable_release(second);
  return status;
}

// ---- coverage ----

static bool covered[TSR_OP_COUNT];

static const struct {
  const char *op, *reason;
} uncovered[] = {
#define REASON(op, reason) {op, reason},
#include "uncovered.def"
#undef REASON
};

static tsr_status cover_op(tsr_op *op, void *context) {
  (void)context;
  covered[op->info->id] = true;
  return NULL;
}

static tsr_status read_case(const tsr_text *text, tsr_program **out_program) {
  TSR_TRY(tsr_program_read("case", text->data, text->length, NULL, out_program));
  return tsr_op_walk(tsr_program_ir(*out_program)->module, cover_op, NULL);
}

static const char *reason_of(const char *op) {
  for (size_t i = 0; i < sizeof uncovered / sizeof *uncovered; i++)
    if (!strcmp(uncovered[i].op, op)) return uncovered[i].reason;
  return NULL;
}

// Every op that runs has a case, or a reason why it has none; and not both.
static int check_coverage(void) {
  int cases_of = 0, reasons = 0, failed = 0;
  for (int id = TSR_OP_UNKNOWN + 1; id < TSR_OP_COUNT; id++) {
    const char *name = tsr_op_info_of((tsr_op_id)id)->name, *reason = reason_of(name);
    if (!tsr_lower_of((tsr_op_id)id)) continue;
    cases_of += covered[id];
    reasons += reason != NULL;
    if (reason && !covered[id]) printf("%-36s no case: %s\n", name, reason);
    if (!reason == covered[id]) continue;
    printf("FAIL %s: %s\n", name, reason ? "has a case and a reason for having none" : "no case");
    failed++;
  }
  printf("%d ops that run have cases, %d a reason for having none\n", cases_of, reasons);
  return failed;
}

// ---- one way ----

tsr_status spmd_check(const tsr_text *text) {
  tsr_program *whole = NULL, *cut = NULL;
  TSR_TRY(read_case(text, &whole));
  tsr_status status = tsr_program_transform(whole, "partition,lanes", &cut);
  if (!status) status = compare(whole, cut);
  tsr_program_release(whole);
  tsr_program_release(cut);
  return status;
}

static bool check_ways(const program_text *p, const int *ways) {
  tsr_text text = TSR_TEXT_EMPTY;
  write_program(p, ways, &text);
  tsr_status status = tsr_text_check(&text);
  if (!status) status = spmd_check(&text);
  if (status) printf("FAIL %s: %s\n%s\n", p->op->op, tsr_status_text(status), text.data);
  const bool passed = !status;
  tsr_status_free(status);
  tsr_text_deinit(&text);
  return passed;
}

// ---- Shardy's passes alone ----

static const struct {
  const char *name, *text;
} pass_cases[] = {
#define PASSES(name, text) {name, text},
#include "pass_cases.def"
#undef PASSES
};

#define BEFORE "sdy-insert-explicit-reshards{enable-full-version},"
#define BETWEEN                                                                              \
  ",sdy-reshard-to-collectives,sdy-pad-for-divisibility,sdy-resolve-single-device-sharding," \
  "sdy-convert-global-to-local"
static const char *const pass_lists[] = {
    BEFORE "sdy-resolve-permutation-factors" BETWEEN ",lanes",
    BEFORE "sdy-resolve-permutation-factors{enable-halo-exchange=false}" BETWEEN
           "{per-dim-all-gather},lanes",
    BEFORE "sdy-resolve-permutation-factors" BETWEEN
           "{combine-multi-dimension-reduce-scatter enable-rgv3},lanes"};

static tsr_status check_list(const char *text, const char *list) {
  tsr_text program = TSR_TEXT_EMPTY;
  tsr_program *whole = NULL, *cut = NULL;
  tsr_text_addf(&program, "sdy.mesh @mesh = <[\"x\"=2, \"y\"=3]>\n%s", text);
  tsr_status status = tsr_text_check(&program);
  if (!status) status = read_case(&program, &whole);
  if (!status) status = tsr_program_transform(whole, list, &cut);
  if (!status) status = compare(whole, cut);
  tsr_program_release(whole);
  tsr_program_release(cut);
  tsr_text_deinit(&program);
  return status;
}

static const char *const local_lists[] = {
    "sdy-convert-global-to-local,lanes", "sdy-convert-global-to-local{per-dim-all-gather},lanes",
    "sdy-convert-global-to-local{combine-multi-dimension-reduce-scatter enable-rgv3},lanes"};

static const struct {
  const char *name, *text, *refusal;  // refusal: NULL = it runs
} local_cases[] = {
#define LOCAL(name, text) {name, text, NULL},
#define REFUSED(text, message) {message, text, message},
#include "local_cases.def"
#undef LOCAL
#undef REFUSED
};

static bool is_refusal(tsr_status status, const char *message) {
  return status && strstr(tsr_status_text(status), message);
}

static void try_list(const char *name, const char *text, const char *list, const char *refusal,
                     spmd_tally *t) {
  tsr_status status = check_list(text, list);
  const bool passed = refusal ? is_refusal(status, refusal) : !status;
  if (!passed) printf("FAIL %s, %s: %s\n", name, list, tsr_status_text(status));
  t->failed += !passed;
  t->runs++;
  tsr_status_free(status);
}

static void try_lists(spmd_tally *t) {
  for (size_t i = 0; i < sizeof pass_cases / sizeof *pass_cases; i++)
    for (size_t k = 0; k < sizeof pass_lists / sizeof *pass_lists; k++)
      try_list(pass_cases[i].name, pass_cases[i].text, pass_lists[k], NULL, t);
  for (size_t i = 0; i < sizeof local_cases / sizeof *local_cases; i++)
    for (size_t k = 0; k < sizeof local_lists / sizeof *local_lists; k++)
      try_list(local_cases[i].name, local_cases[i].text, local_lists[k], local_cases[i].refusal, t);
}

// ---- several meshes, single devices ----

static const struct {
  const char *name, *text, *refusal;  // refusal: NULL = it runs
} mesh_cases[] = {
#define PARTITIONED(name, text) {name, text, NULL},
#define NOT_PARTITIONED(text, message) {message, text, message},
#include "mesh_cases.def"
#undef PARTITIONED
#undef NOT_PARTITIONED
};

static void try_meshes(spmd_tally *t) {
  for (size_t i = 0; i < sizeof mesh_cases / sizeof *mesh_cases; i++) {
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_text_add(&text, mesh_cases[i].text);
    tsr_status status = tsr_text_check(&text);
    if (!status) status = spmd_check(&text);
    const bool passed = mesh_cases[i].refusal ? is_refusal(status, mesh_cases[i].refusal) : !status;
    if (!passed) printf("FAIL %s: %s\n", mesh_cases[i].name, tsr_status_text(status));
    t->failed += !passed;
    t->runs++;
    tsr_status_free(status);
    tsr_text_deinit(&text);
  }
}

// ---- all ways ----

static void try_case(const op_case *op, const test_mesh *mesh, bool all, spmd_tally *t) {
  program_text p = {.op = op, .mesh = mesh};
  int ways[MOST_ARGS + 1] = {0}, counts[MOST_ARGS + 1];
  split_args(&p);
  int64_t total = 1;
  for (int i = 0; i < p.count; i++) {
    counts[i] = ways_of(mesh, rank_of(p.args[i], p.lengths[i]));
    total *= counts[i];
  }
  counts[p.count] = ways_of(mesh, rank_of(op->result, strlen(op->result))) + 1;
  total *= counts[p.count];
  const bool each = all && total <= MOST_WAYS;
  const int64_t tries = each ? total : all ? MOST_WAYS : SAMPLES;
  for (int64_t i = 0; i < tries; i++) {
    int64_t rest = i;
    for (int k = 0; k <= p.count; k++) {
      ways[k] = each ? (int)(rest % counts[k]) : (int)spmd_draw((uint64_t)counts[k]);
      rest /= counts[k];
    }
    bool uneven = false;
    for (int k = 0; k < p.count; k++) uneven |= is_uneven(mesh, p.args[k], p.lengths[k], ways[k]);
    // Axes that do not divide an argument are dropped, those of values inside are not.
    const bool both = uneven && all;
    p.inside = uneven && !all && spmd_draw(4);
    for (int k = 0; k <= both; k++) {
      p.inside |= k == 1;
      t->runs++;
      t->failed += !check_ways(&p, ways);
    }
    p.inside = false;
  }
}

static bool is_wanted(const char *name, int argc, char **argv) {
  bool any = false;
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] == '-') {
      i += !strcmp(argv[i], "--seed") || !strcmp(argv[i], "--part");
      continue;
    }
    any = true;
    if (strstr(name, argv[i])) return true;
  }
  return !any;
}

typedef struct test_options {
  bool all;
  int part, parts;
} test_options;

static bool read_options(int argc, char **argv, test_options *out) {
  *out = (test_options){.parts = 1};
  state = 1;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--all")) out->all = true;
    if (!strcmp(argv[i], "--seed") && i + 1 < argc) state = strtoull(argv[i + 1], NULL, 10);
    if (!strcmp(argv[i], "--part") && i + 1 < argc &&
        sscanf(argv[i + 1], "%d/%d", &out->part, &out->parts) != 2)
      return false;
  }
  return out->parts > 0 && out->part >= 0 && out->part < out->parts;
}

int main(int argc, char **argv) {
  test_options options;
  spmd_tally t = {0, 0};
  if (!read_options(argc, argv, &options)) {
    printf("usage: test_spmd [--all] [--seed N] [--part I/N] [NAME...]\n");
    return 2;
  }
  for (size_t i = (size_t)options.part; i < sizeof cases / sizeof *cases;
       i += (size_t)options.parts) {
    spmd_tally own = {0, 0};
    if (!is_wanted(cases[i].op, argc, argv)) continue;
    for (int m = 0; m < MESH_COUNT; m++) try_case(&cases[i], &meshes[m], options.all, &own);
    printf("%-36s %4d ways, %d failed\n", cases[i].op, own.runs, own.failed);
    t.runs += own.runs;
    t.failed += own.failed;
  }
  if (!options.part && is_wanted("passes", argc, argv)) try_lists(&t);
  if (!options.part && is_wanted("meshes", argc, argv)) try_meshes(&t);
  if (!options.part && is_wanted("chains", argc, argv))
    spmd_try_chains(options.all ? ALL_CHAINS : CHAINS, &t);
  if (options.parts == 1 && is_wanted("", argc, argv) && is_wanted("coverage", argc, argv))
    t.failed += check_coverage();
  printf("%d of %d partitioned runs failed\n", t.failed, t.runs);
  return t.failed || !t.runs;
}
