// Shardy's collectives: what they do to the sharding of their operand must give out_sharding.
//
// Each op says which axes it takes off the end of a dimension (all_gather), adds there (all_slice),
// moves (all_to_all), or reduces. The sharding that results is computed as lists of axis parts and
// compared.
#include "base/arithmetic.h"
#include "verify/sdy_checks.h"

// The shardings around an op. An operand without one counts as replicated.
typedef struct sdy_step {
  tsr_ir *ir;
  const tsr_op *op;
  const tsr_attr *mesh, *from, *to;  // `from` may be NULL
  int rank;
  tsr_arena arena;
} sdy_step;

static const tsr_attr *dim_axes(const tsr_attr *sharding, int dim) {
  return tsr_attr_field(tsr_attr_field(sharding, TSR_SDY_SHARDING_DIMS)->items[dim],
                        TSR_SDY_DIM_AXES);
}

// The axes of a dimension, with room for `extra` more.
static tsr_status list_dim(sdy_step *step, const tsr_attr *sharding, int dim, int64_t extra,
                           tsr_sdy_parts *out_parts) {
  const tsr_attr *axes = sharding ? dim_axes(sharding, dim) : NULL;
  const size_t count = (size_t)((axes ? axes->count : 0) + extra + 1);
  tsr_sdy_parts parts = {tsr_arena_zeros(&step->arena, count, sizeof *parts.items), 0};
  TSR_NEED(parts.items);
  if (axes) TSR_TRY_NOTE(tsr_sdy_parts_add(step->mesh, axes, &parts), "%s", step->op->name);
  *out_parts = parts;
  return NULL;
}

static tsr_status list_axes(sdy_step *step, const tsr_attr *axes, tsr_sdy_parts *out_parts) {
  TSR_TRY_NOTE(tsr_sdy_parts_make(&step->arena, step->mesh, axes, out_parts), "%s", step->op->name);
  return NULL;
}

static tsr_status check_dim_result(sdy_step *step, int dim, const tsr_sdy_parts *wanted) {
  tsr_sdy_parts found = {0};
  TSR_TRY(list_dim(step, step->to, dim, 0, &found));
  if (tsr_sdy_parts_equal(&found, wanted)) return NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_addf(&text, "%s: out_sharding has ", step->op->name);
  tsr_sdy_parts_print(step->mesh, &found, &text);
  tsr_text_addf(&text, " at dimension %d, expected ", dim);
  tsr_sdy_parts_print(step->mesh, wanted, &text);
  return tsr_fail_text(TSR_CAUSE_CONSTRAINT, &text);
}

// ---- what happens to the axes of a dimension

// Takes the axes off the end.
static tsr_status gather_dim(sdy_step *step, int dim, const tsr_sdy_parts *axes,
                             tsr_sdy_parts *parts) {
  for (int64_t i = axes->count - 1; i >= 0; i--) {
    if (tsr_sdy_parts_take(parts, &axes->items[i])) continue;
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_text_addf(&text, "%s: axis ", step->op->name);
    tsr_sdy_part_print(step->mesh, &axes->items[i], &text);
    tsr_text_addf(&text, " is not at the end of dimension %d of the operand, which has ", dim);
    tsr_sdy_parts_print(step->mesh, parts, &text);
    return tsr_fail_text(TSR_CAUSE_CONSTRAINT, &text);
  }
  return NULL;
}

static void slice_dim(sdy_step *step, const tsr_sdy_parts *axes, tsr_sdy_parts *parts) {
  for (int64_t i = 0; i < axes->count; i++) tsr_sdy_parts_append(step->mesh, parts, axes->items[i]);
}

