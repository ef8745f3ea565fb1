// The IR section: ops, blocks and regions, made in StableHLO at once.
//
// Values are numbered through a region and the regions around it, up to an isolated op, whose
// regions start again at 0. The numbers of a region are reserved when it begins, so the regions
// inside it come after them; they are free again when it ends.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/name_index.h"
#include "bytecode/artifact.h"

enum op_mask {
  HAS_ATTRS = 1,
  HAS_RESULTS = 2,
  HAS_OPERANDS = 4,
  HAS_SUCCESSORS = 8,
  HAS_REGIONS = 16,
  HAS_USE_ORDERS = 32,
  HAS_PROPERTIES = 64
};

typedef struct ir_reader {
  tsr_artifact *artifact;
  tsr_ir *ir;
  tsr_value **values;  // of all open regions; NULL = not defined yet
  int64_t value_count, value_capacity;
  int64_t next;   // the value that is defined next
  int64_t scope;  // where the numbers of the innermost isolated op start
  int64_t value_limit;
  int depth;  // of open regions
  tsr_name_index symbols;
  // Of the op that is read now.
  tsr_value **operands;
  const tsr_type **results;
  tsr_named_attr *attrs;
  int64_t operand_capacity, result_capacity, attr_capacity;
} ir_reader;

// What is known of an op before its regions are read.
typedef struct op_head {
  tsr_artifact_op *name;
  const tsr_attr *location;
  const tsr_attr *dict;
  int operand_count, result_count, region_count, attr_count;
  bool isolated;
  const unsigned char *start;
} op_head;

static bool make_room(void **list, int64_t count, int64_t *capacity, size_t size) {
  while (*capacity < count) {
    void *larger = tsr_grow(*list, *capacity, capacity, size);
    if (!larger) return false;
    *list = larger;
  }
  return true;
}
#define MAKE_ROOM(list, count, capacity)                                        \
  do {                                                                          \
    void *list_ = (void *)(list);                                               \
    const bool made_ = make_room(&list_, (count), &(capacity), sizeof *(list)); \
    (list) = list_; /* it may have moved before memory ran out */               \
    TSR_NEED(made_);                                                            \
  } while (0)

static tsr_wire_cursor start_of(const tsr_wire_cursor *cursor, const op_head *head) {
  tsr_wire_cursor place = *cursor;
  place.at = head->start;
  return place;
}

// Adds the op to a failure that names no byte.
static tsr_status in_op(const tsr_wire_cursor *cursor, const op_head *head, tsr_status failure) {
  if (!failure) return NULL;
  const tsr_wire_cursor place = start_of(cursor, head);
  return tsr_raised(tsr_wire_place(&place, tsr_note(failure, "%s", head->name->full_name)));
}

// ---- values ----

static tsr_status define(ir_reader *reader, const tsr_wire_cursor *cursor, tsr_value *value) {
  if (reader->next >= reader->value_count)
    return tsr_wire_fail(cursor, BROKEN_PROGRAM,
                         "more values are defined in a region than the region has");
  reader->values[reader->next++] = value;
  return NULL;
}

static tsr_status read_operand(ir_reader *reader, tsr_wire_cursor *cursor, tsr_value **out_value) {
  const tsr_wire_cursor start = *cursor;
  int index = 0;
  TSR_TRY(tsr_wire_index(cursor, "value", reader->value_count - reader->scope, &index));
  assert(reader->values);  // an index is below the number of values
  *out_value = reader->values[reader->scope + index];
  if (*out_value) return NULL;
  return tsr_wire_fail(&start, BROKEN_PROGRAM, "value %d is used before it is defined", index);
}

// The order of uses has no meaning; it is skipped.
static tsr_status skip_use_orders(tsr_wire_cursor *cursor, int value_count) {
  int count = 1;
  if (value_count > 1) TSR_TRY(tsr_wire_count(cursor, "use orders", &count));
  for (int i = 0; i < count; i++) {
    int index = 0;
    uint64_t length = 0, number = 0;
    bool pairs = false;
    if (value_count > 1) TSR_TRY(tsr_wire_index(cursor, "value", value_count, &index));
    TSR_TRY(tsr_wire_flagged(cursor, &length, &pairs));
    TSR_TRY(tsr_wire_check_count(cursor, "uses", length));
    for (uint64_t k = 0; k < length; k++) TSR_TRY(tsr_wire_varint(cursor, &number));
  }
  return NULL;
}

