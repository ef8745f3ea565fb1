// Modes, and the lists of semantic axes that know their own (eformer's DynamicShardingAxes).
#include <string.h>

#include "base/suggest.h"
#include "rules/axes_internal.h"
#include "rules/semantic_axes.h"
#include "tessera/compat/eformer_axes.h"

#define X(id, name) [TSR_MODE_##id] = name,
static const char *const mode_names[TSR_MODE_COUNT] = {TSR_MODES(X)};
#undef X

const char *tsr_mode_name(tsr_mode mode) {
  return (unsigned)mode < TSR_MODE_COUNT ? mode_names[mode] : NULL;
}

tsr_status tsr_mode_parse(const char *name, tsr_mode *out_mode) {
  tsr_suggestion near = tsr_suggestion_for(name);
  for (int i = 0; i < TSR_MODE_COUNT; i++) {
    if (!strcmp(name, mode_names[i])) {
      *out_mode = (tsr_mode)i;
      return NULL;
    }
    tsr_suggestion_offer(&near, mode_names[i]);
  }
  return tsr_fail(UNKNOWN_MODE, "there is no mode \"%s\"" TSR_DID_YOU_MEAN, name,
                  TSR_SUGGESTED(near));
}

// ---- lists ----

// Entries as parts of a table, where TSR_LOGICAL_NAME and TSR_LOGICAL_GROUP, being values, may not
// stand.
// clang-format off
#define NAME(name) {TSR_ENTRY_NAME, 1, (const char *const[]){name}}
#define GROUP(...) {TSR_ENTRY_GROUP, (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)), \
                    (const char *const[]){__VA_ARGS__}}
#define DP NAME("__DATA_PARALLEL__")
#define FSDP NAME("__FULLY_SHARDED_DATA_PARALLEL__")
#define TP NAME("__TENSOR_PARALLEL__")
#define SP NAME("__SEQUENCE_PARALLEL__")
#define EP NAME("__EXPERT_PARALLEL__")
#define FSDP_SP GROUP("__FULLY_SHARDED_DATA_PARALLEL__", "__SEQUENCE_PARALLEL__")
#define TP_FSDP GROUP("__TENSOR_PARALLEL__", "__FULLY_SHARDED_DATA_PARALLEL__")
#define FSDP_SP_EP \
  GROUP("__FULLY_SHARDED_DATA_PARALLEL__", "__SEQUENCE_PARALLEL__", "__EXPERT_PARALLEL__")
#define EMPTY NAME("_")

#define LIST(name, source, ...)                                                             \
  {name, (int)(sizeof((const tsr_logical_entry[]){__VA_ARGS__}) / sizeof(tsr_logical_entry)), \
   (const tsr_logical_entry[]){__VA_ARGS__}, source}
#define TRAIN {TSR_MODE_FIXED, TSR_MODE_TRAIN, 0}
#define BY_LENGTH {TSR_MODE_BY_DIM, TSR_MODE_TRAIN, 1}

static const tsr_dynamic_axes lists[] = {
    LIST("HiddenStateSharding", BY_LENGTH,
         NAME("__BATCH__"), NAME("__QUERY_LENGTH__"), NAME("__EMBED__")),
    LIST("AttnQSharding", BY_LENGTH,
         NAME("__BATCH__"), NAME("__QUERY_LENGTH__"), NAME("__HEAD__"), NAME("__HEAD_DIM__")),
    LIST("AttnKVSharding", BY_LENGTH,
         NAME("__BATCH__"), NAME("__KV_LENGTH__"), NAME("__KV_HEAD__"), NAME("__KV_HEAD_DIM__")),
    LIST("RowWise",                 TRAIN, TP, FSDP_SP),
    LIST("SRowWise",                TRAIN, TP),
    LIST("ColumnWise",              TRAIN, FSDP_SP, TP),
    LIST("SColumnWise",             TRAIN, FSDP_SP),
    LIST("Replicated",              TRAIN, EMPTY),
    LIST("ExpertColumnWise",        TRAIN, EP, FSDP, TP),
    LIST("ExpertRowWise",           TRAIN, EP, TP, FSDP),
    LIST("ExpertColumnWiseAlt",     TRAIN, EP, FSDP_SP, TP),
    LIST("ExpertRowWiseAlt",        TRAIN, EP, TP, FSDP_SP),
    LIST("UnifiedExpertColumnWise", TRAIN, FSDP_SP_EP, EMPTY, TP),
    LIST("UnifiedExpertRowWise",    TRAIN, FSDP_SP_EP, TP, EMPTY),
    LIST("ExpertActivations",       TRAIN, DP, SP, EP, TP),
    LIST("ExpertActivationsAlt",    TRAIN, DP, SP, TP_FSDP),
    LIST("ExpertTensorParallel",    TRAIN, TP, EMPTY, EMPTY),
};
// clang-format on

const tsr_dynamic_axes *tsr_dynamic_axes_at(int64_t index) {
  const int count = sizeof lists / sizeof *lists;
  return index >= 0 && index < count ? &lists[index] : NULL;
}

const tsr_dynamic_axes *tsr_dynamic_axes_find(const char *name) {
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    if (!strcmp(lists[i].name, name)) return &lists[i];
  return NULL;
}
