// Which of 60 rules each of 100,000 tensors has: match_partition_rules, compiling included.
//
// bench: 100,000 tensors against 60 rules
// rival: eformer match_partition_rules
// bar: 50 x
// bar: 1.0 s
#include <stdio.h>
#include <stdlib.h>

#include "base/text_internal.h"
#include "rounds.h"
#include "rules/rules_internal.h"
#include "tessera/rules.h"
#include "tessera/text.h"

enum { LAYERS = 1000, PARTS = 10, LEAVES = 10, TENSORS = LAYERS * PARTS * LEAVES };

static const char *const parts[PARTS] = {"attn",  "mlp",  "cross", "expert", "norm",
                                         "embed", "head", "conv",  "gate",   "lora"};
static const char *const leaves[LEAVES] = {
    "q_proj/kernel",    "k_proj/kernel",    "v_proj/kernel", "o_proj/kernel", "up_proj/kernel",
    "gate_proj/kernel", "down_proj/kernel", "q_proj/bias",   "ln/scale",      "o_proj/bias"};
static const char *const endings[] = {
    "(q|k|v)_proj/kernel$", "o_proj/kernel$", "(up|gate)_proj/kernel$",
    "down_proj/kernel$",    "bias$",          "scale$"};

typedef struct model {
  char *paths[TENSORS];
  tsr_text rules;
} model;

static tsr_status make_paths(model *m) {
  for (int i = 0; i < TENSORS; i++)
    if (asprintf(&m->paths[i], "params/layers/%d/%s/%s", i / (PARTS * LEAVES),
                 parts[i / LEAVES % PARTS], leaves[i % LEAVES]) < 0)
      return tsr_fail(NO_MEMORY, "a path");
  for (int p = 0; p < PARTS; p++)
    for (size_t e = 0; e < sizeof endings / sizeof *endings; e++)
      tsr_text_addf(&m->rules, "%s/.*%s -> fsdp, tp\n", parts[p], endings[e]);
  return tsr_text_check(&m->rules);
}

static tsr_status match_all(void *context) {
  const model *m = context;
  tsr_rules *rules = NULL;
  tsr_status status = tsr_rules_parse(tsr_text_string(&m->rules), "bench", NULL, &rules);
  for (int i = 0; i < TENSORS && !status; i++) {
    int64_t rule = -1;
    status = tsr_rules_match(rules, m->paths[i], &rule);
    if (!status && rule < 0) status = tsr_fail(NO_RULE, "%s", m->paths[i]);
  }
  tsr_rules_release(rules);
  return status;
}

int main(void) {
  static model m;
  tsr_status status = make_paths(&m);
  const int code = status ? rounds_fail(status) : rounds_serve(match_all, &m);
  for (int i = 0; i < TENSORS; i++) free(m.paths[i]);
  tsr_text_deinit(&m.rules);
  return code;
}
