// From values to steps: the order of the code, the loop of each instruction, registers.
//
// Steps are in two lists. `once` has what is the same for all rows: it runs when a task starts.
// `steps` runs for every tile. Operands that are one element for all are passed as such to loops
// that take them so; others are spread over a register first. A value that is stored without gaps
// is computed in the memory of the output.
#include <string.h>

#include "base/arithmetic.h"
#include "tile/tile_internal.h"

enum {
  LEAST_ROW = 48,
  ALIGNMENT = 64,
  LARGE = 32 << 20
};  // shorter rows are not worth a call of a loop each

typedef struct finishing {
  tsr_tile_program *p;
  tsr_tile_step *once, *steps;
  int64_t once_count, step_count;
  bool hoists;  // what is the same for all rows is computed once
  bool failed;  // no memory
} finishing;

// ---- streams ----

// Whether a tile of a stream is one piece of memory.
static bool is_direct(const tsr_tile_program *p, const tsr_tile_stream *s, tsr_tile_extent extent) {
  if (s->extent != extent) return false;
  const bool one_row = p->tile_rows == 1;
  const bool dense = p->columns <= 1 || (p->rank - p->outer == 1 && s->steps[p->rank - 1] == 1);
  switch (extent) {
    case TSR_EXTENT_ONE:
      return true;
    case TSR_EXTENT_ROW:
      return one_row || (p->outer == 1 && s->steps[0] == 1);
    case TSR_EXTENT_COLUMN:
      return dense;
    default:
      if (one_row || !dense) return dense;
      return p->tile_columns == p->columns && p->outer == 1 && s->steps[0] == p->columns;
  }
}

// A load that needs no register: its memory is read where it is.
static bool is_alias(const tsr_tile_program *p, const tsr_tile_value *value) {
  if (value->kind != TSR_TILE_LOAD || tsr_tile_is_narrow_float(value->dtype)) return false;
  const tsr_tile_stream *s = &p->streams[value->stream];
  return s->direct && !s->copied && (s->extent != TSR_EXTENT_COLUMN || p->tile_rows == 1);
}

// A conversion that changes no bits: it needs no step.
static bool is_same(const tsr_tile_value *value) {
  const tsr_tile_carrier from = tsr_tile_carrier_of(value->from),
                         to = tsr_tile_carrier_of(value->dtype);
  const bool equal = tsr_carrier_bytes(from) == tsr_carrier_bytes(to);
  if (value->kind == TSR_TILE_BITCAST)
    return equal && tsr_dtype_info_of(value->from)->bits == 8 * tsr_carrier_bytes(from) &&
           tsr_dtype_info_of(value->dtype)->bits == 8 * tsr_carrier_bytes(to);
  if (value->kind != TSR_TILE_CONVERT) return false;
  return from == to ||
         (equal && from < TSR_CARRIER_F32 && to < TSR_CARRIER_F32 && to != TSR_CARRIER_BOOL);
}

// ---- emitting ----

static tsr_tile_step *add_step(finishing *f, bool once) {
  tsr_tile_step **list = once ? &f->once : &f->steps;
  int64_t *count = once ? &f->once_count : &f->step_count;
  tsr_tile_step *grown = tsr_arena_grow(&f->p->arena, *list, *count, sizeof *grown);
  if (!grown) {
    f->failed = true;
    return NULL;
  }
  *list = grown;
  return &grown[(*count)++];
}

static bool is_once(const finishing *f, const tsr_tile_value *value) {
  if (value->extent == TSR_EXTENT_ONE) return true;
  if (value->extent != TSR_EXTENT_COLUMN) return false;
  return f->hoists || (value->kind == TSR_TILE_SPREAD &&
                       f->p->values[value->operands[0]].extent == TSR_EXTENT_ONE);
}

static void emit(finishing *f, int id);

static int add_spread(finishing *f, int id, tsr_tile_extent extent) {
  tsr_tile_program *p = f->p;
  tsr_tile_value *grown = tsr_arena_grow(&p->arena, p->values, p->value_count, sizeof *grown);
  if (!grown) {
    f->failed = true;
    return id;
  }
  p->values = grown;
  const int made = (int)p->value_count++;
  const tsr_tile_value *from = &p->values[id];
  p->values[made] = (tsr_tile_value){.kind = TSR_TILE_SPREAD,
                                     .dtype = from->dtype,
                                     .from = from->dtype,
                                     .operands = {id},
                                     .operand_count = 1,
                                     .used = true,
                                     .level = from->level,
                                     .phases = from->phases,
                                     .same = made,
                                     .extent = extent};
  // The phase that makes a sum does not have it yet.
  if (from->kind == TSR_TILE_REDUCE) p->values[made].phases &= ~((UINT64_C(1) << from->level) - 1);
  emit(f, made);
  return made;
}