// All axes of lists, which must not overlap.
static tsr_status check_lists_distinct(sdy_step *step, const tsr_attr *lists) {
  int64_t count = 0;
  for (int64_t i = 0; i < lists->count; i++)
    count += tsr_attr_field(lists->items[i], TSR_SDY_AXIS_LIST_AXES)->count;
  tsr_sdy_parts all = {tsr_arena_zeros(&step->arena, (size_t)count + 1, sizeof *all.items), 0};
  TSR_NEED(all.items);
  for (int64_t i = 0; i < lists->count; i++)
    TSR_TRY_NOTE(tsr_sdy_parts_add(step->mesh,
                                   tsr_attr_field(lists->items[i], TSR_SDY_AXIS_LIST_AXES), &all),
                 "%s", step->op->name);
  TSR_TRY_NOTE(tsr_sdy_parts_distinct(step->mesh, &all), "%s", step->op->name);
  return NULL;
}

static tsr_status check_lists(sdy_step *step, const char *name, bool gathers) {
  const tsr_attr *lists = tsr_attr_field(tsr_op_attr(step->op, name), TSR_SDY_AXIS_LISTS_LISTS);
  TSR_TRY(check_lists_distinct(step, lists));
  TSR_ASK(lists->count == step->rank, step->op, "", "%s has %lld dimensions, expected %d", name,
          (long long)lists->count, step->rank);
  for (int i = 0; i < step->rank; i++) {
    tsr_sdy_parts axes = {0}, parts = {0};
    TSR_TRY(list_axes(step, tsr_attr_field(lists->items[i], TSR_SDY_AXIS_LIST_AXES), &axes));
    TSR_TRY(list_dim(step, step->from, i, axes.count, &parts));
    if (gathers)
      TSR_TRY(gather_dim(step, i, &axes, &parts));
    else
      slice_dim(step, &axes, &parts);
    TSR_TRY(check_dim_result(step, i, &parts));
  }
  return NULL;
}

// ---- unreduced axes

static tsr_status list_unreduced(sdy_step *step, const tsr_attr *sharding, int64_t extra,
                                 tsr_sdy_parts *out_parts) {
  const tsr_attr *axes = sharding ? tsr_attr_field(sharding, TSR_SDY_SHARDING_UNREDUCED) : NULL;
  const size_t count = (size_t)((axes ? axes->count : 0) + extra + 1);
  tsr_sdy_parts parts = {tsr_arena_zeros(&step->arena, count, sizeof *parts.items), 0};
  TSR_NEED(parts.items);
  if (axes) TSR_TRY_NOTE(tsr_sdy_parts_add(step->mesh, axes, &parts), "%s", step->op->name);
  *out_parts = parts;
  return NULL;
}

// Whether some part of `a` is not in `b`; both are joined.
static bool exceeds(const tsr_sdy_parts *a, const tsr_sdy_parts *b) {
  for (int64_t i = 0; i < a->count; i++) {
    bool inside = false;
    for (int64_t j = 0; !inside && j < b->count; j++)
      inside = a->items[i].axis == b->items[j].axis && a->items[i].pre >= b->items[j].pre &&
               tsr_sdy_end(&a->items[i]) <= tsr_sdy_end(&b->items[j]);
    if (!inside) return true;
  }
  return false;
}

static bool any_overlap(const tsr_sdy_parts *a, const tsr_sdy_parts *b) {
  for (int64_t i = 0; i < a->count; i++)
    for (int64_t j = 0; j < b->count; j++)
      if (tsr_sdy_overlap(&a->items[i], &b->items[j])) return true;
  return false;
}

static const char *reduction_name(int reduction) {
  const char *name = tsr_enum_name(TSR_ENUM_SDY_REDUCTION, reduction);
  return name ? name : "none";
}

