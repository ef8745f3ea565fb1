// Groups of processes: ids are read as rows, and each row becomes groups in the way of the op.
#include "processes/process_groups.h"

#include <assert.h>

#include "base/arithmetic.h"
#include "verify/group_checks.h"

// ---- ids as they are written ----

typedef struct id_rows {
  int64_t row_count;
  const int64_t *starts;  // row_count + 1
  const int64_t *ids;
} id_rows;

// -1 fills short rows.
static tsr_status rows_of_ids(tsr_arena *arena, const tsr_attr *groups, id_rows *out) {
  const int64_t rows = groups->type->dims[0], columns = groups->type->dims[1];
  int64_t *starts = tsr_arena_zeros(arena, (size_t)rows + 1, sizeof *starts);
  int64_t *ids = tsr_arena_zeros(arena, (size_t)tsr_attr_int_count(groups) + 1, sizeof *ids);
  TSR_NEED(starts && ids ? ids : NULL);
  int64_t count = 0;
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) {
      const int64_t id = tsr_attr_int_at(groups, i * columns + j);
      if (id >= 0) ids[count++] = id;
    }
    starts[i + 1] = count;
  }
  *out = (id_rows){rows, starts, ids};
  return NULL;
}

static tsr_status row_of_all(tsr_arena *arena, int64_t count, id_rows *out) {
  int64_t *starts = tsr_arena_zeros(arena, 2, sizeof *starts);
  int64_t *ids = tsr_arena_zeros(arena, (size_t)count + 1, sizeof *ids);
  TSR_NEED(starts && ids ? ids : NULL);
  for (int64_t i = 0; i < count; i++) ids[i] = i;
  starts[1] = count;
  *out = (id_rows){1, starts, ids};
  return NULL;
}

// ---- ids as axes of a mesh ----

// The records of StableHLO and of Shardy have the same fields in the same places.
static_assert((int)TSR_MESH_AXES == (int)TSR_SDY_MESH_AXES &&
                  (int)TSR_MESH_DEVICE_IDS == (int)TSR_SDY_MESH_DEVICE_IDS &&
                  (int)TSR_MESH_AXIS_NAME == (int)TSR_SDY_MESH_AXIS_NAME &&
                  (int)TSR_MESH_AXIS_SIZE == (int)TSR_SDY_MESH_AXIS_SIZE,
              "one reader for both kinds of meshes");

static const tsr_attr *mesh_of(const tsr_ir *ir, const tsr_attr *groups) {
  static const char *const names[] = {"mesh", "stablehlo.mesh"};
  const tsr_attr *mesh = tsr_attr_field(groups, TSR_GROUP_AXES_MESH);
  const tsr_op *op = mesh->kind == TSR_ATTR_SYMBOL ? tsr_ir_find_symbol(ir, mesh->bytes) : NULL;
  for (size_t i = 0; op && i < sizeof names / sizeof *names; i++)
    if (tsr_op_attr(op, names[i])) mesh = tsr_op_attr(op, names[i]);
  const bool known = mesh->kind == TSR_ATTR_RECORD &&
                     (mesh->id == (int)TSR_RECORD_MESH || mesh->id == (int)TSR_RECORD_SDY_MESH);
  return known ? mesh : NULL;
}

// Digits of the positions on a mesh: position / stride % size.
typedef struct mesh_digit {
  int64_t stride, size;
} mesh_digit;

static tsr_status digit_of(const tsr_op *op, const tsr_attr *axes, const tsr_attr *ref,
                           mesh_digit *out) {
  const tsr_attr *name = tsr_attr_field(ref, TSR_AXIS_REF_NAME);
  const tsr_attr *sub = tsr_attr_field(ref, TSR_AXIS_REF_SUB_AXIS);
  int64_t stride = 1;
  for (int64_t i = axes->count - 1; i >= 0; i--) {
    const int64_t size = tsr_attr_field(axes->items[i], TSR_MESH_AXIS_SIZE)->integer;
    if (!tsr_attr_equal(tsr_attr_field(axes->items[i], TSR_MESH_AXIS_NAME), name)) {
      stride = tsr_saturated_multiply(stride, size);
      continue;
    }
    *out = (mesh_digit){stride, size};
    if (!sub) return NULL;
    const int64_t before = tsr_attr_field(sub, TSR_SUB_AXIS_PRE_SIZE)->integer;
    out->size = tsr_attr_field(sub, TSR_SUB_AXIS_SIZE)->integer;
    const int64_t taken = before > 0 ? tsr_saturated_multiply(before, out->size) : 0;
    TSR_ASK(taken > 0 && size % taken == 0, op, "",
            "replica_groups: the part (%lld)%lld of axis %s, which has size %lld",
            (long long)before, (long long)out->size, SHOW_ATTR(name), (long long)size);
    out->stride = tsr_saturated_multiply(stride, size / taken);
    return NULL;
  }
  TSR_VIOLATES(op, "", "replica_groups: axis %s is not an axis of the mesh", SHOW_ATTR(name));
}