// ---- the head of an op ----

static tsr_status read_dict(ir_reader *reader, tsr_wire_cursor *cursor, const tsr_attr **out_dict) {
  const tsr_wire_cursor start = *cursor;
  TSR_TRY(tsr_artifact_attr(reader->artifact, cursor, out_dict));
  if ((*out_dict)->kind == TSR_ATTR_DICT) return NULL;
  return tsr_wire_fail(&start, BROKEN_PROGRAM, "the attributes of an op are not a dictionary");
}

static tsr_status read_results(ir_reader *reader, tsr_wire_cursor *cursor, op_head *head) {
  TSR_TRY(tsr_wire_count(cursor, "results", &head->result_count));
  MAKE_ROOM(reader->results, head->result_count, reader->result_capacity);
  for (int i = 0; i < head->result_count; i++)
    TSR_TRY(tsr_artifact_type(reader->artifact, cursor, &reader->results[i]));
  return NULL;
}

static tsr_status read_operands(ir_reader *reader, tsr_wire_cursor *cursor, op_head *head) {
  TSR_TRY(tsr_wire_count(cursor, "operands", &head->operand_count));
  MAKE_ROOM(reader->operands, head->operand_count, reader->operand_capacity);
  for (int i = 0; i < head->operand_count; i++)
    TSR_TRY(read_operand(reader, cursor, &reader->operands[i]));
  return NULL;
}

// Properties are decoded once for all ops that share them.
static tsr_status read_properties(ir_reader *reader, tsr_wire_cursor *cursor, op_head *head,
                                  tsr_artifact_properties **out_properties) {
  tsr_artifact *artifact = reader->artifact;
  int index = 0;
  TSR_TRY(tsr_wire_index(cursor, "property entry", artifact->property_count, &index));
  tsr_artifact_properties *entry = &artifact->properties[index];
  const int op = (int)(head->name - artifact->ops);
  if (entry->op != op) {
    tsr_wire_cursor bytes = {artifact->name,   artifact->bytes,
                             entry->bytes,     entry->bytes + entry->length,
                             "property entry", index};
    const tsr_wire_cursor place = start_of(cursor, head);
    TSR_TRY(tsr_artifact_op_attrs(artifact, &place, head->name, &bytes, NULL, &entry->attrs,
                                  &entry->attr_count));
    entry->op = op;
  }
  *out_properties = entry;
  return NULL;
}

static tsr_status add_attr(ir_reader *reader, op_head *head, const tsr_named_attr *attr) {
  MAKE_ROOM(reader->attrs, head->attr_count + 1, reader->attr_capacity);
  reader->attrs[head->attr_count++] = *attr;
  return NULL;
}

static bool is_stored(const tsr_artifact_op *op, const char *name) {
  if (op->vhlo) {
    for (int i = 0; i < op->vhlo->attr_count; i++)
      if (!strcmp(op->vhlo->attrs[i].stored, name)) return true;
    return false;
  }
  for (int i = 0; i < op->info->attr_count; i++)
    if (op->attr_names[i] == name) return true;
  return false;
}

static bool is_taken(const ir_reader *reader, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (reader->attrs[i].name == name) return true;
  return false;
}

// Joins the inherent attributes with those of the dictionary. Before version 5 the dictionary has
// all of them.
static tsr_status join_attrs(ir_reader *reader, const tsr_wire_cursor *cursor, op_head *head,
                             const tsr_artifact_properties *properties) {
  const bool all = reader->artifact->version < 5;
  tsr_named_attr *attrs = properties ? properties->attrs : NULL;
  int count = properties ? properties->attr_count : 0;
  const tsr_wire_cursor place = start_of(cursor, head);
  if (all)
    TSR_TRY(tsr_artifact_op_attrs(reader->artifact, &place, head->name, NULL, head->dict, &attrs,
                                  &count));
  for (int i = 0; i < count; i++) TSR_TRY(add_attr(reader, head, &attrs[i]));
  for (int64_t i = 0; head->dict && i < head->dict->count; i++) {
    const tsr_named_attr *attr = &head->dict->entries[i];
    if (all && is_stored(head->name, attr->name)) continue;
    if (is_taken(reader, count, attr->name))
      return in_op(cursor, head, tsr_fail(BROKEN_PROGRAM, "two attributes \"%.60s\"", attr->name));
    TSR_TRY(add_attr(reader, head, attr));
  }
  return NULL;
}

