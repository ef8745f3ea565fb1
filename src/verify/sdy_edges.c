// What propagation notes about itself: #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 ->
// [result-0]}]}]>. It is kept as text; what it says is checked here.
#include <stdlib.h>
#include <string.h>

#include "verify/sdy_checks.h"

enum { EDGES_MOST = 4096 };  // steps, and values of one axis: each is compared with all before it

// A value of the op: operand-1 or result-0.
typedef struct edge_value {
  bool result;
  int64_t index;
} edge_value;

typedef struct edges_reader {
  tsr_ir *ir;
  const tsr_op *op;
  const char *at;
  const tsr_attr *mesh;  // of the values that have shardings; NULL = none was seen
  edge_value *values;    // the source of an axis, then its targets
  int64_t *steps;
  int64_t step_count;
} edges_reader;

// ---- text ----

static bool take(edges_reader *r, const char *word) {
  const size_t length = strlen(word);
  while (*r->at == ' ' || *r->at == '\n' || *r->at == '\t') r->at++;
  if (strncmp(r->at, word, length) != 0) return false;
  r->at += length;
  return true;
}

static tsr_status expect(edges_reader *r, const char *word) {
  TSR_ASK(take(r, word), r->op, "", "sdy.propagation_edges has \"%.20s\", expected \"%s\"", r->at,
          word);
  return NULL;
}

static tsr_status read_number(edges_reader *r, int64_t *out_number) {
  char *end = NULL;
  *out_number = strtoll(r->at, &end, 10);
  TSR_ASK(end != r->at, r->op, "", "sdy.propagation_edges has \"%.20s\", expected a number", r->at);
  r->at = end;
  return NULL;
}

// ---- values ----

static int value_count(const edges_reader *r, const edge_value *value) {
  return value->result ? r->op->result_count : r->op->operand_count;
}

// An edge names its sources, which are operands of other ops: of calls, loops, branches.
static bool is_edge(const tsr_op *op) {
  return op->info->id == TSR_OP_SDY_FUNC_DATA_FLOW_EDGE ||
         op->info->id == TSR_OP_SDY_DATA_FLOW_EDGE;
}

static tsr_status read_value(edges_reader *r, edge_value *out_value) {
  out_value->result = take(r, "result-");
  if (!out_value->result) TSR_TRY(expect(r, "operand-"));
  TSR_TRY(read_number(r, &out_value->index));
  const int count = value_count(r, out_value);
  TSR_ASK((out_value->index >= 0 && out_value->index < count) || is_edge(r->op), r->op, "",
          "sdy.propagation_edges names %s %lld, expected 0 or more and less than %d",
          out_value->result ? "result" : "operand", (long long)out_value->index, count);
  return NULL;
}

static tsr_status note_mesh(edges_reader *r, const edge_value *value) {
  const tsr_attr *sharding = NULL;
  if (value->index < 0 || value->index >= value_count(r, value)) return NULL;
  const tsr_value *named = value->result ? tsr_op_result(r->op, (int)value->index)
                                         : tsr_op_operand(r->op, (int)value->index);
  TSR_TRY(tsr_value_sharding(r->ir, named, &sharding));
  const tsr_attr *mesh = sharding ? tsr_sdy_mesh_of(r->ir, r->op, sharding) : NULL;
  if (!mesh) return NULL;
  TSR_ASK(!r->mesh || tsr_attr_equal(r->mesh, mesh), r->op, "",
          "sdy.propagation_edges names values of different meshes");
  r->mesh = mesh;
  return NULL;
}