// Digits that share a factor of the positions: an axis that is named twice.
static bool overlap(const mesh_digit *a, const mesh_digit *b) {
  return a->stride < tsr_saturated_multiply(b->stride, b->size) &&
         b->stride < tsr_saturated_multiply(a->stride, a->size);
}

static tsr_status read_digits(const tsr_op *op, const tsr_attr *axes, const tsr_attr *refs,
                              mesh_digit *digits, int64_t *out_size) {
  *out_size = 1;
  for (int64_t i = 0; i < refs->count; i++) {
    TSR_TRY(digit_of(op, axes, refs->items[i], &digits[i]));
    *out_size = tsr_saturated_multiply(*out_size, digits[i].size);
    for (int64_t k = 0; k < i; k++)
      TSR_ASK(!overlap(&digits[i], &digits[k]), op, "",
              "replica_groups: two of the axes %s overlap", SHOW_ATTR(refs));
  }
  return NULL;
}

static int64_t device_count(const tsr_attr *axes) {
  int64_t count = 1;
  for (int64_t i = 0; i < axes->count; i++)
    count =
        tsr_saturated_multiply(count, tsr_attr_field(axes->items[i], TSR_MESH_AXIS_SIZE)->integer);
  return count;
}

// The place of a position in its group, the first axis counting most; and the first position of the
// group, where all digits of its axes are 0.
static int64_t place_of(const mesh_digit *digits, int64_t count, int64_t position,
                        int64_t *out_first) {
  int64_t place = 0;
  *out_first = position;
  for (int64_t i = 0; i < count; i++) {
    const int64_t digit = position / digits[i].stride % digits[i].size;
    place = place * digits[i].size + digit;
    *out_first -= digit * digits[i].stride;
  }
  return place;
}

// The processes of a group differ in the digits of its axes only.
static tsr_status rows_of_axes(const tsr_ir *ir, tsr_arena *arena, const tsr_op *op,
                               const tsr_attr *groups, int64_t most, id_rows *out) {
  const tsr_attr *mesh = mesh_of(ir, groups), *refs = tsr_attr_field(groups, TSR_GROUP_AXES_AXES);
  TSR_ASK(mesh, op, "", "replica_groups: the mesh of %s is not known", SHOW_ATTR(groups));
  const tsr_attr *axes = tsr_attr_field(mesh, TSR_MESH_AXES);
  const tsr_attr *ids = tsr_attr_field(mesh, TSR_MESH_DEVICE_IDS);
  const int64_t devices = device_count(axes);
  TSR_ASK(devices > 0 && devices <= most, op, "",
          "replica_groups: the mesh has %lld devices, the run has %lld", (long long)devices,
          (long long)most);
  int64_t size = 1, used = 0;
  mesh_digit *digits = tsr_arena_zeros(arena, (size_t)refs->count + 1, sizeof *digits);
  int64_t *starts = tsr_arena_zeros(arena, (size_t)devices + 1, sizeof *starts);
  int64_t *list = tsr_arena_zeros(arena, (size_t)devices, sizeof *list);
  int64_t *rows = tsr_arena_zeros(arena, (size_t)devices, sizeof *rows);  // of first positions
  TSR_NEED(digits && starts && list && rows ? list : NULL);
  TSR_TRY(read_digits(op, axes, refs, digits, &size));
  for (int64_t position = 0; position < devices; position++) {
    int64_t first = 0;
    const int64_t place = place_of(digits, refs->count, position, &first);
    if (first == position) {
      rows[position] = used++;
      starts[used] = used * size;
    }
    list[rows[first] * size + place] =
        position < tsr_attr_int_count(ids) ? tsr_attr_int_at(ids, position) : position;
  }
  *out = (id_rows){used, starts, list};
  return NULL;
}