static tsr_status check_mask(const ir_reader *reader, const tsr_wire_cursor *cursor,
                             unsigned mask) {
  const int version = reader->artifact->version;
  const unsigned known =
      31u | (version >= 3 ? HAS_USE_ORDERS : 0) | (version >= 5 ? HAS_PROPERTIES : 0);
  if (mask & ~known)
    return tsr_wire_fail(cursor, BROKEN_PROGRAM, "op mask %u, which version %d does not have", mask,
                         version);
  if (mask & HAS_SUCCESSORS)
    return tsr_wire_fail(cursor, UNSUPPORTED, "an op with successor blocks; StableHLO has none");
  return NULL;
}

static tsr_status check_properties(const tsr_wire_cursor *cursor, const op_head *head,
                                   bool present) {
  const int wanted = head->name->vhlo ? head->name->vhlo->attr_count : head->name->info->attr_count;
  if (present || !wanted || !head->name->registered) return NULL;
  return in_op(cursor, head, tsr_fail(BROKEN_PROGRAM, "its properties are missing"));
}

static tsr_status read_head(ir_reader *reader, tsr_wire_cursor *cursor, op_head *head) {
  tsr_artifact *artifact = reader->artifact;
  tsr_artifact_properties *properties = NULL;
  const tsr_wire_cursor start = *cursor;
  int name = 0;
  unsigned char mask = 0;
  head->start = cursor->at;
  TSR_TRY(tsr_wire_index(cursor, "op name", artifact->op_count, &name));
  head->name = &artifact->ops[name];
  if (!head->name->info) TSR_TRY(tsr_artifact_resolve(artifact, &start, head->name));
  const tsr_wire_cursor place = *cursor;
  TSR_TRY(tsr_wire_byte(cursor, &mask));
  TSR_TRY(check_mask(reader, &place, mask));
  TSR_TRY(tsr_artifact_location(artifact, cursor, &head->location));
  if (mask & HAS_ATTRS) TSR_TRY(read_dict(reader, cursor, &head->dict));
  if (mask & HAS_PROPERTIES) TSR_TRY(read_properties(reader, cursor, head, &properties));
  if (artifact->version >= 5) TSR_TRY(check_properties(cursor, head, properties));
  TSR_TRY(join_attrs(reader, cursor, head, properties));
  if (mask & HAS_RESULTS) TSR_TRY(read_results(reader, cursor, head));
  if (mask & HAS_OPERANDS) TSR_TRY(read_operands(reader, cursor, head));
  if (mask & HAS_USE_ORDERS) TSR_TRY(skip_use_orders(cursor, head->result_count));
  if (mask & HAS_REGIONS) {
    uint64_t count = 0;
    TSR_TRY(tsr_wire_flagged(cursor, &count, &head->isolated));
    TSR_TRY(tsr_wire_check_count(cursor, "regions", count));
    head->region_count = (int)count;
  }
  return NULL;
}

// ---- ops ----

static tsr_status check_counts(const op_head *head) {
  const tsr_op_info *info = head->name->info;
  const struct {
    const char *what;
    int wanted, found;
  } counts[] = {{"operands", info->operands, head->operand_count},
                {"results", info->results, head->result_count},
                {"regions", info->regions, head->region_count}};
  for (int i = 0; info->id != TSR_OP_UNKNOWN && i < 3; i++)
    if (!tsr_op_count_fits(counts[i].wanted, counts[i].found))
      return tsr_fail(BROKEN_PROGRAM, "%d %s, expected %s%d", counts[i].found, counts[i].what,
                      counts[i].wanted < 0 ? "at least " : "",
                      counts[i].wanted < 0 ? -1 - counts[i].wanted : counts[i].wanted);
  return NULL;
}

