// Processes with programs of their own: each has a place in its program and goes on until an op
// that needs others. Those ops are done when all whom they need have come to them.
//
// Which op runs is known when the schedule is made, for a program of one process runs op by op.
// Only ops in loops and branches are not known so, and there no process can meet others.
#include <string.h>

#include "base/text_internal.h"
#include "processes/run_parallel.h"
#include "tessera/own.h"
#include "verify/group_checks.h"
#include "verify/symbol_checks.h"

enum { MOST_OPS = 4000000, MOST_WAITERS_SHOWN = 4 };

typedef struct process {
  const tsr_op *function;
  const tsr_op *at;    // the next op, or the terminator
  tsr_value_map *map;  // from values of the function to those of this process
  // If it waits at a collective: whom that needs. NULL otherwise.
  const int *members;
  int member_count;
  const int *sources;  // of a permutation, for each process
} process;

typedef struct interleaving {
  tsr_ir *ir;
  tsr_arena arena;
  tsr_op *op;  // ops are put before it
  tsr_process_grid grid;
  process *processes;
  int count;
  int64_t fed;  // of the functions of infeed
  int64_t op_count;
  // The groups of the op that was asked for last: processes often ask for the same.
  const tsr_op *known;
  tsr_process_groups groups;
  const int *sources;
} interleaving;

// ---- ops of one process ----

static tsr_status put(interleaving *in, tsr_op *op) {
  TSR_NEED(op);
  if (++in->op_count > MOST_OPS)
    return tsr_fail(TOO_LARGE, "%s: its programs have more than %d ops together", in->op->name,
                    MOST_OPS);
  tsr_op_insert_before(in->op, op);
  return NULL;
}

static tsr_status map_value(process *p, const tsr_value *from, tsr_value *to) {
  TSR_NEED(to && tsr_value_map_add(p->map, from, to) ? to : NULL);
  return NULL;
}

static tsr_value *mapped(const process *p, const tsr_value *value) {
  return tsr_value_map_find(p->map, value);
}

// A constant before `place`.
static tsr_op *constant_before(tsr_ir *ir, tsr_op *place, const tsr_type *type,
                               const tsr_attr *value) {
  const tsr_named_attr attr = {tsr_ir_name(ir, "value", 5), value};
  if (!value || !attr.name) return NULL;
  const tsr_op_parts parts = {.id = TSR_OP_CONSTANT,
                              .result_count = 1,
                              .result_types = &type,
                              .attr_count = 1,
                              .attrs = &attr};
  tsr_op *op = tsr_op_create(ir, &parts);
  if (op) tsr_op_insert_before(place, op);
  return op;
}

static tsr_op *zeros_before(tsr_ir *ir, tsr_op *place, const tsr_type *type) {
  static const char zeros[32];
  const size_t width = tsr_type_element_bytes(tsr_type_element(type));
  return constant_before(ir, place, type, tsr_attr_dense(ir, type, zeros, width));
}

typedef struct process_ids {
  tsr_ir *ir;
  uint32_t replica, partition;
} process_ids;

static bool is_process_id(const tsr_op *op) {
  return op->info->id == TSR_OP_PARTITION_ID || op->info->id == TSR_OP_REPLICA_ID;
}

static tsr_op *id_before(const process_ids *ids, tsr_op *place, const tsr_op *op) {
  const uint32_t id = op->info->id == TSR_OP_PARTITION_ID ? ids->partition : ids->replica;
  uint32_t *kept = tsr_ir_alloc(ids->ir, sizeof *kept);
  if (!kept) return NULL;
  *kept = id;
  const tsr_type *type = op->results[0].type;
  return constant_before(ids->ir, place, type, tsr_attr_dense(ids->ir, type, kept, sizeof *kept));
}

