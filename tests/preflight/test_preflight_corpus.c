// The programs of the corpus beside what XLA's partitioner made of them (case.json).
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "json/json.h"
#include "support/test.h"
#include "tessera/own.h"
#include "tessera/program.h"

typedef struct corpus_sums {
  int64_t ours, xla, cases, more;  // bytes; programs compared, those that move more than XLA's
} corpus_sums;

static int64_t number(const tsr_json *object, const char *key) {
  const tsr_json *value = tsr_json_find(object, key);
  int64_t out = -1;
  if (value && tsr_json_kind_of(value) == TSR_JSON_NUMBER)
    assert_ok(tsr_json_get_int(value, key, &out));
  return out;
}

// Bytes of one device by the same rule as ours; -1 = a loop of unknown length. XLA's results are
// recorded for one step of a loop only, and grow as the operands do.
static int64_t xla_bytes(const tsr_json *kinds) {
  int64_t sum = 0;
  for (const tsr_json *kind = tsr_json_first(kinds); kind; kind = tsr_json_next(kind)) {
    const int64_t once = number(kind, "operand_bytes"), in = number(kind, "dynamic_operand_bytes");
    if (in < 0) return -1;
    const int64_t out = once > 0 ? number(kind, "result_bytes") * (in / once) : 0;
    sum += tsr_json_key_is(kind, "all-reduce")       ? 2 * in
           : tsr_json_key_is(kind, "all-gather")     ? out - in
           : tsr_json_key_is(kind, "reduce-scatter") ? in - out
                                                     : in;
  }
  return sum;
}

static tsr_status fly(const char *path, tsr_preflight_info *out_info) {
  TSR_OWN(program, program);
  TSR_OWN(propagation, propagation);
  TSR_OWN(preflight, preflight);
  TSR_TRY(tsr_program_open(path, NULL, &program));
  TSR_TRY(tsr_program_propagate(program, NULL, &propagation));
  TSR_TRY(tsr_preflight_create(propagation, NULL, &preflight));
  return tsr_preflight_describe(preflight, out_info);
}

static void compare(const char *name, const tsr_json *xla, corpus_sums *sums) {
  tsr_preflight_info info = TSR_PREFLIGHT_INFO;
  char path[512];
  snprintf(path, sizeof path, "tests/programs/%s/program.mlir", name);
  tsr_status status = fly(path, &info);
  if (tsr_status_code(status) == TSR_CODE_UNSUPPORTED) {  // XLA's older form of shardings
    tsr_status_free(status);
    return;
  }
  assert_ok(status);
  const tsr_json *memory = tsr_json_find(xla, "memory_per_device");
  const int64_t arguments = memory ? number(memory, "argument_size_in_bytes") : 0;
  if (arguments > 0) assert_int_equal(info.argument_bytes, arguments);
  const int64_t bytes = xla_bytes(tsr_json_find(xla, "collectives_after_spmd"));
  if (bytes < 0 || info.unknown_loops || info.mixed_mesh_ops) return;
  sums->ours += info.bytes;
  sums->xla += bytes;
  sums->more += info.bytes > bytes;
  sums->cases++;
}

static void look_at(const char *name, corpus_sums *sums) {
  tsr_json_doc *doc = NULL;
  struct stat about;
  char path[512];
  snprintf(path, sizeof path, "tests/programs/%s/case.json", name);
  if (stat(path, &about)) return;
  assert_ok(tsr_json_read_file(path, &doc));
  const tsr_json *xla = tsr_json_find(tsr_json_root(doc), "xla");
  if (tsr_json_find(xla, "collectives_after_spmd")) compare(name, xla, sums);
  tsr_json_destroy(doc);
}

static void the_corpus_moves_no_more_than_with_xla(void **state) {
  (void)state;
  corpus_sums sums = {0};
  DIR *listing = opendir("tests/programs");
  assert_non_null(listing);
  for (const struct dirent *entry; (entry = readdir(listing));)
    if (entry->d_name[0] != '.') look_at(entry->d_name, &sums);
  closedir(listing);
  printf("%lld programs: %lld bytes, XLA %lld; more in %lld\n", (long long)sums.cases,
         (long long)sums.ours, (long long)sums.xla, (long long)sums.more);
  assert_true(sums.cases >= 100);
  assert_true((double)sums.ours <= 1.05 * (double)sums.xla);
}

SUITE(preflight_corpus, TEST(the_corpus_moves_no_more_than_with_xla))