// Casts stand between ops of VHLO, whose types are its own, and those of Shardy. In StableHLO both
// types are the same.
static bool is_idle_cast(const ir_reader *reader, const op_head *head) {
  return head->name->info->id == TSR_OP_CAST && head->operand_count == 1 &&
         head->result_count == 1 && !head->region_count &&
         reader->operands[0]->type == reader->results[0];
}

static tsr_op_id id_in(const op_head *head, const tsr_ir_block *block) {
  const tsr_op_id id = head->name->info->id;
  const tsr_op *parent = tsr_block_parent(block);
  return id == TSR_OP_RETURN && parent && parent->info->id == TSR_OP_FUNC ? TSR_OP_FUNC_RETURN : id;
}

static tsr_status read_regions(ir_reader *reader, tsr_wire_cursor *cursor, tsr_op *op,
                               bool isolated);

static tsr_status check_symbol(ir_reader *reader, const tsr_op *op) {
  const char *name = tsr_op_symbol(op);
  int64_t existing = -1;
  if (!name || tsr_block_parent(op->block) != reader->ir->module) return NULL;
  TSR_TRY(tsr_name_index_add(&reader->symbols, name, 0, &existing));
  if (existing < 0) return NULL;
  return tsr_fail(BROKEN_PROGRAM, "the symbol \"%.60s\" is defined twice", name);
}

static tsr_status check_func(const tsr_op *op) {
  const tsr_type *type = tsr_func_type(op);
  const tsr_ir_block *body = tsr_func_body(op);
  if (!type || type->kind != TSR_TYPE_FUNCTION)
    return tsr_fail(BROKEN_PROGRAM, "its type is not that of a function");
  if (!body) return NULL;
  if (body->arg_count != type->input_count)
    return tsr_fail(BROKEN_PROGRAM, "its body has %d arguments, its type %d", body->arg_count,
                    type->input_count);
  for (int i = 0; i < body->arg_count; i++)
    if (body->args[i]->type != type->types[i])
      return tsr_fail(BROKEN_PROGRAM, "argument %d has another type in the body", i);
  return NULL;
}

static tsr_status check_op(ir_reader *reader, const tsr_op *op) {
  TSR_TRY(check_symbol(reader, op));
  return op->info->id == TSR_OP_FUNC ? check_func(op) : NULL;
}

static tsr_status make_op(ir_reader *reader, const op_head *head, tsr_ir_block *block,
                          tsr_op **out_op) {
  const tsr_op_parts parts = {
      .id = id_in(head, block),
      .name = head->name->info->id == TSR_OP_UNKNOWN ? head->name->full_name : NULL,
      .operand_count = head->operand_count,
      .result_count = head->result_count,
      .region_count = head->region_count,
      .attr_count = head->attr_count,
      .operands = reader->operands,
      .result_types = reader->results,
      .attrs = reader->attrs,
      .location = head->location};
  *out_op = tsr_op_create(reader->ir, &parts);
  TSR_NEED(*out_op);
  tsr_op_append(block, *out_op);
  return NULL;
}

static tsr_status read_op(ir_reader *reader, tsr_wire_cursor *cursor, tsr_ir_block *block) {
  op_head head = {0};
  tsr_op *op = NULL;
  TSR_TRY(read_head(reader, cursor, &head));
  TSR_TRY(in_op(cursor, &head, check_counts(&head)));
  if (is_idle_cast(reader, &head)) return define(reader, cursor, reader->operands[0]);
  TSR_TRY(make_op(reader, &head, block, &op));
  for (int i = 0; i < op->result_count; i++) TSR_TRY(define(reader, cursor, tsr_op_result(op, i)));
  if (head.region_count) TSR_TRY(read_regions(reader, cursor, op, head.isolated));
  return in_op(cursor, &head, check_op(reader, op));
}

// ---- blocks and regions ----