// Ops in the regions of a copied op.
static tsr_status settle_inside(tsr_op *op, void *context) {
  const process_ids *ids = context;
  if (tsr_op_is_collective(op) || tsr_op_is_transfer(op))
    return tsr_fail(UNSUPPORTED,
                    "%s at line %u: stands in a loop or branch, and not all programs are the "
                    "same function without send, recv and feeds",
                    op->name, op->line);
  if (!is_process_id(op)) return NULL;
  tsr_op *constant = id_before(ids, op, op);
  TSR_NEED(constant);
  tsr_value_replace(&op->results[0], &constant->results[0]);
  tsr_op_erase(op);
  return NULL;
}

static tsr_status copy_op(interleaving *in, process *p) {
  const int number = (int)(p - in->processes);
  const process_ids ids = {.ir = in->ir,
                           .replica = (uint32_t)(number / in->grid.partitions),
                           .partition = (uint32_t)(number % in->grid.partitions)};
  if (is_process_id(p->at)) {
    tsr_op *constant = id_before(&ids, in->op, p->at);
    TSR_NEED(constant);
    return map_value(p, &p->at->results[0], &constant->results[0]);
  }
  tsr_op *copy = tsr_op_clone(in->ir, p->at, p->map);
  TSR_TRY(put(in, copy));
  return copy->region_count ? tsr_op_walk(copy, settle_inside, (void *)(uintptr_t)&ids) : NULL;
}

// ---- feeds ----

// The token that an op gives is the one that it takes: the order is that of the schedule.
static tsr_status pass_token(process *p, const tsr_op *op) {
  const tsr_value *token = tsr_op_operand(op, op->operand_count - 1);
  return map_value(p, &op->results[op->result_count - 1], mapped(p, token));
}

static tsr_status copy_feed(interleaving *in, const tsr_op *function, process *p,
                            const tsr_value *result) {
  const tsr_ir_block *body = tsr_func_body(function);
  const tsr_op *end = tsr_block_terminator(body);
  tsr_value_map *map = tsr_value_map_create();
  TSR_NEED(map);
  tsr_status status = NULL;
  for (const tsr_op *op = body->first; !status && op != end; op = op->next)
    status = put(in, tsr_op_clone(in->ir, op, map));
  if (!status) status = map_value(p, result, tsr_value_map_find(map, tsr_op_operand(end, 0)));
  tsr_value_map_destroy(map);
  return status;
}

// Each infeed takes the next function of the queue, which has one tensor.
static tsr_status take_feed(interleaving *in, process *p) {
  const tsr_op *op = p->at;
  const tsr_attr *queue = tsr_op_attr(in->op, "infeed");
  const int64_t length = queue ? queue->count : 0;
  TSR_ASK(queue && in->fed < length, op, "", "takes value %lld of the infeed, which has %lld",
          (long long)in->fed + 1, (long long)length);
  const char *name = queue->items[in->fed++]->bytes;
  const tsr_op *function = tsr_func_near(in->ir, in->op, name);
  const tsr_ir_block *body = function ? tsr_func_body(function) : NULL;
  const tsr_op *end = body ? tsr_block_terminator(body) : NULL;
  TSR_ASK(end && body->arg_count == 0 && end->operand_count == 1, op, "",
          "@%s of the infeed is not a function () -> tensor with a body", name);
  TSR_ASK(op->result_count == 2 && op->results[0].type == tsr_operand_type(end, 0), op, "",
          "takes a value of type %s, but @%s of the infeed gives %s",
          SHOW_TYPE(op->result_count ? op->results[0].type : NULL), name,
          SHOW_TYPE(tsr_operand_type(end, 0)));
  TSR_TRY(copy_feed(in, function, p, &op->results[0]));
  return pass_token(p, op);
}

// ---- whom an op needs ----

static tsr_status know_groups(interleaving *in, const tsr_op *op) {
  if (in->known == op) return NULL;
  in->sources = NULL;
  if (op->info->id == TSR_OP_COLLECTIVE_PERMUTE) {
    TSR_TRY(tsr_process_sources_make(&in->arena, op, in->grid, &in->sources));
    TSR_TRY(tsr_process_chains_make(&in->arena, in->sources, in->count, &in->groups));
  } else {
    TSR_TRY(tsr_process_groups_make(in->ir, &in->arena, op, in->grid, &in->groups));
  }
  in->known = op;
  return NULL;
}