// The source and the targets of an axis: none is there twice.
static tsr_status read_values(edges_reader *r) {
  int64_t count = 1;
  TSR_TRY(read_value(r, &r->values[0]));
  TSR_TRY(note_mesh(r, &r->values[0]));
  TSR_TRY(expect(r, "->"));
  TSR_TRY(expect(r, "["));
  do {
    TSR_ASK(count < EDGES_MOST, r->op, "",
            "sdy.propagation_edges has more than %d values of a step", EDGES_MOST);
    TSR_TRY(read_value(r, &r->values[count]));
    for (int64_t i = 0; i < count; i++)
      TSR_ASK(r->values[i].result != r->values[count].result ||
                  r->values[i].index != r->values[count].index,
              r->op, "", "sdy.propagation_edges has %s",
              i ? "a target twice" : "a source that is a target too");
    TSR_TRY(note_mesh(r, &r->values[count++]));
  } while (take(r, ","));
  return expect(r, "]");
}

// ---- steps ----

typedef struct axis_name {
  const char *bytes;
  size_t length;
} axis_name;

static bool mesh_has(const tsr_attr *mesh, const axis_name *name) {
  const tsr_attr *axes = tsr_attr_field(mesh, TSR_SDY_MESH_AXES);
  for (int64_t i = 0; i < axes->count; i++) {
    const tsr_attr *known = tsr_attr_field(axes->items[i], TSR_SDY_MESH_AXIS_NAME);
    if (known->length == name->length && !memcmp(known->bytes, name->bytes, name->length))
      return true;
  }
  return false;
}

static tsr_status read_axis(edges_reader *r) {
  int64_t number = 0;
  TSR_TRY(expect(r, "{"));
  TSR_TRY(expect(r, "\""));
  const axis_name name = {r->at, strcspn(r->at, "\"")};
  r->at += name.length;
  TSR_TRY(expect(r, "\""));
  if (take(r, ":(")) {
    TSR_TRY(read_number(r, &number));
    TSR_TRY(expect(r, ")"));
    TSR_TRY(read_number(r, &number));
  }
  TSR_TRY(expect(r, "="));
  TSR_TRY(read_values(r));
  TSR_ASK(!r->mesh || mesh_has(r->mesh, &name), r->op, "",
          "sdy.propagation_edges has axis \"%.*s\", which the mesh has not", (int)name.length,
          name.bytes);
  return expect(r, "}");
}

static tsr_status read_step(edges_reader *r) {
  int64_t step = 0;
  TSR_TRY(expect(r, "{"));
  TSR_TRY(expect(r, "step-"));
  TSR_TRY(read_number(r, &step));
  TSR_ASK(step >= 0, r->op, "", "sdy.propagation_edges has step %lld, expected 0 or more",
          (long long)step);
  for (int64_t i = 0; i < r->step_count; i++)
    TSR_ASK(r->steps[i] != step, r->op, "", "sdy.propagation_edges has step %lld twice",
            (long long)step);
  TSR_ASK(r->step_count < EDGES_MOST, r->op, "", "sdy.propagation_edges has more than %d steps",
          EDGES_MOST);
  r->steps[r->step_count++] = step;
  TSR_TRY(expect(r, "="));
  TSR_TRY(expect(r, "["));
  do {
    TSR_TRY(read_axis(r));
  } while (take(r, ","));
  TSR_TRY(expect(r, "]"));
  return expect(r, "}");
}

static tsr_status read_edges(edges_reader *r) {
  TSR_TRY(expect(r, "#sdy.propagation_edges"));
  TSR_TRY(expect(r, "<["));
  if (!take(r, "]")) {
    do {
      TSR_TRY(read_step(r));
    } while (take(r, ","));
    TSR_TRY(expect(r, "]"));
  }
  TSR_ASK(r->mesh, r->op, "", "no value that sdy.propagation_edges names has a sharding");
  return NULL;
}

tsr_status tsr_check_propagation_edges(tsr_ir *ir, const tsr_op *op, const tsr_attr *attr) {
  edges_reader r = {.ir = ir, .op = op, .at = attr->bytes};
  r.values = calloc(EDGES_MOST, sizeof *r.values);
  r.steps = calloc(EDGES_MOST, sizeof *r.steps);
  tsr_status status = r.values && r.steps ? read_edges(&r) : tsr_fail(NO_MEMORY, "edges");
  free(r.values);
  free(r.steps);
  return status;
}