// The value that is `id` for each column, or for each row: `id` if it is so.
static int spread_to(finishing *f, int id, tsr_tile_extent wanted) {
  const tsr_tile_extent own = f->p->values[id].extent;
  if (wanted & ~own & TSR_EXTENT_COLUMN) {
    if (!f->p->values[id].spread) {
      const int made = add_spread(f, id, own | TSR_EXTENT_COLUMN);
      f->p->values[id].spread = made;
    }
    return f->p->values[id].spread;
  }
  if (wanted == TSR_EXTENT_ROW && own == TSR_EXTENT_ONE) return add_spread(f, id, TSR_EXTENT_ROW);
  return id;
}

// Which form of a loop takes these operands as single elements; -1 = none.
static int form_of(const tsr_tile_value *value, unsigned mask) {
  if (value->kind == TSR_TILE_APPLY && value->op == TSR_TILE_SELECT)
    return mask & 1 ? -1 : (int)(mask >> 1);
  if (value->kind == TSR_TILE_APPLY && value->op == TSR_TILE_CLAMP)
    return mask == 0 ? 0 : mask == 5 ? 1 : -1;
  return mask == 3 ? -1 : (int)mask;
}

// The place of a narrow integer's loop in `wrap`: i2, i4, u2, u4.
static int wrap_of(tsr_dtype narrow) {
  const bool is_unsigned = narrow == TSR_U2 || narrow == TSR_U4;
  return 2 * is_unsigned + (narrow == TSR_I4 || narrow == TSR_U4);
}

static tsr_tile_loop *loop_of(const tsr_tile_program *p, const tsr_tile_value *value,
                              unsigned mask) {
  const int form = form_of(value, mask);
  const tsr_tile_carrier from = tsr_tile_carrier_of(value->from),
                         to = tsr_tile_carrier_of(value->dtype);
  if (form < 0) return NULL;
  switch (value->kind) {
    case TSR_TILE_APPLY: {
      const tsr_tile_carrier carrier = value->op == TSR_TILE_SELECT ? to : from;
      tsr_tile_loop *loop = p->kernels->apply[value->op][carrier][form];
      return loop || form ? loop : tsr_tile_math_loop(value->op, tsr_carrier_dtype(carrier));
    }
    case TSR_TILE_COMPARE:
      return p->kernels->compare[value->a][from][form];
    case TSR_TILE_CONVERT:
      return p->kernels->convert[from][to];
    case TSR_TILE_ORDER:
      return from == TSR_CARRIER_F64 ? p->kernels->order_f64 : p->kernels->order_f32;
    case TSR_TILE_ROUND:
      if (value->narrow == TSR_F16) return p->kernels->round_f16;
      return value->narrow == TSR_BF16 ? p->kernels->round_bf16 : NULL;
    case TSR_TILE_WRAP:
      // cppcheck-suppress CastIntegerToAddressAtReturn ; it takes the loop for an integer
      return p->kernels->wrap[wrap_of(value->narrow)];
    default:
      return NULL;
  }
}

static tsr_tile_action *action_of(const tsr_tile_value *value) {
  switch (value->kind) {
    case TSR_TILE_LOAD:
      return tsr_tile_do_load;
    case TSR_TILE_INDEX:
      return tsr_tile_do_index;
    case TSR_TILE_NARROW:
      return tsr_tile_do_narrow;
    case TSR_TILE_ROUND:
      return tsr_tile_do_round;
    case TSR_TILE_BITCAST:
      return tsr_tile_do_bitcast;
    case TSR_TILE_PRECISION:
      return tsr_tile_do_precision;
    case TSR_TILE_NEXT:
      return tsr_tile_do_next;
    case TSR_TILE_REDUCE:
      return tsr_tile_do_reduce;
    default:
      return tsr_tile_do_spread;
  }
}