static tsr_status find_members(interleaving *in, process *p) {
  const int number = (int)(p - in->processes);
  TSR_TRY(know_groups(in, p->at));
  p->members = NULL;
  p->member_count = 0;
  p->sources = in->sources;
  for (int g = 0; g < in->groups.group_count; g++)
    for (int i = in->groups.starts[g]; i < in->groups.starts[g + 1]; i++)
      if (in->groups.members[i] == number) {
        p->members = in->groups.members + in->groups.starts[g];
        p->member_count = in->groups.starts[g + 1] - in->groups.starts[g];
        return NULL;
      }
  return NULL;
}

// A process that is in no group gets zeros.
static tsr_status give_zeros(interleaving *in, process *p) {
  for (int i = 0; i < p->at->result_count; i++) {
    const tsr_value *result = &p->at->results[i];
    if (!tsr_type_is_static(result->type))
      return tsr_fail(UNSUPPORTED, "%s: a result of unknown size", p->at->name);
    tsr_op *zeros = zeros_before(in->ir, in->op, result->type);
    TSR_NEED(zeros);
    TSR_TRY(map_value(p, result, &zeros->results[0]));
  }
  return NULL;
}

// Goes on until the process needs another one, or has ended.
static tsr_status go_on(interleaving *in, process *p) {
  const tsr_op *end = tsr_block_terminator(tsr_func_body(p->function));
  for (; p->at != end; p->at = p->at->next) {
    const tsr_op_id id = p->at->info->id;
    if (id == TSR_OP_SEND || id == TSR_OP_RECV) return NULL;
    if (id == TSR_OP_OUTFEED) {
      TSR_TRY(pass_token(p, p->at));
    } else if (id == TSR_OP_INFEED) {
      TSR_TRY(take_feed(in, p));
    } else if (tsr_op_is_collective(p->at)) {
      TSR_TRY(find_members(in, p));
      if (p->members) return NULL;
      TSR_TRY(give_zeros(in, p));
    } else {
      TSR_TRY(copy_op(in, p));
    }
  }
  return NULL;
}

// ---- collectives ----

static bool same_group(const process *a, const process *b) {
  return a->member_count == b->member_count &&
         !memcmp(a->members, b->members, sizeof *a->members * (size_t)a->member_count);
}

// Whether another process stands where `p` can meet it.
static bool is_there(const process *p, const process *other) {
  return other->at->info->id == p->at->info->id && other->members && same_group(p, other) &&
         tsr_channel_id(other->at) == tsr_channel_id(p->at);
}

static bool same_types(const tsr_op *a, const tsr_op *b) {
  if (a->operand_count != b->operand_count || a->result_count != b->result_count) return false;
  for (int i = 0; i < a->operand_count; i++)
    if (tsr_operand_type(a, i) != tsr_operand_type(b, i)) return false;
  for (int i = 0; i < a->result_count; i++)
    if (a->results[i].type != b->results[i].type) return false;
  return true;
}

// Groups may be written in other ways: those that matter here are the same.
static bool is_about_groups(const char *name) {
  return !strcmp(name, "replica_groups") || !strcmp(name, "source_target_pairs") ||
         !strcmp(name, "channel_handle") || !strcmp(name, "use_global_device_ids");
}

static bool has_attrs_of(const tsr_op *a, const tsr_op *b, bool groups) {
  for (int i = 0; i < b->attr_count; i++)
    if ((groups || !is_about_groups(b->attrs[i].name)) &&
        !tsr_attr_equal(tsr_op_attr(a, b->attrs[i].name), b->attrs[i].attr))
      return false;
  return true;
}