static tsr_status check_transition(sdy_step *step, int added, int removed) {
  const int from_op = (int)tsr_attr_field(step->from, TSR_SDY_SHARDING_REDUCTION)->integer;
  const int to_op = (int)tsr_attr_field(step->to, TSR_SDY_SHARDING_REDUCTION)->integer;
  tsr_sdy_parts from = {0}, to = {0};
  TSR_TRY(list_unreduced(step, step->from, 0, &from));
  TSR_TRY(list_unreduced(step, step->to, 0, &to));
  tsr_sdy_parts_join(step->mesh, &from);
  tsr_sdy_parts_join(step->mesh, &to);
  if (exceeds(&to, &from)) {
    TSR_ASK(added >= 0, step->op, "",
            "out_sharding has unreduced axes that the operand does not have");
    TSR_ASK(to_op == added, step->op, "", "adds unreduced axes of %s, expected %s",
            reduction_name(to_op), reduction_name(added));
  }
  if (exceeds(&from, &to))
    TSR_ASK(from_op == removed, step->op, "", "reduces unreduced axes of %s, expected %s",
            reduction_name(from_op), reduction_name(removed));
  TSR_ASK(from_op == to_op || !any_overlap(&from, &to), step->op, "",
          "changes the reduction of unreduced axes from %s to %s", reduction_name(from_op),
          reduction_name(to_op));
  return NULL;
}

tsr_status tsr_check_unreduced(tsr_ir *ir, const tsr_op *op, const tsr_attr *from,
                               const tsr_attr *to, int added, int removed) {
  const tsr_attr *mesh = tsr_sdy_mesh_of(ir, op, to), *other = tsr_sdy_mesh_of(ir, op, from);
  if (!mesh || !other || !tsr_attr_equal(mesh, other)) return NULL;
  sdy_step step = {.ir = ir, .op = op, .mesh = mesh, .from = from, .to = to};
  const tsr_status status = check_transition(&step, added, removed);
  tsr_arena_deinit(&step.arena);
  return status;
}

// ---- the single ops

// What all of them ask; then `check` asks the rest.
typedef tsr_status sdy_check(sdy_step *step);

static tsr_status check_common(sdy_step *step, bool may_miss, bool may_differ) {
  const tsr_op *op = step->op;
  TSR_ASK(step->from || may_miss, op, "", "the operand has no sharding");
  TSR_TRY(tsr_check_sharding(step->ir, op, step->to, tsr_operand_type(op, 0), "out_sharding"));
  step->mesh = tsr_sdy_mesh_of(step->ir, op, step->to);
  step->rank = (int)tsr_attr_field(step->to, TSR_SDY_SHARDING_DIMS)->count;
  if (!step->from) return NULL;
  const tsr_attr *mesh = tsr_sdy_mesh_of(step->ir, op, step->from);
  TSR_ASK(may_differ || (mesh && tsr_attr_equal(mesh, step->mesh)), op, "",
          "out_sharding is bound to another mesh than the sharding of the operand");
  TSR_ASK(mesh && tsr_attr_field(step->from, TSR_SDY_SHARDING_DIMS)->count == step->rank, op, "",
          "out_sharding has %d dimensions, expected those of the operand", step->rank);
  return NULL;
}

static tsr_status check_collective(tsr_ir *ir, const tsr_op *op, bool may_miss, bool may_differ,
                                   sdy_check *check) {
  sdy_step step = {.ir = ir, .op = op, .to = tsr_op_attr(op, "out_sharding")};
  tsr_status status = tsr_value_sharding(ir, tsr_op_operand(op, 0), &step.from);
  if (!status) status = check_common(&step, may_miss, may_differ);
  if (!status) status = check(&step);
  tsr_arena_deinit(&step.arena);
  return status;
}

static tsr_status check_all_gather(sdy_step *step) {
  return check_lists(step, "gathering_axes", true);
}

tsr_status tsr_verify_sdy_all_gather(tsr_ir *ir, const tsr_op *op) {
  return check_collective(ir, op, false, false, check_all_gather);
}

static tsr_status check_all_slice(sdy_step *step) {
  return check_lists(step, "slicing_axes", false);
}

tsr_status tsr_verify_sdy_all_slice(tsr_ir *ir, const tsr_op *op) {
  return check_collective(ir, op, true, false, check_all_slice);
}

