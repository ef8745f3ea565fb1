// A program as tables: the entry's arguments and results, functions, ops, constants, meshes.
#include "report/program_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text_internal.h"
#include "draw/draw.h"
#include "json/json.h"
#include "program/program_internal.h"
#include "report/program_survey.h"
#include "syntax/syntax.h"

enum { SHOWN_OPS = 12, SHOWN_CONSTANTS = 5, SHOWN_FUNCTIONS = 20 };

static const char *const forms[] = {[TSR_PROGRAM_TEXT] = "StableHLO text",
                                    [TSR_PROGRAM_ARTIFACT] = "a portable artifact",
                                    [TSR_PROGRAM_EXPORT] = "a jax.export file",
                                    [TSR_PROGRAM_BUILT] = "a program"};
static const char *const form_words[] = {[TSR_PROGRAM_TEXT] = "text",
                                         [TSR_PROGRAM_ARTIFACT] = "artifact",
                                         [TSR_PROGRAM_EXPORT] = "export",
                                         [TSR_PROGRAM_BUILT] = "built"};

static const char *plural(int64_t count) { return count == 1 ? "" : "s"; }

// ---- which function ----

static tsr_status find_function(const tsr_program_report *report, int64_t *out_index) {
  if (!report->function) {
    *out_index = tsr_program_entry(report->program);
    return NULL;
  }
  const int64_t index = tsr_program_find_function(report->program, report->function);
  if (index >= 0) {
    *out_index = index;
    return NULL;
  }
  tsr_suggestion near = tsr_suggestion_for(report->function);
  for (int64_t i = 0; i < tsr_program_function_count(report->program); i++) {
    const char *name = tsr_op_symbol(tsr_program_function_op(report->program, i));
    if (name) tsr_suggestion_offer(&near, name);
  }
  return tsr_fail(NOT_FOUND, "%s has no function \"%s\"" TSR_DID_YOU_MEAN, report->path,
                  report->function, TSR_SUGGESTED(near));
}

// ---- text ----

static tsr_status add_spec(const tsr_program_value *value, tsr_text *out) {
  if (value->spec) return tsr_spec_print(value->spec, TSR_FORM_SHORT, out);
  tsr_text_add_plain(out, value->sharding ? value->sharding : "");
  return NULL;
}

static tsr_status add_value(const tsr_program_value *value, const char *kind, bool donates,
                            tsr_table *table) {
  tsr_table_add(table, kind);
  tsr_table_add(table, value->name);
  tsr_table_add(table, value->type);
  TSR_TRY(add_spec(value, &table->text));
  tsr_table_end_cell(table);
  if (!donates) return NULL;
  if (value->aliased >= 0)
    tsr_table_addf(table, "donated to result %" PRId64, value->aliased);
  else
    tsr_table_add(table, value->donated ? "donated" : "");
  return NULL;
}

static void begin_values(bool donates, tsr_table *table) {
  tsr_table_add_column(table, (tsr_table_column){.title = ""});
  tsr_table_add_column(table, (tsr_table_column){.title = "name", .most = 48});
  tsr_table_add_column(table, (tsr_table_column){.title = "type", .most = 48});
  tsr_table_add_column(table, (tsr_table_column){.title = "sharding", .most = 40});
  if (donates) tsr_table_add_column(table, (tsr_table_column){.title = ""});
}

static tsr_status find_donations(const tsr_program *program, int64_t index,
                                 const tsr_program_function *function, bool *out_donates) {
  *out_donates = false;
  for (int64_t i = 0; i < function->argument_count && !*out_donates; i++) {
    tsr_program_value value = TSR_PROGRAM_VALUE;
    TSR_TRY(tsr_program_argument(program, index, i, &value));
    *out_donates = value.donated || value.aliased >= 0;
  }
  return NULL;
}

static tsr_status fill_values(const tsr_program *program, int64_t index,
                              const tsr_program_function *function, bool donates,
                              tsr_table *table) {
  for (int64_t i = 0; i < function->argument_count; i++) {
    tsr_program_value value = TSR_PROGRAM_VALUE;
    TSR_TRY(tsr_program_argument(program, index, i, &value));
    TSR_TRY(add_value(&value, i ? "" : "arguments", donates, table));
  }
  for (int64_t i = 0; i < function->result_count; i++) {
    tsr_program_value value = TSR_PROGRAM_VALUE;
    TSR_TRY(tsr_program_result(program, index, i, &value));
    TSR_TRY(add_value(&value, i ? "" : "results", donates, table));
  }
  return NULL;
}

