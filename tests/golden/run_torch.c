// PyTorch's DTensor: its texts, and the piece of a tensor that each rank has.
#include "golden/golden.h"
#include "json/json.h"
#include "spec/notation_internal.h"
#include "tessera/compat/torch.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"

// ---- texts ----

static void write_said_mesh(tsr_json_writer *out, const tsr_mesh *mesh) {
  tsr_json_begin_object(out);
  golden_write_axis_names(out, "names", mesh);
  tsr_json_write_key(out, "sizes");
  tsr_json_begin_inline_array(out);
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++)
    tsr_json_write_int(out, tsr_mesh_axis_at(mesh, i)->size);
  tsr_json_end_array(out);
  golden_write_mesh_ids(out, "ids", mesh);
  tsr_json_end_object(out);
}

static void write_placement(tsr_json_writer *out, const tsr_placement *placement) {
  static const char *const kinds[] = {[TSR_PLACEMENT_REPLICATE] = "replicate",
                                      [TSR_PLACEMENT_SHARD] = "shard",
                                      [TSR_PLACEMENT_STRIDED_SHARD] = "strided",
                                      [TSR_PLACEMENT_PARTIAL] = "partial"};
  static const char *const reductions[] = {
      [TSR_REDUCE_SUM] = "sum", [TSR_REDUCE_MAX] = "max", [TSR_REDUCE_MIN] = "min"};
  tsr_json_begin_inline_array(out);
  tsr_json_write_string(out, kinds[placement->kind]);
  if (placement->kind == TSR_PLACEMENT_PARTIAL)
    tsr_json_write_string(out, reductions[placement->reduction]);
  else if (placement->kind != TSR_PLACEMENT_REPLICATE)
    tsr_json_write_int(out, placement->dim);
  if (placement->kind == TSR_PLACEMENT_STRIDED_SHARD)
    tsr_json_write_int(out, placement->split_factor);
  if (placement->order) tsr_json_write_int(out, placement->order - 1);
  tsr_json_end_array(out);
}

static void write_dtensor(tsr_json_writer *out, const tsr_dtensor *dtensor) {
  tsr_json_begin_object(out);
  tsr_json_write_key(out, "placements");
  tsr_json_begin_array(out);
  for (int i = 0; i < dtensor->placements.count; i++)
    write_placement(out, &dtensor->placements.items[i]);
  tsr_json_end_array(out);
  tsr_json_write_key(out, "mesh");
  if (dtensor->mesh)
    write_said_mesh(out, dtensor->mesh);
  else
    tsr_json_write_null(out);
  tsr_json_write_key(out, "shape");
  if (dtensor->has_shape)
    tsr_json_write_ints(out, dtensor->shape.dims, (size_t)dtensor->shape.rank);
  else
    tsr_json_write_null(out);
  tsr_json_end_object(out);
}

static tsr_status dtensor_text(const golden_case *c, const golden_answer *answer) {
  const char *text = NULL;
  tsr_dtensor dtensor;
  TSR_TRY(golden_read_string(c, golden_get(c, "text"), "text", &text));
  if (!tsr_dtensor_looks_like(text)) return tsr_fail(SYNTAX, "not recognised: %s", text);
  TSR_TRY(tsr_dtensor_parse(text, NULL, &dtensor));
  write_dtensor(answer->out, &dtensor);
  tsr_dtensor_deinit(&dtensor);
  return NULL;
}

static tsr_status mesh_text(const golden_case *c, const golden_answer *answer) {
  const char *text = NULL;
  tsr_mesh *mesh = NULL;
  TSR_TRY(golden_read_string(c, golden_get(c, "text"), "text", &text));
  TSR_TRY(tsr_mesh_parse(text, NULL, &mesh));
  write_said_mesh(answer->out, mesh);
  tsr_mesh_release(mesh);
  return NULL;
}

// ---- pieces ----

static void write_dims(tsr_json_writer *out, const char *key, const int64_t *dims, int rank) {
  tsr_json_write_key(out, key);
  if (dims)
    tsr_json_write_ints(out, dims, (size_t)rank);
  else
    tsr_json_write_null(out);
}