static tsr_status check_params(sdy_step *step, const tsr_attr *params, bool *moved) {
  int64_t previous = -1;
  TSR_ASK(params->count, step->op, "", "params is empty");
  for (int64_t i = 0; i < params->count; i++) {
    const int64_t dims[2] = {tsr_record_int(params->items[i], TSR_SDY_ALL_TO_ALL_SOURCE),
                             tsr_record_int(params->items[i], TSR_SDY_ALL_TO_ALL_TARGET)};
    for (int j = 0; j < 2; j++) {
      TSR_ASK(dims[j] >= 0 && dims[j] < step->rank, step->op, "",
              "params has the dimension %lld, expected 0 or more and less than %d",
              (long long)dims[j], step->rank);
      TSR_ASK(!moved[dims[j]], step->op, "", "params has the dimension %lld twice",
              (long long)dims[j]);
      moved[dims[j]] = true;
    }
    TSR_ASK(dims[0] > previous, step->op, "",
            "source dimension %lld follows %lld, expected ascending", (long long)dims[0],
            (long long)previous);
    previous = dims[0];
  }
  return NULL;
}

static tsr_status check_move(sdy_step *step, const tsr_attr *param) {
  const int source = (int)tsr_record_int(param, TSR_SDY_ALL_TO_ALL_SOURCE);
  const int target = (int)tsr_record_int(param, TSR_SDY_ALL_TO_ALL_TARGET);
  tsr_sdy_parts axes = {0}, parts = {0};
  TSR_TRY(list_axes(step, tsr_attr_field(param, TSR_SDY_ALL_TO_ALL_AXES), &axes));
  TSR_TRY(list_dim(step, step->from, source, 0, &parts));
  TSR_TRY(gather_dim(step, source, &axes, &parts));
  TSR_TRY(check_dim_result(step, source, &parts));
  TSR_TRY(list_dim(step, step->from, target, axes.count, &parts));
  slice_dim(step, &axes, &parts);
  return check_dim_result(step, target, &parts);
}

static tsr_status check_all_to_all(sdy_step *step) {
  const tsr_attr *params =
      tsr_attr_field(tsr_op_attr(step->op, "params"), TSR_SDY_ALL_TO_ALLS_PARAMS);
  bool *moved = tsr_arena_zeros(&step->arena, (size_t)step->rank + 1, sizeof *moved);
  TSR_NEED(moved);
  TSR_TRY(check_params(step, params, moved));
  for (int64_t i = 0; i < params->count; i++) TSR_TRY(check_move(step, params->items[i]));
  for (int i = 0; i < step->rank; i++) {
    tsr_sdy_parts parts = {0};
    if (moved[i]) continue;
    TSR_TRY(list_dim(step, step->from, i, 0, &parts));
    TSR_TRY(check_dim_result(step, i, &parts));
  }
  return NULL;
}

tsr_status tsr_verify_sdy_all_to_all(tsr_ir *ir, const tsr_op *op) {
  return check_collective(ir, op, false, false, check_all_to_all);
}

static int64_t sharded_size(const tsr_sdy_parts *parts) {
  int64_t size = 1;
  for (int64_t i = 0; i < parts->count; i++)
    size = tsr_saturated_multiply(size, parts->items[i].size);
  return size;
}

