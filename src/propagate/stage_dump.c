#include "propagate/stage_dump.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/io.h"
#include "base/text_internal.h"
#include "syntax/syntax.h"

static tsr_status write_file(const char *path, const tsr_text *content) {
  int fd = -1;
  TSR_TRY(tsr_io_create(path, &fd));
  tsr_status status = tsr_io_reserve(fd, path, (int64_t)content->length);
  if (!status)
    status = tsr_io_write(fd, path, tsr_text_string(content), (int64_t)content->length, 0);
  tsr_status closed = tsr_io_close(fd, path);
  if (!status) return closed;
  tsr_status_free(closed);
  return status;
}

tsr_status tsr_stage_dump(tsr_ir *ir, const char *folder, int index, const char *name) {
  tsr_text path = TSR_TEXT_EMPTY, content = TSR_TEXT_EMPTY;
  tsr_text_addf(&path, "%s/%02d.%s.mlir", folder, index, name);
  tsr_syntax_print(ir, NULL, &content);
  tsr_status status = tsr_text_check(&path);
  if (!status) status = tsr_text_check(&content);
  if (!status) status = write_file(tsr_text_string(&path), &content);
  tsr_text_deinit(&path);
  tsr_text_deinit(&content);
  return status;
}

// ---- marks ----

typedef struct mark_list {
  uint32_t *items;  // of all values, in the order of a walk
  int64_t count, capacity;
  bool restores;
} mark_list;

static tsr_status visit_mark(mark_list *list, tsr_value *value) {
  if (list->restores) {
    value->mark = list->items[list->count++];
    return NULL;
  }
  uint32_t *items = tsr_grow(list->items, list->count, &list->capacity, sizeof *items);
  TSR_NEED(items);
  list->items = items;
  items[list->count++] = value->mark;
  return NULL;
}

static tsr_status visit_marks(tsr_op *op, void *context) {
  for (int i = 0; i < op->result_count; i++) TSR_TRY(visit_mark(context, tsr_op_result(op, i)));
  for (int i = 0; i < op->region_count; i++)
    for (const tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      for (int k = 0; k < block->arg_count; k++) TSR_TRY(visit_mark(context, block->args[k]));
  return NULL;
}

tsr_status tsr_stage_dump_marked(tsr_ir *ir, const char *folder, int index, const char *name) {
  mark_list marks = {0};
  tsr_status status = tsr_op_walk(ir->module, visit_marks, &marks);
  if (!status) {
    status = tsr_stage_dump(ir, folder, index, name);
    marks.restores = true;
    marks.count = 0;
    tsr_status_free(tsr_op_walk(ir->module, visit_marks, &marks));  // cannot fail
  }
  free(marks.items);
  return status;
}