// Operands that are one element where the value has several: bits.
static unsigned single_operands(const tsr_tile_program *p, const tsr_tile_value *value) {
  unsigned mask = 0;
  for (int k = 0; k < value->operand_count; k++) {
    const tsr_tile_extent own = p->values[value->operands[k]].extent;
    const bool single =
        value->extent & TSR_EXTENT_COLUMN
            ? !(own & TSR_EXTENT_COLUMN)
            : value->extent == TSR_EXTENT_ROW && own == TSR_EXTENT_ONE && p->tile_rows > 1;
    mask |= (unsigned)single << k;
  }
  return mask;
}

static unsigned row_operands(const tsr_tile_program *p, const tsr_tile_value *value,
                             unsigned mask) {
  unsigned rows = 0;
  for (int k = 0; k < value->operand_count; k++)
    if (mask >> k & 1 && p->values[value->operands[k]].extent == TSR_EXTENT_ROW) rows |= 1u << k;
  return p->tile_rows > 1 ? rows : 0;
}

// Operands that have to be spread: bits. `mask` has those that are single elements.
static unsigned to_spread(const tsr_tile_program *p, const tsr_tile_value *value, unsigned mask) {
  if (value->kind == TSR_TILE_SPREAD) return 0;
  if (value->kind == TSR_TILE_REDUCE)
    return !(p->values[value->operands[0]].extent & TSR_EXTENT_COLUMN);
  if (!mask) return 0;
  if (!loop_of(p, value, mask)) return mask;
  return p->tile_columns < LEAST_ROW ? row_operands(p, value, mask) : 0;
}

// Makes operands fit the loops there are. Gives the operands that stay single elements.
static unsigned fit_operands(finishing *f, int id) {
  tsr_tile_program *p = f->p;
  for (;;) {
    const unsigned mask = single_operands(p, &p->values[id]);
    const unsigned spread = to_spread(p, &p->values[id], mask);
    if (!spread || f->failed) return mask;
    const bool reduce = p->values[id].kind == TSR_TILE_REDUCE;
    const tsr_tile_extent extent = reduce ? TSR_EXTENT_ALL : p->values[id].extent;
    for (int k = 0; k < p->values[id].operand_count; k++)
      if (spread >> k & 1) {
        const int made = spread_to(f, p->values[id].operands[k], extent);
        p->values[id].operands[k] = made;
      }
  }
}

static void describe_step(finishing *f, tsr_tile_step *step, int id, unsigned mask) {
  const tsr_tile_program *p = f->p;
  const tsr_tile_value *value = &p->values[id];
  *step = (tsr_tile_step){.extent = value->extent,
                          .operand_count = (uint8_t)value->operand_count,
                          .phases = value->phases,
                          .width = tsr_tile_register_bytes(value->dtype),
                          .result = id,
                          .single = (uint8_t)mask,
                          .per_row = (uint8_t)row_operands(p, value, mask)};
  for (int k = 0; k < value->operand_count; k++) {
    step->operands[k] = value->operands[k];
    step->widths[k] = tsr_tile_register_bytes(p->values[value->operands[k]].dtype);
  }
  step->loop = value->operand_count ? loop_of(p, value, mask) : NULL;
  if (!step->loop) step->action = action_of(value);
  if (value->kind != TSR_TILE_REDUCE) return;
  const tsr_tile_carrier carrier = tsr_tile_carrier_of(value->dtype);
  step->loop = NULL;
  step->reduce = tsr_tile_reducers_of(p->kernels, value->op, carrier)->rows;
  step->combine = p->kernels->apply[value->op][carrier][0];
  step->in_order = tsr_tile_has_order(value->op, value->dtype);
  step->reduction = f->p->reductions++;
}

// Adds the step of a value, after those of its operands that are loads or spread.
static void emit(finishing *f, int id) {
  tsr_tile_program *p = f->p;
  if (p->values[id].emitted || f->failed) return;
  p->values[id].emitted = true;
  if (p->values[id].kind == TSR_TILE_CONSTANT || is_alias(p, &p->values[id])) return;
  for (int k = 0; k < p->values[id].operand_count; k++) {
    emit(f, p->values[id].operands[k]);
    p->values[id].operands[k] = p->values[p->values[id].operands[k]].same;
  }
  if (is_same(&p->values[id])) {
    p->values[id].same = p->values[id].operands[0];
    return;
  }
  const unsigned mask = fit_operands(f, id);
  tsr_tile_step *step = add_step(f, is_once(f, &p->values[id]));
  if (step) describe_step(f, step, id, mask);
}