static tsr_status print_function(const tsr_program *program, int64_t index, tsr_text *out) {
  tsr_program_function function = TSR_PROGRAM_FUNCTION;
  tsr_table table = {0};
  bool donates = false;
  TSR_TRY(tsr_program_function_at(program, index, &function));
  TSR_TRY(find_donations(program, index, &function, &donates));
  tsr_text_add(out, "\n @");
  tsr_text_add_plain(out, function.name);
  if (function.declared)
    tsr_text_add(out, ": declared only\n");
  else
    tsr_text_addf(out, ": %" PRId64 " op%s\n", function.op_count, plural(function.op_count));
  begin_values(donates, &table);
  tsr_status status = fill_values(program, index, &function, donates, &table);
  if (!status && function.argument_count + function.result_count) tsr_table_print(&table, out);
  tsr_table_deinit(&table);
  return status;
}

static tsr_status print_functions(const tsr_program_report *report, int64_t shown, tsr_text *out) {
  const int64_t count = tsr_program_function_count(report->program);
  tsr_table table = {0};
  int64_t listed = 0;
  if (count - (shown >= 0) <= 0) return NULL;
  tsr_table_add_column(&table, (tsr_table_column){.title = "function", .most = 48});
  tsr_table_add_column(&table, (tsr_table_column){.title = "arguments", .right = true});
  tsr_table_add_column(&table, (tsr_table_column){.title = "results", .right = true});
  tsr_table_add_column(&table, (tsr_table_column){.title = "ops", .right = true});
  tsr_status status = NULL;
  for (int64_t i = 0; i < count && !status; i++) {
    tsr_program_function function = TSR_PROGRAM_FUNCTION;
    if (i == shown || (!report->full && listed == SHOWN_FUNCTIONS)) continue;
    status = tsr_program_function_at(report->program, i, &function);
    if (status) break;
    tsr_table_addf(&table, "@%s", function.name);
    tsr_table_addf(&table, "%" PRId64, function.argument_count);
    tsr_table_addf(&table, "%" PRId64, function.result_count);
    tsr_table_addf(&table, "%" PRId64, function.op_count);
    listed++;
  }
  tsr_text_add(out, "\n");
  tsr_table_print(&table, out);
  tsr_table_deinit(&table);
  const int64_t left = count - listed - (shown >= 0);
  if (left > 0) tsr_text_addf(out, " and %" PRId64 " more\n", left);
  return status;
}

static void print_ops(const tsr_program_report *report, const tsr_program_survey *survey,
                      tsr_text *out) {
  const int64_t shown = report->full || survey->op_count < SHOWN_OPS ? survey->op_count : SHOWN_OPS;
  tsr_table table = {0};
  if (!shown) return;
  tsr_table_add_column(&table, (tsr_table_column){.title = "op"});
  tsr_table_add_column(&table, (tsr_table_column){.title = "count", .right = true});
  for (int64_t i = 0; i < shown; i++) {
    tsr_table_add(&table, survey->ops[i].name);
    tsr_table_addf(&table, "%" PRId64, survey->ops[i].count);
  }
  tsr_text_add(out, "\n");
  tsr_table_print(&table, out);
  tsr_table_deinit(&table);
  if (shown < survey->op_count)
    tsr_text_addf(out, " and %" PRId64 " other op%s\n", survey->op_count - shown,
                  plural(survey->op_count - shown));
}

static void print_constants(const tsr_program_report *report, const tsr_program_survey *survey,
                            tsr_text *out) {
  const int64_t most = report->full ? survey->constant_count : SHOWN_CONSTANTS;
  tsr_table table = {0};
  int64_t shown = 0;
  tsr_table_add_column(&table, (tsr_table_column){.title = "constant", .right = true});
  tsr_table_add_column(&table, (tsr_table_column){.title = "type"});
  tsr_table_add_column(&table, (tsr_table_column){.title = "in"});
  for (; shown < survey->constant_count && shown < most; shown++) {
    const tsr_constant_tally *constant = &survey->constants[shown];
    if (!report->full && constant->splat) break;
    tsr_table_add(&table, tsr_format_bytes(constant->bytes).text);
    tsr_type_print(constant->op->results[0].type, &table.text);
    tsr_table_end_cell(&table);
    tsr_table_addf(&table, "@%s", constant->function);
  }
  if (shown) {
    tsr_text_add(out, "\n");
    tsr_table_print(&table, out);
  }
  tsr_table_deinit(&table);
}