// ---- the four ways ----

typedef enum grouping {
  CROSS_REPLICA,
  CROSS_PARTITION,
  CROSS_REPLICA_AND_PARTITION,
  FLATTENED_IDS
} grouping;

static grouping grouping_of(const tsr_op *op) {
  const bool channel = tsr_channel_id(op) > 0;
  switch (op->info->id) {
    case TSR_OP_ALL_TO_ALL:
    case TSR_OP_COLLECTIVE_BROADCAST:
    case TSR_OP_COLLECTIVE_PERMUTE:
      return channel ? CROSS_PARTITION : CROSS_REPLICA;
    default:
      if (tsr_op_flag(op, "use_global_device_ids")) return FLATTENED_IDS;
      return channel ? CROSS_REPLICA_AND_PARTITION : CROSS_REPLICA;
  }
}

static int id_limit(grouping way, tsr_process_grid grid) {
  if (way == FLATTENED_IDS) return tsr_process_count(grid);
  return way == CROSS_PARTITION ? grid.partitions : grid.replicas;
}

static tsr_status check_id(const tsr_op *op, grouping way, tsr_process_grid grid, int64_t id) {
  static const char *const names[] = {"replica", "partition", "replica", "process"};
  const int limit = id_limit(way, grid);
  TSR_ASK(id >= 0 && id < limit, op, "", "%s %lld is in its groups, the run has %d of them",
          names[way], (long long)id, limit);
  return NULL;
}

typedef struct grouped {
  int *starts, *members;
  int group_count;
} grouped;

static void end_group(grouped *g, int count) {
  if (count > g->starts[g->group_count]) g->starts[++g->group_count] = count;
}

// The groups that one row of ids becomes.
static void add_row(grouped *g, grouping way, tsr_process_grid grid, const int64_t *ids,
                    int64_t id_count) {
  const bool replicas = way == CROSS_REPLICA || way == CROSS_REPLICA_AND_PARTITION;
  const int others = way == FLATTENED_IDS ? 1 : replicas ? grid.partitions : grid.replicas;
  int count = g->starts[g->group_count];
  for (int other = 0; other < others; other++) {
    for (int64_t i = 0; i < id_count; i++) {
      const int id = (int)ids[i];
      if (way == FLATTENED_IDS)
        g->members[count++] = id;
      else if (replicas)
        g->members[count++] = id * grid.partitions + other;
      else
        g->members[count++] = other * grid.partitions + id;
    }
    if (way != CROSS_REPLICA_AND_PARTITION) end_group(g, count);
  }
  end_group(g, count);
}

static bool may_leave_out(const tsr_op *op) {
  return op->info->id == TSR_OP_COLLECTIVE_BROADCAST || op->info->id == TSR_OP_COLLECTIVE_REDUCE;
}

static tsr_status check_ids(tsr_arena *arena, const tsr_op *op, grouping way, tsr_process_grid grid,
                            const id_rows *rows) {
  const int limit = id_limit(way, grid);
  bool *seen = tsr_arena_zeros(arena, (size_t)limit + 1, sizeof *seen);
  TSR_NEED(seen);
  for (int64_t i = 0; i < rows->starts[rows->row_count]; i++) {
    TSR_TRY(check_id(op, way, grid, rows->ids[i]));
    TSR_ASK(!seen[rows->ids[i]], op, "", "%lld is twice in its groups", (long long)rows->ids[i]);
    seen[rows->ids[i]] = true;
  }
  for (int i = 0; i < limit && !may_leave_out(op); i++)
    TSR_ASK(seen[i], op, "", "%s %d is in none of its groups",
            way == FLATTENED_IDS     ? "process"
            : way == CROSS_PARTITION ? "partition"
                                     : "replica",
            i);
  return NULL;
}

static tsr_status read_rows(const tsr_ir *ir, tsr_arena *arena, const tsr_op *op, int64_t all,
                            id_rows *out) {
  const tsr_attr *groups = tsr_op_attr(op, "replica_groups");
  if (groups->kind == TSR_ATTR_RECORD) return rows_of_axes(ir, arena, op, groups, all, out);
  if (groups->kind != TSR_ATTR_DENSE || tsr_attr_int_count(groups) == 0)
    return row_of_all(arena, all, out);
  return rows_of_ids(arena, groups, out);
}