// The number of a value in a block, arguments first; -1 for one from outside.
static int place_in(const tsr_ir_block *block, const tsr_value *value) {
  int place = 0;
  for (int i = 0; i < block->arg_count; i++, place++)
    if (block->args[i] == value) return place;
  for (const tsr_op *op = block->first; op; op = op->next)
    for (int i = 0; i < op->result_count; i++, place++)
      if (&op->results[i] == value) return place;
  return -1;
}

static bool same_body(const tsr_op *a, const tsr_op *b) {
  if (!a->region_count && !b->region_count) return true;
  const tsr_ir_block *from = a->regions[0].first, *to = b->regions[0].first;
  const tsr_op *x = from->first, *y = to->first;
  for (; x && y; x = x->next, y = y->next) {
    if (x->info != y->info || x->region_count || y->region_count || !same_types(x, y) ||
        !has_attrs_of(x, y, true) || !has_attrs_of(y, x, true))
      return false;
    for (int i = 0; i < x->operand_count; i++) {
      const int place = place_in(from, tsr_op_operand(x, i));
      if (place < 0 || place != place_in(to, tsr_op_operand(y, i))) return false;
    }
  }
  return !x && !y;
}

static tsr_status check_same(const process *p, const process *other) {
  const tsr_op *a = p->at, *b = other->at;
  if (a == b) return NULL;
  const char *what = !same_types(a, b)                                          ? "types"
                     : !has_attrs_of(a, b, false) || !has_attrs_of(b, a, false) ? "attributes"
                     : !same_body(a, b)                                         ? "computations"
                                                                                : NULL;
  if (what)
    return tsr_fail(CONSTRAINT, "%s at lines %u of @%s and %u of @%s: their %s differ", a->name,
                    a->line, tsr_op_symbol(p->function), b->line, tsr_op_symbol(other->function),
                    what);
  return NULL;
}

static const tsr_attr *member_sources(interleaving *in, const process *p) {
  int64_t *places = tsr_arena_zeros(&in->arena, (size_t)p->member_count, sizeof *places);
  if (!places) return NULL;
  for (int i = 0; i < p->member_count; i++) {
    places[i] = -1;
    for (int k = 0; k < p->member_count; k++)
      if (p->sources[p->members[i]] == p->members[k]) places[i] = k;
  }
  return tsr_attr_ints(in->ir, places, p->member_count);
}

// The attributes of the shared op: its own, and what says whom it is shared by.
static tsr_status shared_attrs(interleaving *in, const process *p, tsr_op_parts *parts) {
  const int count = p->at->attr_count;
  tsr_named_attr *attrs = tsr_arena_zeros(&in->arena, (size_t)count + 2, sizeof *attrs);
  TSR_NEED(attrs);
  if (count) memcpy(attrs, p->at->attrs, sizeof *attrs * (size_t)count);
  attrs[count] = (tsr_named_attr){tsr_ir_name(in->ir, TSR_MEMBERS_ATTR, strlen(TSR_MEMBERS_ATTR)),
                                  tsr_attr_i64(in->ir, p->member_count)};
  TSR_NEED(attrs[count].name && attrs[count].attr ? attrs : NULL);
  parts->attrs = attrs;
  parts->attr_count = count + 1;
  if (!p->sources) return NULL;
  attrs[count + 1] = (tsr_named_attr){
      tsr_ir_name(in->ir, TSR_SOURCES_ATTR, strlen(TSR_SOURCES_ATTR)), member_sources(in, p)};
  TSR_NEED(attrs[count + 1].name && attrs[count + 1].attr ? attrs : NULL);
  parts->attr_count++;
  return NULL;
}

