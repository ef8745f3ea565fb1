// Shardy's attributes.
#include <string.h>

#include "base/text_internal.h"
#include "syntax/writer_parts.h"

static void print_between(const char *open, const tsr_attr *list, const char *close,
                          tsr_text *out) {
  tsr_text_add(out, open);
  tsr_items_print(list, tsr_record_body_print, out);
  tsr_text_add(out, close);
}

static void print_name(const tsr_attr *name, tsr_text *out) {
  tsr_string_print(name->bytes, name->length, out);
}

void tsr_print_sdy_names(const tsr_attr *record, tsr_text *out) {
  tsr_text_add_char(out, '{');
  tsr_items_print(tsr_attr_field(record, TSR_SDY_MANUAL_AXES_NAMES), print_name, out);
  tsr_text_add_char(out, '}');
}

void tsr_print_sdy_mesh_axis(const tsr_attr *record, tsr_text *out) {
  print_name(tsr_attr_field(record, TSR_SDY_MESH_AXIS_NAME), out);
  tsr_text_addf(out, "=%lld", (long long)tsr_attr_field(record, TSR_SDY_MESH_AXIS_SIZE)->integer);
}

void tsr_print_sdy_mesh(const tsr_attr *record, tsr_text *out) {
  const tsr_attr *ids = tsr_attr_field(record, TSR_SDY_MESH_DEVICE_IDS);
  print_between("<[", tsr_attr_field(record, TSR_SDY_MESH_AXES), "]", out);
  if (tsr_attr_int_count(ids)) {
    tsr_text_add(out, ", device_ids=");
    tsr_ints_print(ids, out);
  }
  tsr_text_add_char(out, '>');
}

void tsr_print_sdy_axis(const tsr_attr *record, tsr_text *out) {
  const tsr_attr *sub_axis = tsr_attr_field(record, TSR_SDY_AXIS_SUB_AXIS);
  print_name(tsr_attr_field(record, TSR_SDY_AXIS_NAME), out);
  if (!sub_axis) return;
  tsr_text_add_char(out, ':');
  tsr_record_body_print(sub_axis, out);
}

void tsr_print_sdy_dim(const tsr_attr *record, tsr_text *out) {
  const tsr_attr *axes = tsr_attr_field(record, TSR_SDY_DIM_AXES);
  const tsr_attr *priority = tsr_attr_field(record, TSR_SDY_DIM_PRIORITY);
  const bool open = !tsr_attr_field(record, TSR_SDY_DIM_CLOSED)->integer;
  print_between("{", axes, !open ? "}" : axes->count ? ", ?}" : "?}", out);
  if (priority) tsr_text_addf(out, "p%lld", (long long)priority->integer);
}

static void print_mesh_or_name(const tsr_attr *mesh, tsr_text *out) {
  if (mesh->kind == TSR_ATTR_RECORD) {
    tsr_text_add(out, "mesh");
    tsr_record_body_print(mesh, out);
  } else {
    tsr_attr_print(mesh, out);
  }
}

void tsr_print_sdy_sharding(const tsr_attr *record, tsr_text *out) {
  const tsr_attr *replicated = tsr_attr_field(record, TSR_SDY_SHARDING_REPLICATED);
  const tsr_attr *unreduced = tsr_attr_field(record, TSR_SDY_SHARDING_UNREDUCED);
  const tsr_attr *reduction = tsr_attr_field(record, TSR_SDY_SHARDING_REDUCTION);
  tsr_text_add_char(out, '<');
  print_mesh_or_name(tsr_attr_field(record, TSR_SDY_SHARDING_MESH), out);
  print_between(", [", tsr_attr_field(record, TSR_SDY_SHARDING_DIMS), "]", out);
  if (replicated->count) print_between(", replicated={", replicated, "}", out);
  if (unreduced->count) {
    tsr_text_add(out, ", unreduced=");
    if (reduction->integer != TSR_SDY_REDUCTION_SUM) tsr_enum_case_print(reduction, out);
    print_between("{", unreduced, "}", out);
  }
  tsr_text_add_char(out, '>');
}

void tsr_print_sdy_list(const tsr_attr *record, tsr_text *out) {
  const bool braces = record->id == TSR_RECORD_SDY_AXIS_LIST;
  print_between(braces ? "{" : "[", tsr_attr_field(record, 0), braces ? "}" : "]", out);
}

void tsr_print_sdy_all_to_all(const tsr_attr *record, tsr_text *out) {
  print_between("{", tsr_attr_field(record, TSR_SDY_ALL_TO_ALL_AXES), "}", out);
  tsr_text_addf(out, ": %lld->%lld",
                (long long)tsr_attr_field(record, TSR_SDY_ALL_TO_ALL_SOURCE)->integer,
                (long long)tsr_attr_field(record, TSR_SDY_ALL_TO_ALL_TARGET)->integer);
}

// ---- sharding rules ----

static void print_factor(int64_t factor, tsr_text *out) {
  if (factor <= 'z' - 'i')
    tsr_text_add_char(out, (char)('i' + factor));
  else
    tsr_text_addf(out, "z_%lld", (long long)(factor - ('z' - 'i')));
}

void tsr_print_sdy_dim_mapping(const tsr_attr *record, tsr_text *out) {
  const tsr_attr *factors = tsr_attr_field(record, TSR_SDY_DIM_MAPPING_FACTORS);
  for (int64_t i = 0; i < tsr_attr_int_count(factors); i++)
    print_factor(tsr_attr_int_at(factors, i), out);
}

static void print_sizes(const tsr_attr *sizes, tsr_text *out) {
  const int64_t count = tsr_attr_int_count(sizes);
  for (int64_t i = 0; i < count; i++) {
    tsr_text_add(out, i ? ", " : " {");
    print_factor(i, out);
    tsr_text_addf(out, "=%lld", (long long)tsr_attr_int_at(sizes, i));
  }
  if (count) tsr_text_add_char(out, '}');
}

static void print_set(const char *word, const tsr_attr *factors, tsr_text *out) {
  const int64_t count = tsr_attr_int_count(factors);
  if (count) tsr_text_addf(out, " %s={", word);
  for (int64_t i = 0; i < count; i++) {
    if (i) tsr_text_add(out, ", ");
    print_factor(tsr_attr_int_at(factors, i), out);
  }
  if (count) tsr_text_add_char(out, '}');
}

void tsr_print_sdy_rule(const tsr_attr *record, tsr_text *out) {
  const tsr_attr *const *f = record->items;
  print_between("<(", f[TSR_SDY_RULE_OPERANDS], ")->", out);
  print_between("(", f[TSR_SDY_RULE_RESULTS], ")", out);
  print_sizes(f[TSR_SDY_RULE_SIZES], out);
  print_set("reduction", f[TSR_SDY_RULE_REDUCTION], out);
  print_set("need_replication", f[TSR_SDY_RULE_NEED_REPLICATION], out);
  print_set("permutation", f[TSR_SDY_RULE_PERMUTATION], out);
  print_set("blocked_propagation", f[TSR_SDY_RULE_BLOCKED], out);
  tsr_text_add(out, f[TSR_SDY_RULE_CUSTOM]->integer ? ", custom>" : ">");
}