static tsr_status read_argument(ir_reader *reader, tsr_wire_cursor *cursor, tsr_ir_block *block) {
  const tsr_wire_cursor start = *cursor;
  const tsr_type *type = NULL;
  const tsr_attr *location = NULL;
  bool has_location = true;
  if (reader->artifact->version >= 4) {
    uint64_t index = 0;
    TSR_TRY(tsr_wire_flagged(cursor, &index, &has_location));
    TSR_TRY(tsr_artifact_type_index(reader->artifact, &start, index, &type));
  } else {
    TSR_TRY(tsr_artifact_type(reader->artifact, cursor, &type));
  }
  if (has_location) TSR_TRY(tsr_artifact_location(reader->artifact, cursor, &location));
  tsr_value *value = tsr_block_add_arg(reader->ir, block, type, location);
  TSR_NEED(value);
  return define(reader, cursor, value);
}

static tsr_status read_arguments(ir_reader *reader, tsr_wire_cursor *cursor, tsr_ir_block *block) {
  int count = 0;
  TSR_TRY(tsr_wire_count(cursor, "arguments", &count));
  for (int i = 0; i < count; i++) TSR_TRY(read_argument(reader, cursor, block));
  unsigned char has_orders = 0;
  if (reader->artifact->version >= 3) TSR_TRY(tsr_wire_byte(cursor, &has_orders));
  return has_orders ? skip_use_orders(cursor, count) : NULL;
}

static bool may_end(const tsr_op *op) {
  return (op->info->traits & TSR_TRAIT_TERMINATES) || op->info->id == TSR_OP_UNKNOWN;
}

static tsr_status check_end(const tsr_wire_cursor *cursor, const tsr_ir_block *block) {
  const tsr_op *parent = tsr_block_parent(block);
  const bool module = parent->info->id == TSR_OP_MODULE;
  if (!module && parent->info->id != TSR_OP_UNKNOWN && (!block->last || !may_end(block->last)))
    return tsr_wire_fail(cursor, BROKEN_PROGRAM, "%s: a block does not end with a terminator",
                         parent->name);
  for (const tsr_op *op = block->first; op && (op->next || module); op = op->next)
    if (op->info->traits & TSR_TRAIT_TERMINATES)
      return tsr_wire_fail(cursor, BROKEN_PROGRAM, "%s: %s inside of a block", parent->name,
                           op->name);
  return NULL;
}

static tsr_status read_block(ir_reader *reader, tsr_wire_cursor *cursor, tsr_ir_block *block) {
  uint64_t count = 0;
  bool has_arguments = false;
  TSR_TRY(tsr_wire_flagged(cursor, &count, &has_arguments));
  TSR_TRY(tsr_wire_check_count(cursor, "ops", count));
  if (has_arguments) TSR_TRY(read_arguments(reader, cursor, block));
  for (uint64_t i = 0; i < count; i++) TSR_TRY(read_op(reader, cursor, block));
  return check_end(cursor, block);
}

static tsr_status check_blocks(const tsr_wire_cursor *cursor, const tsr_op *op, uint64_t count) {
  const tsr_op_id id = op->info->id;
  const bool may_be_empty = id == TSR_OP_FUNC || id == TSR_OP_COMPOSITE || id == TSR_OP_UNKNOWN;
  if (count > 1)
    return tsr_wire_fail(cursor, UNSUPPORTED, "%s: a region of %llu blocks; StableHLO has one",
                         op->name, (unsigned long long)count);
  if (!count && !may_be_empty)
    return tsr_wire_fail(cursor, BROKEN_PROGRAM, "%s: a region without a block", op->name);
  return NULL;
}

// Each value takes at least a byte of the section, so all open regions together have no more.
static tsr_status open_values(ir_reader *reader, tsr_wire_cursor *cursor) {
  const tsr_wire_cursor start = *cursor;
  uint64_t count = 0;
  TSR_TRY(tsr_wire_varint(cursor, &count));
  if (count > (uint64_t)(reader->value_limit - reader->value_count))
    return tsr_wire_fail(&start, BROKEN_PROGRAM, "%llu values in a region, but %lld bytes are left",
                         (unsigned long long)count,
                         (long long)(reader->value_limit - reader->value_count));
  MAKE_ROOM(reader->values, reader->value_count + (int64_t)count, reader->value_capacity);
  for (uint64_t i = 0; i < count; i++) reader->values[reader->value_count++] = NULL;
  return NULL;
}