static tsr_status create_shared(interleaving *in, process *p, tsr_op **out_op) {
  const tsr_op *at = p->at;
  const int members = p->member_count;
  const int64_t operands = (int64_t)at->operand_count * members;
  const int64_t results = (int64_t)at->result_count * members;
  if (operands > MOST_OPS || results > MOST_OPS)
    return tsr_fail(TOO_LARGE, "%s: has more than %d operands in all processes", at->name,
                    MOST_OPS);
  tsr_value **values = tsr_arena_zeros(&in->arena, (size_t)operands + 1, sizeof *values);
  const tsr_type **types = tsr_arena_zeros(&in->arena, (size_t)results + 1, sizeof *types);
  TSR_NEED(values && types ? values : NULL);
  for (int64_t i = 0; i < operands; i++) {
    const process *member = &in->processes[p->members[i % members]];
    values[i] = mapped(member, tsr_op_operand(member->at, (int)(i / members)));
  }
  for (int64_t i = 0; i < results; i++) types[i] = at->results[i / members].type;
  tsr_op_parts parts = {.id = at->info->id,
                        .operand_count = (int)operands,
                        .operands = values,
                        .result_count = (int)results,
                        .result_types = types,
                        .region_count = at->region_count,
                        .location = at->location};
  TSR_TRY(shared_attrs(in, p, &parts));
  tsr_op *op = tsr_op_create(in->ir, &parts);
  TSR_TRY(put(in, op));
  op->line = at->line;
  if (at->region_count)
    TSR_TRY(tsr_block_copy_into(in->ir, at->regions[0].first, &op->regions[0], p->map));
  *out_op = op;
  return NULL;
}

static tsr_status meet(interleaving *in, process *p, bool *out_met) {
  for (int i = 0; i < p->member_count; i++)
    if (!is_there(p, &in->processes[p->members[i]])) return NULL;
  for (int i = 0; i < p->member_count; i++) TSR_TRY(check_same(p, &in->processes[p->members[i]]));
  tsr_op *op = NULL;
  const int *members = p->members, count = p->member_count;
  TSR_TRY(create_shared(in, p, &op));
  for (int i = 0; i < op->result_count; i++) {
    process *member = &in->processes[members[i % count]];
    TSR_TRY(map_value(member, &member->at->results[i / count], &op->results[i]));
  }
  for (int i = 0; i < count; i++) {
    in->processes[members[i]].at = in->processes[members[i]].at->next;
    in->processes[members[i]].members = NULL;
  }
  *out_met = true;
  return NULL;
}

// ---- send and recv ----

static process *find_receiver(interleaving *in, const process *sender) {
  for (int i = 0; i < in->count; i++) {
    process *p = &in->processes[i];
    if (p != sender && p->at->info->id == TSR_OP_RECV &&
        tsr_channel_id(p->at) == tsr_channel_id(sender->at))
      return p;
  }
  return NULL;
}

// The value that was sent is the one that is received.
static tsr_status transfer(interleaving *in, process *sender, bool *out_met) {
  process *receiver = find_receiver(in, sender);
  if (!receiver) return NULL;
  const tsr_op *from = sender->at, *to = receiver->at;
  TSR_ASK(from->operand_count == to->result_count, to, "", "takes %d values, but %d are sent",
          to->result_count - 1, from->operand_count - 1);
  for (int i = 0; i + 1 < to->result_count; i++) {
    TSR_ASK(tsr_operand_type(from, i) == to->results[i].type, to, "",
            "takes a value of type %s, but %s is sent", SHOW_TYPE(to->results[i].type),
            SHOW_TYPE(tsr_operand_type(from, i)));
    TSR_TRY(map_value(receiver, &to->results[i], mapped(sender, tsr_op_operand(from, i))));
  }
  TSR_TRY(pass_token(sender, from));
  TSR_TRY(pass_token(receiver, to));
  sender->at = from->next;
  receiver->at = to->next;
  *out_met = true;
  return NULL;
}

// ---- all processes ----

static void name_process(const interleaving *in, int number, tsr_text *out) {
  tsr_text_addf(out, "(%d, %d)", number / in->grid.partitions, number % in->grid.partitions);
}

static bool has_ended(const process *p) {
  return p->at == tsr_block_terminator(tsr_func_body(p->function));
}