static tsr_status check_permute(sdy_step *step) {
  const tsr_attr *mesh = tsr_sdy_mesh_of(step->ir, step->op, step->from);
  const bool renamed = !tsr_attr_equal(tsr_attr_field(step->from, TSR_SDY_SHARDING_MESH),
                                       tsr_attr_field(step->to, TSR_SDY_SHARDING_MESH));
  TSR_ASK(tsr_attr_equal(tsr_attr_field(mesh, TSR_SDY_MESH_AXES),
                         tsr_attr_field(step->mesh, TSR_SDY_MESH_AXES)),
          step->op, "", "the mesh of out_sharding has other axes than that of the operand");
  TSR_ASK(!renamed || !tsr_attr_equal(tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS),
                                      tsr_attr_field(step->mesh, TSR_SDY_MESH_DEVICE_IDS)),
          step->op, "",
          "the mesh of out_sharding has another name but the device ids of the operand's");
  for (int i = 0; i < step->rank; i++) {
    tsr_sdy_parts from = {0}, to = {0};
    TSR_TRY(list_dim(step, step->from, i, 0, &from));
    TSR_TRY(list_dim(step, step->to, i, 0, &to));
    TSR_ASK(sharded_size(&from) == sharded_size(&to), step->op, "",
            "out_sharding cuts dimension %d in %lld, expected %lld as the operand", i,
            (long long)sharded_size(&to), (long long)sharded_size(&from));
  }
  return NULL;
}

tsr_status tsr_verify_sdy_permute(tsr_ir *ir, const tsr_op *op) {
  return check_collective(ir, op, false, true, check_permute);
}

// ---- reductions

static tsr_status check_same_dims(sdy_step *step) {
  for (int i = 0; i < step->rank; i++) {
    tsr_sdy_parts parts = {0};
    TSR_TRY(list_dim(step, step->from, i, 0, &parts));
    TSR_TRY(check_dim_result(step, i, &parts));
  }
  return NULL;
}

static tsr_status check_apart(sdy_step *step, const tsr_sdy_parts *axes, const tsr_attr *other,
                              const char *what) {
  tsr_sdy_parts parts = {0};
  TSR_TRY(list_axes(step, other, &parts));
  TSR_ASK(!any_overlap(axes, &parts), step->op, "", "an axis overlaps with %s", what);
  return NULL;
}

static tsr_status check_apart_from_dims(sdy_step *step, const tsr_sdy_parts *axes) {
  for (int i = 0; step->from && i < step->rank; i++)
    TSR_TRY(check_apart(step, axes, dim_axes(step->from, i), "a dimension of the operand"));
  return NULL;
}

// An op's axes: in the order of the mesh, none twice.
static tsr_status list_op_axes(sdy_step *step, const char *name, tsr_sdy_parts *out_parts) {
  TSR_TRY(list_axes(step, tsr_attr_field(tsr_op_attr(step->op, name), TSR_SDY_AXIS_LIST_AXES),
                    out_parts));
  TSR_ASK(tsr_sdy_parts_sorted(out_parts), step->op, "", "%s is not in the order of the mesh",
          name);
  TSR_TRY_NOTE(tsr_sdy_parts_distinct(step->mesh, out_parts), "%s", step->op->name);
  return NULL;
}

// A missing sharding has nothing that is unreduced.
static tsr_status check_reduces(sdy_step *step) {
  const int reduction = (int)tsr_op_int(step->op, "reduction_op", TSR_SDY_REDUCTION_SUM);
  tsr_sdy_parts added = {0};
  if (step->from) return check_transition(step, -1, reduction);
  TSR_TRY(list_unreduced(step, step->to, 0, &added));
  TSR_ASK(!added.count, step->op, "",
          "out_sharding has unreduced axes that the operand does not have");
  return NULL;
}

static tsr_status check_all_reduce(sdy_step *step) {
  tsr_sdy_parts axes = {0};
  TSR_TRY(check_same_dims(step));
  TSR_TRY(list_op_axes(step, "reduction_axes", &axes));
  TSR_TRY(check_apart_from_dims(step, &axes));
  if (step->from)
    TSR_TRY(check_apart(step, &axes, tsr_attr_field(step->from, TSR_SDY_SHARDING_REPLICATED),
                        "replicated axes of the operand"));
  TSR_TRY(check_apart(step, &axes, tsr_attr_field(step->to, TSR_SDY_SHARDING_UNREDUCED),
                      "unreduced axes of the result"));
  return check_reduces(step);
}