tsr_status tsr_process_groups_make(const tsr_ir *ir, tsr_arena *arena, const tsr_op *op,
                                   tsr_process_grid grid, tsr_process_groups *out_groups) {
  const grouping way = grouping_of(op);
  const int count = tsr_process_count(grid);
  id_rows rows;
  TSR_TRY(read_rows(ir, arena, op, id_limit(way, grid), &rows));
  TSR_TRY(check_ids(arena, op, way, grid, &rows));
  grouped g = {.starts = tsr_arena_zeros(arena, (size_t)count + 1, sizeof *g.starts),
               .members = tsr_arena_zeros(arena, (size_t)count + 1, sizeof *g.members)};
  TSR_NEED(g.starts && g.members ? g.members : NULL);
  for (int64_t i = 0; i < rows.row_count; i++)
    add_row(&g, way, grid, rows.ids + rows.starts[i], rows.starts[i + 1] - rows.starts[i]);
  *out_groups = (tsr_process_groups){g.group_count, g.starts, g.members};
  return NULL;
}

// ---- permutations ----

tsr_status tsr_process_sources_make(tsr_arena *arena, const tsr_op *op, tsr_process_grid grid,
                                    const int **out_sources) {
  const grouping way = grouping_of(op);
  const tsr_attr *pairs = tsr_op_attr(op, "source_target_pairs");
  const int count = tsr_process_count(grid);
  int *sources = tsr_arena_zeros(arena, (size_t)count + 1, sizeof *sources);
  TSR_NEED(sources);
  for (int i = 0; i < count; i++) sources[i] = -1;
  for (int64_t i = 0; i + 1 < tsr_attr_int_count(pairs); i += 2) {
    const int64_t from = tsr_attr_int_at(pairs, i), to = tsr_attr_int_at(pairs, i + 1);
    TSR_TRY(check_id(op, way, grid, from));
    TSR_TRY(check_id(op, way, grid, to));
    const int others = way == CROSS_REPLICA ? grid.partitions : grid.replicas;
    const int stride = way == CROSS_REPLICA ? grid.partitions : 1;
    for (int other = 0; other < others; other++) {
      const int shift = way == CROSS_REPLICA ? other : other * grid.partitions;
      sources[(int)to * stride + shift] = (int)from * stride + shift;
    }
  }
  *out_sources = sources;
  return NULL;
}

static int first_of(int *parents, int process) {
  while (parents[process] != process) {
    parents[process] = parents[parents[process]];
    process = parents[process];
  }
  return process;
}

// The parent of a process is one before it, so the first process of a chain stands for it.
static void link_chains(const int *sources, int count, int *parents) {
  for (int i = 0; i < count; i++) parents[i] = i;
  for (int i = 0; i < count; i++) {
    if (sources[i] < 0) continue;
    const int a = first_of(parents, i), b = first_of(parents, sources[i]);
    parents[a > b ? a : b] = a > b ? b : a;
  }
}

tsr_status tsr_process_chains_make(tsr_arena *arena, const int *sources, int count,
                                   tsr_process_groups *out_groups) {
  int *parents = tsr_arena_zeros(arena, (size_t)count + 1, sizeof *parents);
  int *places = tsr_arena_zeros(arena, (size_t)count + 1, sizeof *places);
  int *starts = tsr_arena_zeros(arena, (size_t)count + 1, sizeof *starts);
  int *members = tsr_arena_zeros(arena, (size_t)count + 1, sizeof *members);
  TSR_NEED(parents && places && starts && members ? members : NULL);
  int chains = 0;
  link_chains(sources, count, parents);
  for (int i = 0; i < count; i++)
    if (first_of(parents, i) == i) places[i] = chains++;
  for (int i = 0; i < count; i++) starts[places[first_of(parents, i)] + 1]++;
  for (int i = 0; i < chains; i++) starts[i + 1] += starts[i];
  for (int i = 0; i < count; i++) {  // `starts` are where the next member goes, for now
    members[starts[places[first_of(parents, i)]]++] = i;
  }
  for (int i = chains; i > 0; i--) starts[i] = starts[i - 1];
  starts[0] = 0;
  *out_groups = (tsr_process_groups){chains, starts, members};
  return NULL;
}
