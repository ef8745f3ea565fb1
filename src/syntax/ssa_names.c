// Naming values as MLIR does. A name that is taken gets a suffix from one counter, which only
// grows on the way from a region to the regions inside it. So a name with a suffix is never taken,
// and it is enough to remember which plain words are.
#include "syntax/ssa_names.h"

#include "base/text_internal.h"

// Words of names: WORD(id, text).
#define SSA_WORDS(WORD)              \
  WORD(ARG, "arg")                   \
  WORD(C, "c")                       \
  WORD(CST, "cst")                   \
  WORD(ITER_ARG, "iterArg")          \
  WORD(INPUT, "input")               \
  WORD(CARRY, "carry")               \
  WORD(OUTPUT_STATE, "output_state") \
  WORD(OUTPUT, "output")             \
  WORD(VALUES, "values")             \
  WORD(INDICES, "indices")           \
  WORD(BATCH_MEAN, "batch_mean")     \
  WORD(BATCH_VAR, "batch_var")       \
  WORD(GRAD_OPERAND, "grad_operand") \
  WORD(GRAD_SCALE, "grad_scale")     \
  WORD(GRAD_OFFSET, "grad_offset")

#define WORD_ID(id, text) WORD_##id,
typedef enum ssa_word { WORD_NUMBER, SSA_WORDS(WORD_ID) WORD_COUNT } ssa_word;
#undef WORD_ID
#define WORD_TEXT(id, text) [WORD_##id] = text,
static const char *const word_texts[WORD_COUNT] = {[WORD_NUMBER] = "", SSA_WORDS(WORD_TEXT)};
#undef WORD_TEXT

// A mark: the word above NUMBER_BITS, and below it the number, 0 = a word without one.
enum { NUMBER_BITS = 27, PLAIN = 0 };
#define NUMBER_MASK ((UINT32_C(1) << NUMBER_BITS) - 1)
#define PACKED UINT32_MAX  // a result that is named after the first of its op

// Ops of several results that MLIR names one by one.
static const struct {
  tsr_op_id id;
  int count;
  ssa_word words[3];
} named_results[] = {
    {TSR_OP_RNG_BIT_GENERATOR, 2, {WORD_OUTPUT_STATE, WORD_OUTPUT}},
    {TSR_OP_CHLO_TOP_K, 2, {WORD_VALUES, WORD_INDICES}},
    {TSR_OP_MHLO_TOPK, 2, {WORD_VALUES, WORD_INDICES}},
    {TSR_OP_BATCH_NORM_TRAINING, 3, {WORD_OUTPUT, WORD_BATCH_MEAN, WORD_BATCH_VAR}},
    {TSR_OP_BATCH_NORM_GRAD, 3, {WORD_GRAD_OPERAND, WORD_GRAD_SCALE, WORD_GRAD_OFFSET}},
};

typedef struct name_counters {
  uint32_t number, argument, suffix;
  uint32_t taken;  // a bit for each word
  bool generic;
} name_counters;

static uint32_t make_mark(ssa_word word, uint32_t number) {
  return (uint32_t)word << NUMBER_BITS | (number & NUMBER_MASK);
}

static void name_value(tsr_value *value, ssa_word word, name_counters *counters) {
  const uint32_t bit = UINT32_C(1) << word;
  value->mark = make_mark(word, counters->taken & bit ? ++counters->suffix : PLAIN);
  counters->taken |= bit;
}

// The words for the results of an op; NULL if it has numbers.
static const ssa_word *words_of_results(const tsr_op *op) {
  for (size_t i = 0; i < sizeof named_results / sizeof *named_results; i++)
    if (named_results[i].id == op->info->id)
      return named_results[i].count == op->result_count ? named_results[i].words : NULL;
  return NULL;
}

static bool is_integer_tensor(const tsr_type *type) {
  return tsr_type_element(type)->kind == TSR_TYPE_INTEGER;
}

static void name_results(tsr_op *op, name_counters *counters) {
  if (!op->result_count) return;
  if (!counters->generic && op->info->id == TSR_OP_CONSTANT && op->result_count == 1) {
    name_value(op->results, is_integer_tensor(op->results->type) ? WORD_C : WORD_CST, counters);
    return;
  }
  const ssa_word *words = op->result_count > 1 && !counters->generic ? words_of_results(op) : NULL;
  if (!words) op->results[0].mark = make_mark(WORD_NUMBER, counters->number++);
  for (int i = 0; i < op->result_count && words; i++)
    name_value(&op->results[i], words[i], counters);
  for (int i = 1; i < op->result_count && !words; i++) op->results[i].mark = PACKED;
}