static tsr_status print_meshes(const tsr_program *program, tsr_text *out) {
  const int64_t count = tsr_program_mesh_count(program);
  if (count) tsr_text_add(out, "\n");
  for (int64_t i = 0; i < count; i++) {
    tsr_mesh *mesh = NULL;
    TSR_TRY(tsr_program_mesh_at(program, i, &mesh));
    tsr_text_add(out, " mesh @");
    tsr_text_add_plain(out, tsr_program_mesh_name(program, i));
    tsr_text_add(out, ": ");
    tsr_mesh_print(mesh, out);
    tsr_text_add(out, "\n");
    tsr_mesh_release(mesh);
  }
  return NULL;
}

static void print_export(const tsr_program_info *info, tsr_text *out) {
  if (info->form != TSR_PROGRAM_EXPORT) return;
  tsr_text_add(out, " exported from ");
  tsr_text_add_plain(out, info->function_name);
  tsr_text_add(out, " for ");
  for (int64_t i = 0; i < info->platform_count; i++) {
    if (i) tsr_text_add(out, ", ");
    tsr_text_add_plain(out, info->platforms[i]);
  }
  tsr_text_addf(out, ", calling convention %d\n", info->calling_convention);
}

static tsr_status print_head(const tsr_program_report *report, tsr_text *out) {
  tsr_program_info info = TSR_PROGRAM_INFO;
  TSR_TRY(tsr_program_describe(report->program, &info));
  tsr_text_add_char(out, ' ');
  tsr_text_add_plain(out, report->path);
  tsr_text_addf(out, ": %s", forms[info.form]);
  if (*info.name) {
    tsr_text_add(out, ", module @");
    tsr_text_add_plain(out, info.name);
  }
  tsr_text_addf(out, ", %" PRId64 " device%s\n", info.device_count, plural(info.device_count));
  const int64_t functions = tsr_program_function_count(report->program);
  tsr_text_addf(out, " %" PRId64 " function%s, %" PRId64 " op%s, %s of constants\n", functions,
                plural(functions), info.op_count, plural(info.op_count),
                tsr_format_bytes(info.constant_bytes).text);
  print_export(&info, out);
  return NULL;
}

tsr_status tsr_program_report_print(const tsr_program_report *report, tsr_text *out) {
  tsr_program_survey survey = {0};
  int64_t shown = -1;
  TSR_TRY(find_function(report, &shown));
  TSR_TRY(print_head(report, out));
  if (shown >= 0) TSR_TRY(print_function(report->program, shown, out));
  if (!report->function) TSR_TRY(print_functions(report, shown, out));
  TSR_TRY(tsr_program_survey_make(report->program, report->function ? shown : -1, &survey));
  print_ops(report, &survey, out);
  print_constants(report, &survey, out);
  tsr_program_survey_free(&survey);
  TSR_TRY(print_meshes(report->program, out));
  return tsr_text_check(out);
}

// ---- JSON ----

static void write_value(const tsr_program_value *value, tsr_json_writer *writer) {
  tsr_json_begin_object(writer);
  tsr_json_add_string(writer, "name", value->name);
  tsr_json_add_string(writer, "type", value->type);
  if (value->dtype != TSR_DTYPE_NONE) {
    tsr_json_add_string(writer, "dtype", tsr_dtype_name(value->dtype, TSR_NAMES_OWN));
    tsr_json_add_ints(writer, "shape", value->shape.dims, (size_t)value->shape.rank);
  }
  if (value->sharding) tsr_json_add_string(writer, "sharding", value->sharding);
  if (value->mesh) tsr_json_add_string(writer, "mesh", value->mesh);
  if (value->donated) tsr_json_add_bool(writer, "donated", true);
  if (value->aliased >= 0) tsr_json_add_int(writer, "aliased", value->aliased);
  tsr_json_end_object(writer);
}

static tsr_status write_function(const tsr_program *program, int64_t index,
                                 tsr_json_writer *writer) {
  tsr_program_function function = TSR_PROGRAM_FUNCTION;
  tsr_program_value value = TSR_PROGRAM_VALUE;
  TSR_TRY(tsr_program_function_at(program, index, &function));
  tsr_json_begin_object(writer);
  tsr_json_add_string(writer, "name", function.name);
  tsr_json_add_bool(writer, "public", function.is_public);
  tsr_json_add_bool(writer, "declared", function.declared);
  tsr_json_add_int(writer, "ops", function.op_count);
  tsr_json_add_array(writer, "arguments");
  for (int64_t i = 0; i < function.argument_count; i++) {
    TSR_TRY(tsr_program_argument(program, index, i, &value));
    write_value(&value, writer);
  }
  tsr_json_end_array(writer);
  tsr_json_add_array(writer, "results");
  for (int64_t i = 0; i < function.result_count; i++) {
    TSR_TRY(tsr_program_result(program, index, i, &value));
    write_value(&value, writer);
  }
  tsr_json_end_array(writer);
  tsr_json_end_object(writer);
  return NULL;
}