static void tell_wait(const interleaving *in, int number, tsr_text *out) {
  const process *p = &in->processes[number];
  name_process(in, number, out);
  tsr_text_addf(out, " at %s", p->at->name);
  if (p->at->line) tsr_text_addf(out, " of line %u", p->at->line);
  if (!tsr_op_is_collective(p->at)) {
    tsr_text_addf(out, " for a %s on channel %lld",
                  p->at->info->id == TSR_OP_SEND ? "recv" : "send",
                  (long long)tsr_channel_id(p->at));
    return;
  }
  for (int i = 0; i < p->member_count; i++)
    if (!is_there(p, &in->processes[p->members[i]])) {
      tsr_text_add(out, " for ");
      name_process(in, p->members[i], out);
      tsr_text_add(out, has_ended(&in->processes[p->members[i]]) ? ", which has ended" : "");
      return;
    }
}

static tsr_status report_deadlock(const interleaving *in) {
  TSR_OWN(text, list);
  int shown = 0;
  for (int i = 0; i < in->count && shown < MOST_WAITERS_SHOWN; i++) {
    if (has_ended(&in->processes[i])) continue;
    tsr_text_add(&list, shown++ ? "; " : "");
    tell_wait(in, i, &list);
  }
  TSR_TRY(tsr_text_check(&list));
  return tsr_fail(CONSTRAINT, "%s: its programs wait for each other: %s", in->op->name,
                  tsr_text_string(&list));
}

// What a process that waits can do now. One that another has just met goes on later.
static tsr_status meet_any(interleaving *in, process *p, bool *out_met) {
  if (p->members) return meet(in, p, out_met);
  return !has_ended(p) && p->at->info->id == TSR_OP_SEND ? transfer(in, p, out_met) : NULL;
}

static tsr_status run_all(interleaving *in) {
  for (;;) {
    bool met = false, ended = true;
    for (int i = 0; i < in->count; i++)
      TSR_TRY_NOTE(go_on(in, &in->processes[i]), "in @%s of process (%d, %d)",
                   tsr_op_symbol(in->processes[i].function), i / in->grid.partitions,
                   i % in->grid.partitions);
    for (int i = 0; i < in->count; i++) {
      ended = ended && has_ended(&in->processes[i]);
      TSR_TRY(meet_any(in, &in->processes[i], &met));
    }
    if (ended) return NULL;
    if (!met) return report_deadlock(in);
  }
}

static tsr_status open_processes(interleaving *in, const tsr_parallel_programs *programs) {
  int operand = 0;
  in->processes = tsr_arena_zeros(&in->arena, (size_t)in->count, sizeof *in->processes);
  TSR_NEED(in->processes);
  for (int i = 0; i < in->count; i++) {
    process *p = &in->processes[i];
    const tsr_ir_block *body = tsr_func_body(programs->functions[i]);
    p->function = programs->functions[i];
    p->at = body->first;
    p->map = tsr_value_map_create();
    TSR_NEED(p->map);
    for (int k = 0; k < body->arg_count; k++)
      TSR_TRY(map_value(p, body->args[k], tsr_op_operand(in->op, operand++)));
  }
  return NULL;
}

static void give_results(interleaving *in) {
  int result = 0;
  for (int i = 0; i < in->count; i++) {
    const process *p = &in->processes[i];
    for (int k = 0; k < p->at->operand_count; k++)
      tsr_value_replace(&in->op->results[result++], mapped(p, tsr_op_operand(p->at, k)));
  }
  tsr_op_erase(in->op);
}

tsr_status tsr_parallel_interleave(tsr_ir *ir, tsr_op *op, const tsr_parallel_programs *programs) {
  interleaving in = {.ir = ir,
                     .arena = TSR_ARENA_EMPTY,
                     .op = op,
                     .grid = programs->grid,
                     .count = tsr_process_count(programs->grid)};
  tsr_status status = open_processes(&in, programs);
  if (!status) status = run_all(&in);
  if (!status) give_results(&in);
  for (int i = 0; in.processes && i < in.count; i++) tsr_value_map_destroy(in.processes[i].map);
  tsr_arena_deinit(&in.arena);
  return status;
}