// {"shape", "start"}; what is empty starts nowhere, and FSDP2 gives it any shape without elements.
static tsr_status write_piece(tsr_json_writer *out, const tsr_layout *layout, int64_t position,
                              bool any_empty) {
  const int64_t shard = tsr_layout_shard(layout, position);
  tsr_shape shape;
  tsr_pieces pieces;
  tsr_piece first;
  int64_t start[TSR_MAX_RANK];
  tsr_layout_shard_shape(layout, shard, &shape);
  TSR_TRY(tsr_pieces_init(&pieces, layout, shard));
  const bool held = tsr_pieces_next(&pieces, &first);
  tsr_pieces_deinit(&pieces);
  for (int i = 0; held && i < shape.rank; i++) start[i] = first.ranges[i].lo;
  tsr_json_begin_object(out);
  write_dims(out, "shape", held || !any_empty ? shape.dims : NULL, shape.rank);
  write_dims(out, "start", held ? start : NULL, shape.rank);
  tsr_json_end_object(out);
  return NULL;
}

static tsr_status write_pieces(tsr_json_writer *out, const tsr_layout *layout, bool any_empty) {
  tsr_status status = NULL;
  tsr_json_begin_array(out);
  for (int64_t i = 0; !status && i < tsr_layout_device_count(layout); i++)
    status = write_piece(out, layout, i, any_empty);
  tsr_json_end_array(out);
  return status;
}

static tsr_status lay_out(const golden_case *c, const tsr_mesh *mesh, tsr_layout **out_layout) {
  const char *text = NULL;
  tsr_shape shape;
  tsr_dtensor dtensor;
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  TSR_TRY(golden_shape(c, "shape", &shape));
  TSR_TRY(golden_read_string(c, golden_get(c, "placements"), "placements", &text));
  TSR_TRY(tsr_dtensor_parse(text, NULL, &dtensor));
  tsr_status status = tsr_placements_to_spec(&dtensor.placements, mesh, shape.rank, &shape, &spec);
  if (!status) status = tsr_sharding_bind(mesh, spec, false, &sharding);
  if (!status) status = tsr_layout_create(sharding, &shape, TSR_POLICY_UNEVEN, out_layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  tsr_dtensor_deinit(&dtensor);
  return status;
}

static tsr_status pieces_on(const golden_case *c, const tsr_mesh *mesh, const golden_answer *answer,
                            bool any_empty) {
  tsr_layout *layout = NULL;
  TSR_TRY(lay_out(c, mesh, &layout));
  const tsr_status status = write_pieces(answer->out, layout, any_empty);
  tsr_layout_release(layout);
  return status;
}

static tsr_status offsets(const golden_case *c, const golden_answer *answer) {
  tsr_mesh *mesh = NULL;
  TSR_TRY(golden_read_mesh(c, golden_get(c, "mesh"), &mesh));
  const tsr_status status = pieces_on(c, mesh, answer, false);
  tsr_mesh_release(mesh);
  return status;
}

// The mesh as the parameter's own text has it, which must be the one that was asked for.
static tsr_status local_tensors(const golden_case *c, const golden_answer *answer) {
  const char *text = NULL;
  tsr_mesh *mesh = NULL, *said = NULL;
  TSR_TRY(golden_read_string(c, golden_get(c, "mesh_text"), "mesh_text", &text));
  TSR_TRY(golden_read_mesh(c, golden_get(c, "mesh"), &mesh));
  tsr_status status = tsr_mesh_parse(text, NULL, &said);
  if (!status && !tsr_mesh_equal(mesh, said))
    status = tsr_fail(BAD_ARGUMENT, "read as another mesh");
  if (!status) status = pieces_on(c, said, answer, true);
  tsr_mesh_release(said);
  tsr_mesh_release(mesh);
  return status;
}

const golden_function golden_torch_functions[] = {
    {"dtensor_text", dtensor_text, {NULL}},
    {"local_tensors", local_tensors, {NULL}},
    {"mesh_text", mesh_text, {NULL}},
    {"offsets", offsets, {NULL}},
    {NULL, NULL, {NULL}},
};
