// Ops, blocks and regions of an artifact.
//
// Values are numbered within a region: the arguments and results of all its blocks, before those of
// regions inside. Shardy's ops have builtin types and all others VHLO types, so a value that is
// defined on one side and used on the other is followed by a cast, whose result has a number too.
#include <string.h>

#include "bytecode/write_internal.h"

// The bits of an op's mask.
enum { HAS_ATTRS = 1, HAS_RESULTS = 2, HAS_OPERANDS = 4, HAS_REGIONS = 16, HAS_PROPERTIES = 64 };
enum { SECTION_IR = 4 };
// What is remembered by the address of a value (its number, and that of its cast) and of a name.
enum { VALUE_ITSELF = 8, VALUE_CAST, OP_NAME };

static bool is_sdy(const tsr_op *op) { return !strncmp(op->name, "sdy.", 4); }

// ---- casts and numbers ----

static bool is_sdy_value(const tsr_value *value) {
  return is_sdy(value->def ? value->def : value->block->region->parent);
}

static bool needs_cast(const tsr_emitter *emitter, const tsr_value *value) {
  if (!emitter->mixed) return false;
  const bool side = is_sdy_value(value);
  for (const tsr_use *use = value->uses; use; use = use->next)
    if (is_sdy(use->user) != side) return true;
  return false;
}

static tsr_status number_value(tsr_emitter *emitter, const tsr_value *value, int64_t *next) {
  return tsr_emit_remember(emitter, value, VALUE_ITSELF, (*next)++);
}

static tsr_status number_cast(tsr_emitter *emitter, const tsr_value *value, int64_t *next) {
  if (!needs_cast(emitter, value)) return NULL;
  return tsr_emit_remember(emitter, value, VALUE_CAST, (*next)++);
}

static tsr_status number_block(tsr_emitter *emitter, const tsr_ir_block *block, int64_t *next) {
  for (int i = 0; i < block->arg_count; i++) TSR_TRY(number_value(emitter, block->args[i], next));
  for (int i = 0; i < block->arg_count; i++) TSR_TRY(number_cast(emitter, block->args[i], next));
  for (const tsr_op *op = block->first; op; op = op->next) {
    for (int i = 0; i < op->result_count; i++)
      TSR_TRY(number_value(emitter, &op->results[i], next));
    for (int i = 0; i < op->result_count; i++) TSR_TRY(number_cast(emitter, &op->results[i], next));
  }
  return NULL;
}

// ---- ops ----

// Names are remembered by their address: that of a row of a table.
static tsr_status put_name(tsr_emitter *emitter, tsr_code_dialect dialect, const char *name,
                           tsr_text *out) {
  int64_t string = 0, index = tsr_emit_recall(emitter, name, OP_NAME);
  if (index < 0) {
    TSR_TRY(tsr_emit_string(emitter, name, strlen(name), &string));
    const size_t start = emitter->scratch.length;
    tsr_put_flagged(&emitter->scratch, (uint64_t)string, true);
    TSR_TRY(tsr_emit_store(emitter, &emitter->op_names, dialect, start, &index));
    TSR_TRY(tsr_emit_remember(emitter, name, OP_NAME, index));
  }
  tsr_put_varint(out, (uint64_t)index);
  return NULL;
}

static tsr_status put_types(tsr_emitter *emitter, const tsr_op *op, tsr_code_dialect dialect,
                            tsr_text *out) {
  tsr_put_varint(out, (uint64_t)op->result_count);
  for (int i = 0; i < op->result_count; i++) {
    int64_t index = 0;
    TSR_TRY(tsr_emit_type(emitter, op->results[i].type, dialect, &index));
    tsr_put_varint(out, (uint64_t)index);
  }
  return NULL;
}

static tsr_status put_operands(tsr_emitter *emitter, const tsr_op *op, tsr_text *out) {
  tsr_put_varint(out, (uint64_t)op->operand_count);
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_value *value = op->operands[i].value;
    const bool cast = emitter->mixed && is_sdy_value(value) != is_sdy(op);
    const int64_t number = tsr_emit_recall(emitter, value, cast ? VALUE_CAST : VALUE_ITSELF);
    if (number < 0)
      return tsr_fail(BROKEN_PROGRAM, "operand %d is not defined in an enclosing region", i);
    tsr_put_varint(out, (uint64_t)number);
  }
  return NULL;
}

