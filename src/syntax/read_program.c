// Reading a whole program: the ops of the module, or ops that stand alone, with aliases and the
// blobs of constants around them.
#include <stdlib.h>

#include "base/name_index.h"
#include "base/status_internal.h"
#include "syntax/op_reader.h"
#include "syntax/resources.h"
#include "syntax/syntax.h"

static void reader_deinit(tsr_op_reader *reader) {
  tsr_value_scope_deinit(&reader->scope);
  free(reader->refs.items);
  free(reader->names.items);
  free(reader->attrs.items);
  free(reader->regions.items);
  free(reader->arguments.items);
  free(reader->values.items);
}

// ---- what stands at the top ----

static tsr_status read_alias(tsr_op_reader *reader) {
  const char *start = reader->in->token.start;
  tsr_status status = tsr_read_alias_definition(reader->in);
  reader->in->depth = 0;
  return status ? tsr_read_recover(reader, start, status) : NULL;
}

static tsr_status read_metadata(tsr_op_reader *reader) {
  const char *start = reader->in->token.start;
  tsr_status status = tsr_read_resources(reader->in);
  reader->in->depth = 0;
  return status ? tsr_read_recover(reader, start, status) : NULL;
}

static tsr_status read_top(tsr_op_reader *reader, tsr_ir_block *block) {
  tsr_reader *in = reader->in;
  while (!tsr_at_kind(in, TSR_TOKEN_END)) {
    if (tsr_at_alias_definition(in)) {
      TSR_TRY(read_alias(reader));
    } else if (tsr_at_sign(in, "{-#")) {
      TSR_TRY(read_metadata(reader));
    } else if (tsr_at_sign(in, "}") || tsr_at_kind(in, TSR_TOKEN_BLOCK) ||
               tsr_at_kind(in, TSR_TOKEN_HASH) || tsr_at_kind(in, TSR_TOKEN_BANG)) {
      tsr_issues_add(&in->issues, in->name, 0, 0, tsr_reader_expected(in, "an op"));
      tsr_next(in);
    } else {
      TSR_TRY(tsr_read_block_ops(reader, block));
    }
  }
  return NULL;
}

// A text that is one module is that module; other ops stand in the module that is there.
static void use_only_module(tsr_ir *ir, tsr_ir_block *block) {
  tsr_op *op = block->first;
  if (!op || op->next || op->info->id != TSR_OP_MODULE || op->region_count != 1 ||
      op->regions[0].block_count != 1)
    return;
  tsr_op_unlink(op);
  ir->module = op;
}

// ---- symbols ----

static tsr_status check_symbol(tsr_reader *in, tsr_name_index *index, const tsr_op *op) {
  const char *name = tsr_op_symbol(op);
  if (!name || op->info->id == TSR_OP_UNKNOWN) return NULL;
  int64_t existing = -1;
  TSR_TRY(tsr_name_index_add(index, name, op->line, &existing));
  if (existing >= 0)
    tsr_issues_add(&in->issues, in->name, op->line, op->column,
                   tsr_fail(SYNTAX, "symbol \"@%s\" is already defined at line %lld", name,
                            (long long)existing));
  return NULL;
}

static tsr_status check_symbols(tsr_reader *in, const tsr_op *module) {
  tsr_name_index index = TSR_NAME_INDEX_EMPTY;
  tsr_status status = NULL;
  const tsr_ir_block *block = module->region_count ? module->regions[0].first : NULL;
  for (const tsr_op *op = block ? block->first : NULL; op && !status; op = op->next) {
    status = check_symbol(in, &index, op);
    if (!status && op->info->id == TSR_OP_MODULE) status = check_symbols(in, op);
  }
  tsr_name_index_deinit(&index);
  return status;
}

tsr_status tsr_syntax_read(tsr_ir *ir, const char *name, const char *text, size_t length) {
  tsr_reader in;
  tsr_reader_init(&in, ir, name, text, length);
  tsr_op_reader reader = {.in = &in, .dialect = "builtin", .graph = true};
  tsr_ir_block *block = ir->module->regions[0].first;
  tsr_status status = read_top(&reader, block);
  if (!status) tsr_read_check_forward(&reader, 0);
  if (!status) use_only_module(ir, block);
  if (!status) status = check_symbols(&in, ir->module);
  if (!status) status = tsr_issues_take(&in.issues);
  reader_deinit(&reader);
  tsr_reader_deinit(&in);
  return status;
}