tsr_status tsr_verify_sdy_all_reduce(tsr_ir *ir, const tsr_op *op) {
  return check_collective(ir, op, true, false, check_all_reduce);
}

static tsr_status check_reduce_scatter(sdy_step *step) {
  TSR_TRY(check_reduces(step));
  return check_lists(step, "reduce_scatter_axes", false);
}

tsr_status tsr_verify_sdy_reduce_scatter(tsr_ir *ir, const tsr_op *op) {
  return check_collective(ir, op, true, false, check_reduce_scatter);
}

// The unreduced axes of the result are those of the operand and `axes`.
static tsr_status check_gained(sdy_step *step, const tsr_sdy_parts *axes) {
  tsr_sdy_parts wanted = {0}, found = {0};
  TSR_TRY(list_unreduced(step, step->from, axes->count, &wanted));
  for (int64_t i = 0; i < axes->count; i++) wanted.items[wanted.count++] = axes->items[i];
  tsr_sdy_parts_join(step->mesh, &wanted);
  TSR_TRY(list_unreduced(step, step->to, 0, &found));
  TSR_ASK(tsr_sdy_parts_equal(&wanted, &found), step->op, "",
          "unreduced axes of out_sharding are not those of the operand and those of the op");
  return NULL;
}

static tsr_status check_sum(sdy_step *step) {
  const int64_t reduction = tsr_attr_field(step->to, TSR_SDY_SHARDING_REDUCTION)->integer;
  TSR_ASK(reduction == TSR_SDY_REDUCTION_SUM, step->op, "",
          "out_sharding reduces by %s, expected sum", reduction_name((int)reduction));
  return NULL;
}

static tsr_status check_sharded_to_unreduced(sdy_step *step) {
  const tsr_attr *lists = tsr_attr_field(tsr_op_attr(step->op, "axes"), TSR_SDY_AXIS_LISTS_LISTS);
  TSR_TRY(check_sum(step));
  TSR_TRY(check_lists(step, "axes", true));
  int64_t count = 0;
  for (int i = 0; i < step->rank; i++)
    count += tsr_attr_field(lists->items[i], TSR_SDY_AXIS_LIST_AXES)->count;
  tsr_sdy_parts all = {tsr_arena_zeros(&step->arena, (size_t)count + 1, sizeof *all.items), 0};
  TSR_NEED(all.items);
  for (int i = 0; i < step->rank; i++)
    TSR_TRY(tsr_sdy_parts_add(step->mesh, tsr_attr_field(lists->items[i], TSR_SDY_AXIS_LIST_AXES),
                              &all));
  return check_gained(step, &all);
}

tsr_status tsr_verify_sdy_to_unreduced_lists(tsr_ir *ir, const tsr_op *op) {
  return check_collective(ir, op, false, false, check_sharded_to_unreduced);
}

static tsr_status check_replicated_to_unreduced(sdy_step *step) {
  tsr_sdy_parts axes = {0};
  TSR_TRY(check_sum(step));
  TSR_ASK(tsr_attr_equal(tsr_attr_field(step->from, TSR_SDY_SHARDING_DIMS),
                         tsr_attr_field(step->to, TSR_SDY_SHARDING_DIMS)),
          step->op, "", "out_sharding has other dimensions than the sharding of the operand");
  TSR_TRY(list_op_axes(step, "axes", &axes));
  TSR_ASK(axes.count, step->op, "", "axes is empty");
  TSR_TRY(check_apart_from_dims(step, &axes));
  TSR_TRY(check_apart(step, &axes, tsr_attr_field(step->from, TSR_SDY_SHARDING_UNREDUCED),
                      "unreduced axes of the operand"));
  return check_gained(step, &axes);
}

tsr_status tsr_verify_sdy_to_unreduced(tsr_ir *ir, const tsr_op *op) {
  return check_collective(ir, op, false, false, check_replicated_to_unreduced);
}
