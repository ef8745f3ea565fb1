// What ranks compare: the program, line by line, when it is compiled; the schedule before each run;
// choices that lanes of other ranks might make differently. A difference is the same failure on all
// ranks, and names them.
#include <stdlib.h>
#include <string.h>

#include "base/hash_internal.h"
#include "base/text_internal.h"
#include "comm/call.h"
#include "exec/rank_plan.h"
#include "kernel/blas/blas_module.h"
#include "tessera/engine/collectives.h"

// ---- programs ----

// The lines of a printed program.
typedef struct program_lines {
  tsr_text text;
  const char **starts;  // and the end
  int64_t count;
} program_lines;

static tsr_status print_lines(const tsr_program *program, program_lines *out) {
  TSR_TRY(tsr_program_print(program, NULL, &out->text));
  TSR_TRY(tsr_text_check(&out->text));
  const char *text = tsr_text_string(&out->text);
  for (const char *c = text; *c; c++) out->count += *c == '\n';
  out->starts = malloc(((size_t)out->count + 2) * sizeof *out->starts);
  TSR_NEED(out->starts);
  int64_t line = 0;
  out->starts[line++] = text;
  for (const char *c = text; *c; c++)
    if (*c == '\n') out->starts[line++] = c + 1;
  return NULL;
}

static tsr_hash128 digest_line(void *context, int64_t item) {
  const program_lines *lines = context;
  return tsr_hash128_add(TSR_HASH128_EMPTY, lines->starts[item],
                         (size_t)(lines->starts[item + 1] - lines->starts[item]));
}

static void describe_line(void *context, int64_t item, tsr_text *out) {
  const program_lines *lines = context;
  const char *start = lines->starts[item];
  while (*start == ' ') start++;
  tsr_text_addf(out, "line %lld, %.*s", (long long)item + 1,
                (int)(lines->starts[item + 1] - start - 1), start);
}

// What decides which bits a kernel makes, besides the program.
static const char *machine(void) {
#if defined __x86_64__
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "x86-64 with AVX2";
  return "x86-64";
#elif defined __aarch64__
  return "AArch64";
#else
  return "this machine";
#endif
}

tsr_status tsr_rank_agree_program(tsr_comm *comm, const tsr_program *program,
                                  const tsr_compile_options *options, tsr_status found) {
  program_lines lines = {.text = TSR_TEXT_EMPTY};
  if (!found) found = print_lines(program, &lines);
  tsr_call c = tsr_call_begin(comm, "compile");
  tsr_call_describe(&c, "compile for %lld devices on %s, %s BLAS, platform %s",
                    (long long)tsr_comm_device_count(comm), machine(),
                    tsr_blas_load() ? "with" : "without",
                    options->platform ? options->platform : "cpu");
  c.items = (tsr_call_items){found ? 0 : lines.count, &lines, digest_line, describe_line};
  const tsr_status status = tsr_call_agree(&c, found);
  tsr_text_deinit(&lines.text);
  free(lines.starts);
  return status;
}

// ---- schedules ----

static tsr_hash128 hash_list(tsr_hash128 hash, const tsr_step_list *list) {
  for (const tsr_schedule_step *s = list->first; s; s = s->next) {
    const int64_t facts[] = {s->kind, s->lanes, s->list_count, s->flops, s->bytes, s->temp_bytes};
    hash = tsr_hash128_add(hash, facts, sizeof facts);
    hash = tsr_hash128_add_text(hash, s->name);
    hash = tsr_hash128_add(hash, s->inputs, sizeof *s->inputs * (size_t)s->input_count);
    hash = tsr_hash128_add(hash, s->outputs, sizeof *s->outputs * (size_t)s->output_count);
    for (int i = 0; i < s->list_count; i++) hash = hash_list(hash, &s->lists[i]);
  }
  return hash;
}

tsr_hash128 tsr_schedule_hash(const tsr_schedule *schedule) {
  tsr_hash128 hash = hash_list(TSR_HASH128_EMPTY, &schedule->steps);
  for (int i = 0; i < schedule->slot_count; i++) {
    const tsr_slot *slot = &schedule->slots[i];
    const int64_t facts[] = {slot->kind, slot->bytes, slot->base, slot->offset};
    hash = tsr_hash128_add(hash, facts, sizeof facts);
    if (slot->classes)
      hash = tsr_hash128_add(hash, slot->classes->of,
                             sizeof *slot->classes->of * (size_t)slot->classes->lanes);
  }
  return hash;
}

// ---- runs ----

tsr_status tsr_rank_agree_begin(const tsr_rank_plan *plan, tsr_status found) {
  tsr_call c = tsr_call_begin(plan->lanes->comm, "run");
  tsr_call_describe(&c, "run of a program for %d devices, plan %016llx", plan->lanes->lanes,
                    (unsigned long long)plan->hash.low);
  tsr_call_hash(&c, &plan->hash, sizeof plan->hash);
  return tsr_call_agree(&c, found);
}

// Ranks that wait for messages of this one end at once, with its reason.
tsr_status tsr_rank_agree_end(const tsr_rank_plan *plan, tsr_status status) {
  tsr_comm *comm = plan->lanes->comm;
  if (status) {
    tsr_comm_abandon(comm, status);
    return status;
  }
  TSR_TRY_NOTE(tsr_comm_align(comm), "at the end of a run");
  return NULL;
}

typedef struct rank_choice {
  int32_t same, choice;
} rank_choice;

// The first rank whose lanes do not all choose as those of rank 0; -1 = there is none.
static int find_other(const rank_choice *all, int ranks) {
  for (int r = 0; r < ranks; r++)
    if (!all[r].same || all[r].choice != all[0].choice) return r;
  return -1;
}

tsr_status tsr_rank_agree_choice(const tsr_rank_plan *plan, const tsr_schedule_step *step,
                                 bool same, int32_t choice) {
  tsr_comm *comm = plan->lanes->comm;
  const int ranks = tsr_comm_rank_count(comm);
  const rank_choice mine = {same, choice};
  rank_choice *all = calloc((size_t)ranks, sizeof *all);
  tsr_status status = all ? tsr_comm_share(comm, &mine, sizeof mine, all)
                          : tsr_fail(NO_MEMORY, "choices of %d ranks", ranks);
  const int other = status ? -1 : find_other(all, ranks);
  free(all);
  if (other < 0) return status;
  return tsr_fail(
      UNSUPPORTED,
      "%s at line %u: holds steps in which all devices meet, and devices of ranks 0 and "
      "%d take different ways in it",
      step->op->name, step->op->line, other);
}