// The word for an argument of a region's first block; WORD_ARG for most.
static ssa_word word_of_argument(const tsr_region *region, int index) {
  if (region->parent->info->id == TSR_OP_WHILE) return WORD_ITER_ARG;
  if (region->parent->info->id != TSR_OP_CHLO_SCAN) return WORD_ARG;
  const tsr_attr *sizes = tsr_op_attr(region->parent, "operandSegmentSizes");
  const bool known = sizes && sizes->kind == TSR_ATTR_DENSE_ARRAY && sizes->count == 2;
  return known && index < tsr_attr_int_at(sizes, 0) ? WORD_INPUT : WORD_CARRY;
}

static void name_arguments(const tsr_region *region, const tsr_ir_block *block,
                           name_counters *counters) {
  for (int i = 0; i < block->arg_count; i++) {
    if (block != region->first) {
      block->args[i]->mark = make_mark(WORD_NUMBER, counters->number++);
      continue;
    }
    const ssa_word word = counters->generic ? WORD_ARG : word_of_argument(region, i);
    if (word == WORD_ARG)
      block->args[i]->mark = make_mark(WORD_ARG, ++counters->argument);
    else
      name_value(block->args[i], word, counters);
  }
}

static void name_region(const tsr_region *region, name_counters *counters);

// Regions in the blocks from `block` on, the last first. The counters of the generic form are those
// of the whole program; others are copied for each region.
static void name_inner_regions(const tsr_ir_block *block, name_counters *counters) {
  if (!block) return;
  name_inner_regions(block->next, counters);
  for (const tsr_op *op = block->last; op; op = op->prev)
    for (int i = op->region_count - 1; i >= 0; i--) {
      name_counters copy = *counters;
      name_region(&op->regions[i], counters->generic ? counters : &copy);
    }
}

static void name_region(const tsr_region *region, name_counters *counters) {
  bool nested = false;
  for (const tsr_ir_block *block = region->first; block; block = block->next) {
    name_arguments(region, block, counters);
    for (tsr_op *op = block->first; op; op = op->next) {
      name_results(op, counters);
      nested |= op->region_count > 0;
    }
  }
  if (nested) name_inner_regions(region->first, counters);
}

void tsr_ssa_name_values(const tsr_op *root, bool generic) {
  name_counters counters = {.generic = generic};
  for (int i = 0; i < root->result_count; i++)
    root->results[i].mark = i ? PACKED : make_mark(WORD_NUMBER, counters.number++);
  for (int i = root->region_count - 1; i >= 0; i--) {
    name_counters copy = counters;
    name_region(&root->regions[i], generic ? &counters : &copy);
  }
}

static void print_mark(uint32_t mark, tsr_text *out) {
  const uint32_t word = mark >> NUMBER_BITS, number = mark & NUMBER_MASK;
  if (word >= WORD_COUNT) {
    tsr_text_add(out, "<<UNKNOWN SSA VALUE>>");
    return;
  }
  tsr_text_add_char(out, '%');
  tsr_text_add(out, word_texts[word]);
  if (word == WORD_NUMBER) {
    tsr_text_add_int(out, number);
  } else if (number != PLAIN) {
    if (word != WORD_ARG) tsr_text_add_char(out, '_');
    tsr_text_add_int(out, number - 1);
  }
}

static bool is_packed(const tsr_op *op) {
  return op->result_count > 1 && op->results[1].mark == PACKED;
}

void tsr_ssa_print(const tsr_value *value, tsr_text *out) {
  const bool packed = value->def && is_packed(value->def);
  print_mark(packed ? value->def->results[0].mark : value->mark, out);
  if (!packed) return;
  tsr_text_add_char(out, '#');
  tsr_text_add_int(out, value->index);
}

void tsr_ssa_print_results(const tsr_op *op, tsr_text *out) {
  if (!op->result_count) return;
  if (is_packed(op)) {
    print_mark(op->results[0].mark, out);
    tsr_text_add_char(out, ':');
    tsr_text_add_int(out, op->result_count);
  }
  for (int i = 0; i < op->result_count && !is_packed(op); i++) {
    if (i) tsr_text_add(out, ", ");
    print_mark(op->results[i].mark, out);
  }
  tsr_text_add(out, " = ");
}