// One cast to the types of the other side.
static tsr_status put_cast(tsr_emitter *emitter, const tsr_value *value, tsr_text *out) {
  const tsr_code_dialect dialect = is_sdy_value(value) ? TSR_DIALECT_VHLO : TSR_DIALECT_BUILTIN;
  int64_t location = 0, type = 0;
  TSR_TRY(put_name(emitter, TSR_DIALECT_BUILTIN, "unrealized_conversion_cast", out));
  TSR_TRY(tsr_emit_location(emitter, NULL, &location));
  TSR_TRY(tsr_emit_type(emitter, value->type, dialect, &type));
  tsr_text_add_char(out, HAS_RESULTS | HAS_OPERANDS);
  tsr_put_varint(out, (uint64_t)location);
  tsr_put_varint(out, 1);
  tsr_put_varint(out, (uint64_t)type);
  tsr_put_varint(out, 1);
  tsr_put_varint(out, (uint64_t)tsr_emit_recall(emitter, value, VALUE_ITSELF));
  return NULL;
}

// The discardable attributes; -1 if there are none.
static tsr_status store_discardable(tsr_emitter *emitter, const tsr_op *op,
                                    tsr_code_dialect dialect, int64_t *out_index) {
  tsr_named_attr *entries =
      tsr_arena_zeros(&emitter->arena, (size_t)op->attr_count + 1, sizeof *entries);
  TSR_NEED(entries);
  int count = 0;
  for (int i = 0; i < op->attr_count; i++)
    if (!tsr_op_is_inherent(op, op->attrs[i].name)) entries[count++] = op->attrs[i];
  *out_index = -1;
  return count ? tsr_emit_dictionary(emitter, entries, count, dialect, out_index) : NULL;
}

static tsr_status put_region(tsr_emitter *emitter, const tsr_region *region, int64_t base,
                             tsr_text *out);

static tsr_status put_regions(tsr_emitter *emitter, const tsr_op *op, int64_t base, tsr_text *out) {
  const bool isolated = op->info->traits & TSR_TRAIT_ISOLATED;
  tsr_put_flagged(out, (uint64_t)op->region_count, isolated);
  if (!isolated) {
    for (int i = 0; i < op->region_count; i++)
      TSR_TRY(put_region(emitter, &op->regions[i], base, out));
    return NULL;
  }
  // The regions of an isolated op are a section of their own, and count from 0.
  tsr_text section = TSR_TEXT_EMPTY;
  tsr_status status = NULL;
  for (int i = 0; i < op->region_count && !status; i++)
    status = put_region(emitter, &op->regions[i], 0, &section);
  if (!status) status = tsr_text_check(&section);
  if (!status) {
    tsr_text_add_char(out, SECTION_IR);
    tsr_put_varint(out, section.length);
    tsr_text_add_bytes(out, tsr_text_string(&section), section.length);
  }
  tsr_text_deinit(&section);
  return status;
}

// How an op is stored: the row of a VHLO op, or NULL for an op that keeps its own form.
static tsr_status find_row(const tsr_emitter *emitter, const tsr_op *op,
                           const tsr_vhlo_op **out_row) {
  *out_row = NULL;
  if (op->info->id == TSR_OP_MODULE && op == emitter->ir->module) return NULL;
  if (is_sdy(op) && op->info->id != TSR_OP_UNKNOWN)
    return tsr_emit_allow(emitter, "Shardy", TSR_VHLO_VERSION(1, 11));
  const tsr_op_id id = op->info->id;
  *out_row = id == TSR_OP_UNKNOWN ? NULL : tsr_vhlo_of(id, emitter->version);
  if (*out_row) return NULL;
  const int since = id == TSR_OP_UNKNOWN ? 0 : tsr_vhlo_since(id);
  if (since > emitter->version) return tsr_emit_allow(emitter, "the op", since);
  return tsr_fail(UNSUPPORTED, "the op has no form in portable artifacts");
}

