#include "factor_cases.h"

#include <string.h>

#include "base/text_internal.h"
#include "syntax/syntax.h"

static const tsr_attr *read_attr(tsr_ir *ir, const char *before, const char *text, size_t length,
                                 const char *after) {
  const tsr_attr *attr = NULL;
  tsr_text whole = TSR_TEXT_EMPTY;
  tsr_text_addf(&whole, "%s%.*s%s", before, (int)length, text, after);
  assert_ok(tsr_syntax_read_attr(ir, tsr_text_string(&whole), whole.length, &attr));
  tsr_text_deinit(&whole);
  return attr;
}

static void read_shardings(factor_scene *scene, const char *text) {
  for (const char *at = text; at; scene->count++) {
    const char *end = strstr(at, " | ");
    const size_t length = end ? (size_t)(end - at) : strlen(at);
    assert_true(scene->count < TENSORS_MOST);
    if (length != 1 || *at != '-') {
      tsr_tensor_sharding *sharding = NULL;
      const tsr_attr *attr = read_attr(scene->ir, "#sdy.sharding<@mesh, ", at, length, ">");
      assert_ok(tsr_sharding_read(&scene->arena, scene->mesh, attr, &sharding));
      scene->shardings[scene->count] = sharding;
    }
    at = end ? end + 3 : NULL;
  }
}

void factor_scene_begin(factor_scene *scene, const char *mesh, const char *rule,
                        const char *shardings) {
  *scene = (factor_scene){.ir = tsr_ir_create()};
  assert_non_null(scene->ir);
  scene->mesh = read_attr(scene->ir, "#sdy.mesh", mesh, strlen(mesh), "");
  const tsr_attr *attr = read_attr(scene->ir, "#sdy.op_sharding_rule", rule, strlen(rule), "");
  assert_ok(tsr_rule_read(&scene->arena, attr, &scene->rule));
  read_shardings(scene, shardings);
  assert_int_equal(scene->count, scene->rule->tensor_count);
}

void factor_scene_end(factor_scene *scene) {
  tsr_arena_deinit(&scene->arena);
  tsr_ir_destroy(scene->ir);
}

void print_shardings(tsr_ir *ir, const tsr_tensor_sharding *const *shardings, int count,
                     tsr_text *out) {
  static const char before[] = "#sdy.sharding<@mesh, ";
  for (int i = 0; i < count; i++) {
    tsr_text text = TSR_TEXT_EMPTY;
    if (i) tsr_text_add(out, " | ");
    if (shardings[i])
      tsr_attr_print(tsr_sharding_attr(ir, shardings[i]), &text);
    else
      tsr_text_addf(&text, "%s->", before);
    assert_true(text.length > sizeof before);
    tsr_text_add_bytes(out, tsr_text_string(&text) + sizeof before - 1,
                       text.length - sizeof before);
    tsr_text_deinit(&text);
  }
}