static tsr_status write_functions(const tsr_program_report *report, int64_t only,
                                  tsr_json_writer *writer) {
  tsr_json_add_array(writer, "functions");
  for (int64_t i = 0; i < tsr_program_function_count(report->program); i++)
    if (!report->function || i == only) TSR_TRY(write_function(report->program, i, writer));
  tsr_json_end_array(writer);
  return NULL;
}

static void write_constant(const tsr_constant_tally *constant, tsr_json_writer *writer) {
  tsr_text type = TSR_TEXT_EMPTY;
  tsr_type_print(constant->op->results[0].type, &type);
  tsr_json_begin_inline_object(writer);
  tsr_json_add_int(writer, "bytes", constant->bytes);
  tsr_json_add_string(writer, "type", tsr_text_string(&type));
  tsr_json_add_bool(writer, "splat", constant->splat);
  tsr_json_add_string(writer, "function", constant->function);
  tsr_json_end_object(writer);
  writer->out->failed |= type.failed;
  tsr_text_deinit(&type);
}

static void write_survey(const tsr_program_survey *survey, tsr_json_writer *writer) {
  tsr_json_add_object(writer, "op_counts");
  for (int64_t i = 0; i < survey->op_count; i++)
    tsr_json_add_int(writer, survey->ops[i].name, survey->ops[i].count);
  tsr_json_end_object(writer);
  tsr_json_add_array(writer, "constants");
  for (int64_t i = 0; i < survey->constant_count; i++)
    write_constant(&survey->constants[i], writer);
  tsr_json_end_array(writer);
}

static tsr_status write_meshes(const tsr_program *program, tsr_json_writer *writer) {
  tsr_json_add_object(writer, "meshes");
  for (int64_t i = 0; i < tsr_program_mesh_count(program); i++) {
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_mesh *mesh = NULL;
    TSR_TRY(tsr_program_mesh_at(program, i, &mesh));
    tsr_mesh_print(mesh, &text);
    tsr_json_add_string(writer, tsr_program_mesh_name(program, i), tsr_text_string(&text));
    writer->out->failed |= text.failed;
    tsr_text_deinit(&text);
    tsr_mesh_release(mesh);
  }
  tsr_json_end_object(writer);
  return NULL;
}

static void write_head(const tsr_program_report *report, const tsr_program_info *info,
                       tsr_json_writer *writer) {
  tsr_json_add_string(writer, "schema", "tessera-inspect-program/1");
  tsr_json_add_string(writer, "program", report->path);
  tsr_json_add_string(writer, "form", form_words[info->form]);
  tsr_json_add_string(writer, "module", info->name);
  tsr_json_add_int(writer, "devices", info->device_count);
  tsr_json_add_int(writer, "ops", info->op_count);
  tsr_json_add_int(writer, "constant_bytes", info->constant_bytes);
  if (info->form != TSR_PROGRAM_EXPORT) return;
  tsr_json_add_string(writer, "function", info->function_name);
  tsr_json_add_inline_array(writer, "platforms");
  for (int64_t i = 0; i < info->platform_count; i++)
    tsr_json_write_string(writer, info->platforms[i]);
  tsr_json_end_array(writer);
  tsr_json_add_int(writer, "calling_convention", info->calling_convention);
}

tsr_status tsr_program_report_to_json(const tsr_program_report *report, tsr_text *out) {
  tsr_program_survey survey = {0};
  tsr_program_info info = TSR_PROGRAM_INFO;
  tsr_json_writer writer;
  int64_t only = -1;
  TSR_TRY(find_function(report, &only));
  TSR_TRY(tsr_program_describe(report->program, &info));
  TSR_TRY(tsr_program_survey_make(report->program, report->function ? only : -1, &survey));
  tsr_json_begin_document(&writer, out);
  write_head(report, &info, &writer);
  tsr_status status = write_functions(report, only, &writer);
  write_survey(&survey, &writer);
  if (!status) status = write_meshes(report->program, &writer);
  tsr_program_survey_free(&survey);
  if (status) return status;
  tsr_json_end_document(&writer);
  return tsr_text_check(out);
}