// Op versions that have one operand, or no regions.
static tsr_status check_shape(const tsr_emitter *emitter, const tsr_op *op,
                              const tsr_vhlo_op *row) {
  static const tsr_op_id one_operand[] = {TSR_OP_ALL_GATHER, TSR_OP_ALL_REDUCE, TSR_OP_ALL_TO_ALL,
                                          TSR_OP_COLLECTIVE_BROADCAST};
  const bool oldest = row->since < emitter->version && row->until < TSR_VHLO_NEWEST;
  if (!oldest) return NULL;
  for (size_t i = 0; i < sizeof one_operand / sizeof *one_operand; i++)
    if (row->id == one_operand[i] && op->operand_count != 1)
      return tsr_fail(UNSUPPORTED, "%d operands cannot be stored in StableHLO %d.%d.0, wanted 1",
                      op->operand_count, TSR_VERSION_ARGUMENTS(emitter->version));
  if (row->id == TSR_OP_COMPOSITE && op->region_count)
    return tsr_emit_allow(emitter, "a composite with regions", TSR_VHLO_VERSION(1, 14));
  return NULL;
}

static tsr_status put_head(tsr_emitter *emitter, const tsr_op *op, const tsr_vhlo_op *row,
                           tsr_code_dialect dialect, tsr_text *out) {
  const char *name = row ? row->name : strchr(op->name, '.') + 1;
  const tsr_code_dialect own = is_sdy(op) ? TSR_DIALECT_SDY : dialect;
  int64_t location = 0, attrs = -1, properties = -1;
  TSR_TRY(put_name(emitter, own, name, out));
  TSR_TRY(tsr_emit_location(emitter, op->location, &location));
  TSR_TRY(store_discardable(emitter, op, dialect, &attrs));
  TSR_TRY(tsr_emit_properties(emitter, op, row, &properties));
  const int mask = (attrs >= 0 ? HAS_ATTRS : 0) | (op->result_count ? HAS_RESULTS : 0) |
                   (op->operand_count ? HAS_OPERANDS : 0) | (op->region_count ? HAS_REGIONS : 0) |
                   (properties >= 0 ? HAS_PROPERTIES : 0);
  tsr_text_add_char(out, (char)mask);
  tsr_put_varint(out, (uint64_t)location);
  if (attrs >= 0) tsr_put_varint(out, (uint64_t)attrs);
  if (properties >= 0) tsr_put_varint(out, (uint64_t)properties);
  return NULL;
}

static tsr_status put_op(tsr_emitter *emitter, const tsr_op *op, tsr_text *out) {
  const tsr_vhlo_op *row = NULL;
  TSR_TRY(find_row(emitter, op, &row));
  if (row) TSR_TRY(check_shape(emitter, op, row));
  const tsr_code_dialect dialect = row ? TSR_DIALECT_VHLO : TSR_DIALECT_BUILTIN;
  TSR_TRY(put_head(emitter, op, row, dialect, out));
  if (op->result_count) TSR_TRY(put_types(emitter, op, dialect, out));
  if (op->operand_count) TSR_TRY(put_operands(emitter, op, out));
  return NULL;
}

// Names the op in a failure that is its own, and not that of an op in its regions.
static tsr_status note_op(tsr_status status, const tsr_op *op) {
  if (!status || tsr_status_cause(status) == TSR_CAUSE_NO_MEMORY) return status;
  const char *symbol = tsr_op_symbol(op);
  if (symbol) return tsr_note(status, "%s @%s", op->name, symbol);
  return op->line ? tsr_note(status, "line %u: %s", op->line, op->name)
                  : tsr_note(status, "%s", op->name);
}