// ---- stores ----

// Whether any load might read, from step `from` on, the memory that a store writes: an output may
// be an input that is loaded with equal strides.
static bool is_read_later(const finishing *f, const tsr_tile_stream *store, int64_t from) {
  const tsr_tile_program *p = f->p;
  for (int64_t i = 0; i < p->value_count; i++) {
    const tsr_tile_value *value = &p->values[i];
    if (value->kind != TSR_TILE_LOAD || !value->used || value->last < from) continue;
    const tsr_tile_stream *load = &p->streams[value->stream];
    if (load->offset == store->offset && !memcmp(load->steps, store->steps, sizeof load->steps))
      return true;
  }
  return false;
}

static void emit_store(finishing *f, int64_t stream) {
  tsr_tile_program *p = f->p;
  const tsr_tile_extent wanted = p->streams[stream].extent;
  const int id = spread_to(f, p->values[p->streams[stream].value].same, wanted);
  tsr_tile_step *step = add_step(f, false);
  if (!step) return;
  *step = (tsr_tile_step){.action = tsr_tile_do_store,
                          .extent = wanted | p->values[id].extent,
                          .operand_count = 1,
                          .phases = UINT64_C(1) << p->levels,
                          .widths = {tsr_tile_register_bytes(p->values[id].dtype)},
                          .result = -1,
                          .operands = {id},
                          .stream_base = TSR_BASE_STREAMS + (int)stream};
}

// ---- registers ----

typedef struct free_register {
  struct free_register *next;
  int64_t offset;
} free_register;

typedef struct registers {
  free_register *free[TSR_TILE_WIDTHS];
  int64_t used;
} registers;

