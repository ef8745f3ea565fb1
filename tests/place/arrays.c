#include "array/array_internal.h"
#include "place/arrays.h"
#include "tessera/compat/constrain.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"

tsr_comm *make_comm(int64_t devices) {
  tsr_comm *comm = NULL;
  assert_ok(tsr_comm_create(devices, NULL, &comm));
  return comm;
}

tsr_array *make_unplaced(tsr_comm *comm, const tsr_shape *shape) {
  tsr_array *array = NULL;
  assert_ok(pattern_unplaced(comm, TSR_F32, shape, &array));
  return array;
}

tsr_array *make_placed(tsr_comm *comm, const tsr_mesh *mesh, const char *text,
                       const tsr_shape *shape) {
  tsr_spec *spec = make_spec(text);
  tsr_sharding *sharding = NULL;
  tsr_layout *layout = NULL;
  tsr_array *array = NULL;
  assert_ok(tsr_sharding_bind(mesh, spec, false, &sharding));
  assert_ok(tsr_layout_create(sharding, shape, TSR_POLICY_ERROR, &layout));
  assert_ok(pattern_array(comm, layout, TSR_F32, &array));
  tsr_layout_release(layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  return array;
}

tsr_array_tree *make_array_tree(tsr_comm *comm) {
  static unsigned char matrix[8 * 16 * 4], scalar[4];
  tsr_array *w = make_unplaced(comm, TSR_SHAPE(8, 16)), *b = make_unplaced(comm, TSR_SHAPE(16));
  tsr_spec *spec = make_spec("tp");
  tsr_array_tree *tree = NULL;
  pattern_fill(matrix, sizeof matrix);
  pattern_fill(scalar, sizeof scalar);
  const tsr_leaf leaves[] = {
      {.tensor.path = "w", .kind = TSR_LEAF_ARRAY, .array = w},
      {.tensor.path = "b", .kind = TSR_LEAF_ARRAY, .array = b},
      {.tensor = tsr_tensor_of("h", TSR_F32, TSR_SHAPE(8, 16)),
       .kind = TSR_LEAF_HOST,
       .data = matrix},
      {.tensor.path = "s", .kind = TSR_LEAF_HOST, .tensor.dtype = TSR_F32, .data = scalar},
      {.tensor = tsr_tensor_of("x", TSR_BF16, TSR_SHAPE(4)), .kind = TSR_LEAF_SHAPE, .spec = spec},
  };
  assert_ok(tsr_array_tree_create(leaves, COUNT_OF(leaves), &tree));
  tsr_array_release(w);
  tsr_array_release(b);
  tsr_spec_release(spec);
  return tree;
}

void assert_lies(const tsr_array *array, const char *expected) {
  tsr_text text = TSR_TEXT_EMPTY;
  const tsr_sharding *sharding = tsr_array_sharding(array);
  assert_non_null(sharding);
  assert_ok(tsr_spec_print(tsr_sharding_spec(sharding), TSR_FORM_SHORT, &text));
  assert_string_equal(tsr_text_string(&text), expected);
  assert_ok(pattern_check(array));
  tsr_text_deinit(&text);
}

void assert_report(tsr_place_report *report, const char *expected) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_place_report_print(report, &text);
  assert_string_equal(tsr_text_string(&text), expected);
  tsr_text_deinit(&text);
  tsr_place_report_deinit(report);
}