static tsr_status put_op_and_regions(tsr_emitter *emitter, const tsr_op *op, int64_t base,
                                     tsr_text *out) {
  tsr_status status = put_op(emitter, op, out);
  if (status) return note_op(status, op);
  if (op->region_count) {
    status = put_regions(emitter, op, base, out);
    if (status) return tsr_op_symbol(op) ? note_op(status, op) : status;
  }
  for (int i = 0; emitter->mixed && i < op->result_count; i++)
    if (tsr_emit_recall(emitter, &op->results[i], VALUE_CAST) >= 0)
      TSR_TRY(put_cast(emitter, &op->results[i], out));
  return NULL;
}

// ---- blocks and regions ----

static int64_t count_casts(const tsr_emitter *emitter, const tsr_ir_block *block) {
  int64_t count = 0;
  for (int i = 0; i < block->arg_count; i++)
    count += tsr_emit_recall(emitter, block->args[i], VALUE_CAST) >= 0;
  for (const tsr_op *op = block->first; op; op = op->next)
    for (int i = 0; i < op->result_count; i++)
      count += tsr_emit_recall(emitter, &op->results[i], VALUE_CAST) >= 0;
  return count;
}

static tsr_status put_args(tsr_emitter *emitter, const tsr_ir_block *block, tsr_text *out) {
  const tsr_code_dialect dialect =
      is_sdy(block->region->parent) ? TSR_DIALECT_BUILTIN : TSR_DIALECT_VHLO;
  tsr_put_varint(out, (uint64_t)block->arg_count);
  for (int i = 0; i < block->arg_count; i++) {
    const tsr_value *arg = block->args[i];
    int64_t type = 0, location = 0;
    TSR_TRY(tsr_emit_type(emitter, arg->type, dialect, &type));
    tsr_put_flagged(out, (uint64_t)type, arg->location != NULL);
    if (!arg->location) continue;
    TSR_TRY(tsr_emit_location(emitter, arg->location, &location));
    tsr_put_varint(out, (uint64_t)location);
  }
  tsr_text_add_char(out, 0);  // no orders of uses
  return NULL;
}

static tsr_status put_block(tsr_emitter *emitter, const tsr_ir_block *block, int64_t base,
                            tsr_text *out) {
  int64_t count = emitter->mixed ? count_casts(emitter, block) : 0;
  for (const tsr_op *op = block->first; op; op = op->next) count++;
  tsr_put_flagged(out, (uint64_t)count, block->arg_count > 0);
  if (block->arg_count) TSR_TRY(put_args(emitter, block, out));
  for (int i = 0; emitter->mixed && i < block->arg_count; i++)
    if (tsr_emit_recall(emitter, block->args[i], VALUE_CAST) >= 0)
      TSR_TRY(put_cast(emitter, block->args[i], out));
  for (const tsr_op *op = block->first; op; op = op->next)
    TSR_TRY(put_op_and_regions(emitter, op, base, out));
  return NULL;
}

static tsr_status put_region(tsr_emitter *emitter, const tsr_region *region, int64_t base,
                             tsr_text *out) {
  tsr_put_varint(out, (uint64_t)region->block_count);
  if (!region->block_count) return NULL;
  if (emitter->depth >= TSR_EMIT_DEPTH)
    return tsr_fail(TOO_LARGE, "regions are nested deeper than %d levels", TSR_EMIT_DEPTH);
  emitter->depth++;
  int64_t next = base;
  for (const tsr_ir_block *block = region->first; block; block = block->next)
    TSR_TRY(number_block(emitter, block, &next));
  tsr_put_varint(out, (uint64_t)(next - base));
  for (const tsr_ir_block *block = region->first; block; block = block->next)
    TSR_TRY(put_block(emitter, block, next, out));
  emitter->depth--;
  return NULL;
}

static tsr_status find_mixed(tsr_op *op, void *context) {
  tsr_emitter *emitter = context;
  if (is_sdy(op) && (op->operand_count || op->result_count || op->region_count))
    emitter->mixed = true;
  return NULL;
}

tsr_status tsr_emit_module(tsr_emitter *emitter, tsr_text *out) {
  TSR_TRY(tsr_op_walk(emitter->ir->module, find_mixed, emitter));
  tsr_put_flagged(out, 1, false);
  return put_op_and_regions(emitter, emitter->ir->module, 0, out);
}