static int64_t aligned(int64_t bytes) {
  return tsr_saturated_add(bytes, ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int64_t take_bytes(registers *r, int64_t bytes) {
  const int64_t offset = r->used;
  r->used = tsr_saturated_add(r->used, aligned(bytes));
  return offset;
}

static int64_t elements_of(const tsr_tile_program *p, tsr_tile_extent extent) {
  switch (extent) {
    case TSR_EXTENT_ONE:
      return 1;
    case TSR_EXTENT_ROW:
      return p->tile_rows;
    default:
      return p->tile_rows * p->tile_columns;
  }
}

static void place_alone(finishing *f, registers *r, const tsr_tile_step *step) {
  tsr_tile_value *value = &f->p->values[step->result];
  const int64_t count = elements_of(f->p, value->extent);
  value->place = (tsr_tile_place){TSR_BASE_REGISTERS,
                                  take_bytes(r, tsr_saturated_multiply(count, step->width))};
  value->placed = true;
}

static bool give_back(finishing *f, registers *r, const tsr_tile_value *value) {
  free_register *entry = tsr_arena_alloc(&f->p->arena, sizeof *entry);
  if (!entry) return !(f->failed = true);
  const int index = __builtin_ctz((unsigned)tsr_tile_register_bytes(value->dtype));
  *entry = (free_register){r->free[index], value->place.offset};
  r->free[index] = entry;
  return true;
}

static void place_shared(finishing *f, registers *r, const tsr_tile_step *step) {
  const int index = __builtin_ctz((unsigned)step->width);
  free_register *entry = r->free[index];
  if (!entry) {
    place_alone(f, r, step);
    return;
  }
  r->free[index] = entry->next;
  f->p->values[step->result].place = (tsr_tile_place){TSR_BASE_REGISTERS, entry->offset};
  f->p->values[step->result].placed = true;
}

static bool is_shared(const tsr_tile_value *value) { return value->extent == TSR_EXTENT_ALL; }

static void free_operands(finishing *f, registers *r, const tsr_tile_step *step, int64_t at,
                          int width) {
  for (int k = 0; k < step->operand_count; k++) {
    tsr_tile_value *value = &f->p->values[step->operands[k]];
    const bool fits = tsr_tile_register_bytes(value->dtype) == width;
    if (!value->placed || !is_shared(value) || value->last != at || (width && !fits)) continue;
    if (value->place.base == TSR_BASE_REGISTERS && !give_back(f, r, value)) return;
    value->placed = false;
  }
}

static void find_last(finishing *f, tsr_tile_step *list, int64_t count, bool once) {
  for (int64_t i = 0; i < count; i++)
    for (int k = 0; k < list[i].operand_count; k++)
      f->p->values[list[i].operands[k]].last = once ? -1 : (int)i;
}

// The store whose memory a value can be computed in; NULL = none.
static const tsr_tile_step *direct_store(const finishing *f, int64_t at) {
  const tsr_tile_program *p = f->p;
  const tsr_tile_step *step = &f->steps[at];
  const tsr_tile_value *value = &p->values[step->result];
  if (!is_shared(value)) return NULL;
  if (p->mode == TSR_TILE_MODE_PHASED && value->phases != UINT64_C(1) << p->levels) return NULL;
  if (value->store < 0) return NULL;
  const tsr_tile_step *store = &f->steps[value->store];
  const tsr_tile_stream *s = &p->streams[store->stream_base - TSR_BASE_STREAMS];
  const bool fits = s->direct && !s->is_large && s->extent == TSR_EXTENT_ALL &&
                    !tsr_tile_is_narrow_float(s->dtype);
  return fits && !is_read_later(f, s, at + 1) ? store : NULL;
}

static void place_values(finishing *f, registers *r) {
  tsr_tile_program *p = f->p;
  for (int64_t i = 0; i < p->value_count; i++) {
    tsr_tile_value *value = &p->values[i];
    value->store = -1;
    if (value->kind == TSR_TILE_CONSTANT)
      value->place = (tsr_tile_place){TSR_BASE_CONSTANTS, value->element};
    else if (is_alias(p, value))
      value->place = (tsr_tile_place){TSR_BASE_STREAMS + value->stream, 0};
  }
  for (int64_t i = f->step_count - 1; i >= 0; i--)
    if (f->steps[i].result < 0) p->values[f->steps[i].operands[0]].store = (int)i;
  for (int64_t i = 0; i < f->once_count; i++) place_alone(f, r, &f->once[i]);
  for (int64_t i = 0; i < f->step_count; i++) {
    tsr_tile_step *step = &f->steps[i];
    // Loops may write over an operand of equal width; actions may not.
    if (step->loop) free_operands(f, r, step, i, step->width);
    if (step->result >= 0) {
      const tsr_tile_step *store = direct_store(f, i);
      tsr_tile_value *value = &p->values[step->result];
      if (store) {
        value->place = (tsr_tile_place){store->stream_base, 0};
        value->placed = true;
      } else if (is_shared(value)) {
        place_shared(f, r, step);
      } else {
        place_alone(f, r, step);
      }
    }
    free_operands(f, r, step, i, 0);
  }
}

// Stores of what was computed in the memory of the output are done.
static void drop_stores(finishing *f) {
  int64_t kept = 0;
  for (int64_t i = 0; i < f->step_count; i++) {
    const tsr_tile_step *step = &f->steps[i];
    const bool done =
        step->result < 0 && f->p->values[step->operands[0]].place.base == step->stream_base;
    if (!done) f->steps[kept++] = *step;
  }
  f->step_count = kept;
}

static void link_steps(finishing *f, tsr_tile_step *list, int64_t count) {
  tsr_tile_program *p = f->p;
  for (int64_t i = 0; i < count; i++) {
    tsr_tile_step *step = &list[i];
    for (int k = 0; k < step->operand_count; k++) step->in[k] = p->values[step->operands[k]].place;
    if (step->result < 0) {
      step->stream = &p->streams[step->stream_base - TSR_BASE_STREAMS];
      continue;
    }
    step->value = &p->values[step->result];
    step->out = step->value->place;
    if (step->value->kind == TSR_TILE_LOAD || step->value->kind == TSR_TILE_INDEX) {
      step->stream = &p->streams[step->value->stream];
      step->stream_base = TSR_BASE_STREAMS + step->value->stream;
    }
  }
}

// ---- phases ----

static void mark_phase(tsr_tile_program *p, int phase) {
  const uint64_t bit = UINT64_C(1) << phase;
  for (int64_t i = 0; phase == p->levels && i < p->stream_count; i++)
    if (p->streams[i].is_output) p->values[p->streams[i].value].phases |= bit;
  for (int64_t i = 0; phase == p->levels && i < p->fold_count; i++)
    p->values[p->folds[i].value].phases |= bit;
  for (int64_t i = p->value_count - 1; i >= 0; i--) {
    tsr_tile_value *value = &p->values[i];
    const bool reduce = value->kind == TSR_TILE_REDUCE && value->used;
    if (reduce && value->level == phase + 1) value->phases |= bit;
    // A reduction of an earlier phase is there already.
    if (!(value->phases & bit) || (reduce && value->level <= phase)) continue;
    for (int k = 0; k < value->operand_count; k++) p->values[value->operands[k]].phases |= bit;
  }
}

// ---- finishing ----

static int64_t fold_levels(const tsr_tile_program *p) {
  return 66 - __builtin_clzll((unsigned long long)p->task_rows | 1);
}

static void place_folds(finishing *f, registers *r) {
  tsr_tile_program *p = f->p;
  for (int64_t i = 0; i < p->fold_count; i++) {
    tsr_tile_folding *fold = &p->folds[i];
    const int bytes = tsr_tile_register_bytes(fold->dtype);
    fold->width = bytes;
    fold->pitch = aligned(p->tile_columns * bytes);
    fold->levels = take_bytes(
        r, tsr_saturated_multiply(fold_levels(p) + (p->row_tasks > 1 ? 8 : 0), fold->pitch));
    if (p->row_tasks < 2) continue;
    fold->partial = p->temp_bytes;
    const int64_t rows = tsr_saturated_multiply(p->batches, p->row_tasks);
    p->temp_bytes = tsr_saturated_add(
        p->temp_bytes,
        aligned(tsr_saturated_multiply(tsr_saturated_multiply(rows, p->columns), bytes)));
  }
}

static int64_t count_flops(const tsr_tile_program *p) {
  int64_t flops = 0;
  for (int64_t i = 0; i < p->value_count; i++) {
    const tsr_tile_value *value = &p->values[i];
    const bool reduce = value->kind == TSR_TILE_REDUCE;
    if (!value->used || (value->kind != TSR_TILE_APPLY && !reduce)) continue;
    const tsr_tile_extent extent = reduce ? TSR_EXTENT_ALL : value->extent;
    int64_t count = extent & TSR_EXTENT_ROW ? p->rows : 1;
    if (extent & TSR_EXTENT_COLUMN) count = tsr_saturated_multiply(count, p->columns);
    flops = tsr_saturated_add(flops, count);
  }
  for (int64_t i = 0; i < p->fold_count; i++)
    flops = tsr_saturated_add(flops, tsr_saturated_multiply(p->rows, p->columns));
  return flops;
}

static void emit_all(finishing *f) {
  tsr_tile_program *p = f->p;
  const int64_t written = p->value_count;
  for (int64_t i = 0; i < written && !f->failed; i++) {
    const tsr_tile_value *value = &p->values[i];
    // Loads and constants come before their first user.
    if (value->used && value->operand_count) emit(f, (int)i);
  }
  for (int64_t i = 0; i < p->fold_count && !f->failed; i++) {
    emit(f, p->folds[i].value);
    p->folds[i].value = spread_to(f, p->values[p->folds[i].value].same, TSR_EXTENT_ALL);
  }
  // What is loaded to be stored is loaded before the first store.
  for (int64_t i = 0; i < p->stream_count && !f->failed; i++)
    if (p->streams[i].is_output) emit(f, p->streams[i].value);
  for (int64_t i = 0; i < p->stream_count && !f->failed; i++)
    if (p->streams[i].is_output) emit_store(f, i);
}

// Values before they become steps, and loads that are stored as they are: these are copied to a
// register if another store might come first.
static void prepare(tsr_tile_program *p) {
  int outputs = 0;
  for (int64_t i = 0; i < p->value_count; i++) {
    tsr_tile_value *value = &p->values[i];
    value->same = (int)i;
    if (value->operand_count) value->from = p->values[value->operands[0]].dtype;
  }
  for (int64_t i = 0; i < p->stream_count; i++) {
    tsr_tile_stream *s = &p->streams[i];
    s->direct = is_direct(p, s, s->extent);
    outputs += s->is_output;
    s->is_large = s->is_output && s->extent == TSR_EXTENT_ALL &&
                  p->rows * p->columns >= LARGE / tsr_tile_memory_bytes(s->dtype);
    if (!s->is_output) continue;
    int id = s->value;
    while (p->values[id].operand_count && is_same(&p->values[id])) id = p->values[id].operands[0];
    if (p->values[id].kind == TSR_TILE_LOAD) p->streams[p->values[id].stream].copied = true;
  }
  for (int64_t i = 0; outputs < 2 && i < p->stream_count; i++) p->streams[i].copied = false;
}

static void list_addresses(finishing *f) {
  tsr_tile_program *p = f->p;
  p->addresses = tsr_arena_zeros(&p->arena, (size_t)p->stream_count + 1, sizeof *p->addresses);
  f->failed = !p->addresses;
  for (int64_t i = 0; !f->failed && i < p->stream_count; i++) {
    const tsr_tile_stream *s = &p->streams[i];
    if (!s->direct || !s->used || s->is_index) continue;
    const int64_t bytes = tsr_tile_memory_bytes(s->dtype);
    p->addresses[p->address_count++] =
        (tsr_tile_address){.base = TSR_BASE_STREAMS + (int)i,
                           .argument = s->argument,
                           .is_output = s->is_output,
                           .simple = p->outer <= 1 && p->rank - p->outer <= 1,
                           .bytes = (int)bytes,
                           .offset = s->offset * bytes,
                           .row_step = p->outer ? s->steps[p->outer - 1] * bytes : 0,
                           .column_step = p->rank > p->outer ? s->steps[p->rank - 1] * bytes : 0,
                           .stream = s};
  }
}

static void lay_out(finishing *f) {
  tsr_tile_program *p = f->p;
  registers r = {.used = aligned(p->base_count * (int64_t)sizeof(char *))};
  find_last(f, f->once, f->once_count, true);
  find_last(f, f->steps, f->step_count, false);
  // What is folded is read after the last step.
  for (int64_t i = 0; i < p->fold_count; i++) p->values[p->folds[i].value].last = INT32_MAX;
  place_values(f, &r);
  drop_stores(f);
  link_steps(f, f->once, f->once_count);
  link_steps(f, f->steps, f->step_count);
  list_addresses(f);
  // Elements as they are in memory, and columns of rows that are reduced in order.
  p->raw_place = take_bytes(&r, tsr_saturated_multiply(16, p->tile_rows) +
                                    tsr_saturated_multiply(2, p->tile_rows * p->tile_columns));
  place_folds(f, &r);
  if (p->mode == TSR_TILE_MODE_PHASED) {
    p->carry_place = take_bytes(&r, 64 * 16 * (int64_t)p->reductions);
    p->temp_bytes = tsr_saturated_multiply(tsr_saturated_multiply(p->rows, p->column_tasks),
                                           16 * (int64_t)p->reductions);
  }
  p->scratch_bytes = aligned(r.used);
}

tsr_status tsr_tile_finish(tsr_tile_program *program) {
  tsr_tile_program *p = program;
  if (p->failure) {
    tsr_status failure = p->failure;
    p->failure = NULL;
    p->finished = true;
    return failure;
  }
  tsr_tile_join_dims(p);
  tsr_tile_choose_size(p);
  if (p->mode == TSR_TILE_MODE_PHASED)
    for (int i = 0; i <= p->levels; i++) mark_phase(p, i);
  finishing f = {.p = p, .hoists = p->tile_columns >= p->columns || p->fold_count > 0};
  prepare(p);
  p->base_count = TSR_BASE_STREAMS + (int)p->stream_count;
  emit_all(&f);
  if (!f.failed) lay_out(&f);
  if (f.failed)
    return tsr_fail(NO_MEMORY, "tile program of %lld values", (long long)p->value_count);
  p->once = f.once, p->once_count = f.once_count;
  p->steps = f.steps, p->step_count = f.step_count;
  p->flops = count_flops(p);
  p->finished = true;
  if (p->scratch_bytes > INT64_MAX / 4096 || p->temp_bytes > INT64_MAX / 4)
    return tsr_fail(TOO_LARGE, "tile program with rows of %lld elements", (long long)p->columns);
  return NULL;
}

int64_t tsr_tile_scratch_bytes(const tsr_tile_program *program) { return program->scratch_bytes; }
int64_t tsr_tile_temp_bytes(const tsr_tile_program *program) { return program->temp_bytes; }
int64_t tsr_tile_flops(const tsr_tile_program *program) { return program->flops; }