static tsr_status read_region(ir_reader *reader, tsr_wire_cursor *cursor, tsr_region *region) {
  const tsr_wire_cursor start = *cursor;
  const int64_t next = reader->next, first = reader->value_count;
  uint64_t block_count = 0;
  TSR_TRY(tsr_wire_varint(cursor, &block_count));
  TSR_TRY(check_blocks(&start, region->parent, block_count));
  if (!block_count) return NULL;
  TSR_TRY(open_values(reader, cursor));
  reader->next = first;
  tsr_ir_block *block = region->first ? region->first : tsr_block_append(reader->ir, region);
  TSR_NEED(block);
  TSR_TRY(read_block(reader, cursor, block));
  if (reader->next != reader->value_count)
    return tsr_wire_fail(&start, BROKEN_PROGRAM, "%s: a region of %lld values defines %lld",
                         region->parent->name, (long long)(reader->value_count - first),
                         (long long)(reader->next - first));
  reader->value_count = first;
  reader->next = next;
  return NULL;
}

static tsr_status read_region_list(ir_reader *reader, tsr_wire_cursor *cursor, tsr_op *op) {
  for (int i = 0; i < op->region_count; i++) TSR_TRY(read_region(reader, cursor, &op->regions[i]));
  return NULL;
}

static tsr_status read_regions(ir_reader *reader, tsr_wire_cursor *cursor, tsr_op *op,
                               bool isolated) {
  if (++reader->depth > TSR_ARTIFACT_DEPTH)
    return tsr_wire_fail(cursor, TOO_LARGE, "regions are nested more than %d deep",
                         TSR_ARTIFACT_DEPTH);
  const int64_t scope = reader->scope;
  if (isolated) reader->scope = reader->value_count;
  if (isolated && reader->artifact->version >= 2) {
    tsr_wire_cursor section;
    TSR_TRY(tsr_artifact_nested(cursor, TSR_SECTION_IR, &section));
    TSR_TRY(read_region_list(reader, &section, op));
    TSR_TRY(tsr_wire_end(&section));
  } else {
    TSR_TRY(read_region_list(reader, cursor, op));
  }
  reader->scope = scope;
  reader->depth--;
  return NULL;
}

// ---- the module ----

static tsr_status read_module(ir_reader *reader, tsr_wire_cursor *cursor) {
  const tsr_wire_cursor start = *cursor;
  uint64_t count = 0;
  bool has_arguments = false;
  op_head head = {0};
  tsr_op *module = reader->ir->module;
  TSR_TRY(tsr_wire_flagged(cursor, &count, &has_arguments));
  if (count != 1 || has_arguments)
    return tsr_wire_fail(&start, BROKEN_PROGRAM, "expected one op, a module");
  TSR_TRY(read_head(reader, cursor, &head));
  if (head.name->info->id != TSR_OP_MODULE)
    return tsr_wire_fail(&start, BROKEN_PROGRAM, "expected builtin.module, found %.120s",
                         head.name->full_name);
  TSR_TRY(in_op(cursor, &head, check_counts(&head)));
  module->location = head.location;
  for (int i = 0; i < head.attr_count; i++) {
    assert(reader->attrs);
    if (!tsr_op_set_attr(reader->ir, module, reader->attrs[i].name, reader->attrs[i].attr))
      TSR_NEED((void *)NULL);
  }
  TSR_TRY(read_regions(reader, cursor, module, head.isolated));
  return tsr_wire_end(cursor);
}

tsr_status tsr_artifact_read_ir(tsr_artifact *artifact) {
  tsr_wire_cursor cursor = artifact->sections[TSR_SECTION_IR];
  ir_reader reader = {.artifact = artifact,
                      .ir = artifact->ir,
                      .value_limit = (int64_t)tsr_wire_left(&cursor),
                      .symbols = TSR_NAME_INDEX_EMPTY};
  tsr_status status = read_module(&reader, &cursor);
  free(reader.values);
  free(reader.operands);
  free(reader.results);
  free(reader.attrs);
  tsr_name_index_deinit(&reader.symbols);
  return status;
}
