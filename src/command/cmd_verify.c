// `tessera verify`: whether two checkpoints hold the same tensors, in any formats and layouts.
#include <stdlib.h>
#include <string.h>

#include "base/hash_internal.h"
#include "base/text_internal.h"
#include "command/command.h"
#include "inspect/verify_internal.h"
#include "json/json.h"
#include "tessera/checkpoint/progress.h"

// "0.001" or "0.001,0.01": the absolute and the relative error that are allowed.
static tsr_status read_tolerance(const char *text, tsr_verify_options *options) {
  char *end = NULL;
  options->tolerant = true;
  options->absolute = strtod(text, &end);
  const bool has_absolute = end != text;
  if (has_absolute && *end == ',') {
    const char *second = end + 1;
    options->relative = strtod(second, &end);
    if (end == second) end = NULL;
  }
  if (has_absolute && end && !*end && options->absolute >= 0 && options->relative >= 0) return NULL;
  return tsr_fail(BAD_ARGUMENT, "--tolerance is \"%s\", wanted ABSOLUTE or ABSOLUTE,RELATIVE",
                  text);
}

static tsr_status read_options(const cli_args *args, tsr_verify_options *options) {
  TSR_TRY(cli_read_limits(args, &options->max_memory, &options->jobs));
  options->trust_hashes = cli_has(args, "trust-hashes");
  if (cli_has(args, "trust-replicas")) options->replicas = TSR_REPLICAS_TRUST;
  options->hashes = cli_has(args, "hash");
  options->stats = cli_has(args, "stats");
  options->progress = tsr_progress_bar;
  options->progress_context = stderr;
  return cli_has(args, "tolerance") ? read_tolerance(cli_value(args, "tolerance"), options) : NULL;
}

// ---- as text ----

static void print_row(const tsr_verification *result, int64_t index, tsr_text *out) {
  static const char *const signs[2] = {"<", ">"};
  const tsr_verify_row *row = tsr_verification_at(result, index);
  if (row->verdict != TSR_VERDICT_SAME) {
    const size_t start = out->length;
    tsr_verification_print_row(result, index, out);
    if (out->length > start) tsr_make_plain_line(out->data + start, out->length - start);
    if (row->absolute > 0)
      tsr_text_addf(out, "; errors up to %.3g, %.3g of the value", row->absolute, row->relative);
    tsr_text_add_char(out, '\n');
  }
  const bool same_hash =
      row->hashed[0] && row->hashed[1] && tsr_hash128_equal(row->hashes[0], row->hashes[1]);
  for (int w = 0; w < (same_hash ? 1 : 2); w++) {
    if (!row->hashed[w]) continue;
    tsr_hash128_print(row->hashes[w], out);
    tsr_text_addf(out, " %s ", same_hash ? "=" : signs[w]);
    tsr_text_add_plain(out, row->name);
    tsr_text_add_char(out, '\n');
  }
  for (int w = 0; w < 2; w++) {
    if (!row->stats[w].count) continue;
    tsr_text_addf(out, "%s ", signs[w]);
    tsr_text_add_plain(out, row->name);
    tsr_text_add(out, ": ");
    tsr_stats_print(&row->stats[w], out);
  }
}

static void print_totals(const tsr_verification *result, tsr_text *out) {
  const char *separator = ". ";
  const int64_t count = tsr_verification_count(result);
  tsr_text_addf(out, "%lld tensor%s", (long long)count, count == 1 ? "" : "s");
  for (int v = 0; v < TSR_VERDICT_COUNT; v++) {
    const int64_t total = tsr_verification_total(result, (tsr_verdict)v);
    if (!total) continue;
    tsr_text_addf(out, "%s%s: %lld", separator, tsr_verdict_text((tsr_verdict)v), (long long)total);
    separator = "; ";
  }
  tsr_text_add_char(out, '\n');
}

// ---- as JSON ----

static void write_hashes(const tsr_verify_row *row, tsr_json_writer *w) {
  tsr_json_add_inline_array(w, "hashes");
  for (int i = 0; i < 2; i++) {
    tsr_text digits = TSR_TEXT_EMPTY;
    if (row->hashed[i]) tsr_hash128_print(row->hashes[i], &digits);
    tsr_json_write_string(w, row->hashed[i] ? tsr_text_string(&digits) : NULL);
    tsr_text_deinit(&digits);
  }
  tsr_json_end_array(w);
}

static void write_values(const tsr_verify_row *row, tsr_json_writer *w) {
  tsr_json_add_int(w, "differing", row->differing);
  tsr_json_add_int(w, "first", row->first);
  tsr_json_add_inline_array(w, "values");
  for (int i = 0; i < 2; i++) tsr_json_write_string(w, row->values[i]);
  tsr_json_end_array(w);
  tsr_json_add_double(w, "absolute_error", row->absolute);
  tsr_json_add_double(w, "relative_error", row->relative);
}

static void write_row(const tsr_verify_row *row, tsr_json_writer *w) {
  tsr_json_begin_object(w);
  tsr_json_add_string(w, "name", row->name);
  tsr_json_add_string(w, "verdict", tsr_verdict_name(row->verdict));
  if (row->hashed[0] || row->hashed[1]) write_hashes(row, w);
  if (row->verdict == TSR_VERDICT_VALUES) write_values(row, w);
  if (row->message) tsr_json_add_string(w, "message", row->message);
  if (row->stats[0].count || row->stats[1].count) {
    tsr_json_add_array(w, "stats");
    for (int i = 0; i < 2; i++) tsr_stats_to_json(&row->stats[i], w);
    tsr_json_end_array(w);
  }
  tsr_json_end_object(w);
}

// `mapped` is the checkpoint that was mapped, 0 or 1; -1 = none.
static void write_data(const tsr_verification *result, int64_t mapped, bool quiet, tsr_text *out) {
  tsr_json_writer w;
  tsr_json_begin_document(&w, out);
  tsr_json_add_bool(&w, "equal", tsr_verification_equal(result));
  tsr_json_add_string(&w, "mapped", mapped < 0 ? NULL : mapped ? "second" : "first");
  for (int v = 0; v < TSR_VERDICT_COUNT; v++)
    tsr_json_add_int(&w, tsr_verdict_name((tsr_verdict)v),
                     tsr_verification_total(result, (tsr_verdict)v));
  tsr_json_add_int(&w, "bytes_read", tsr_verification_bytes_read(result));
  if (!quiet) {
    tsr_json_add_array(&w, "tensors");
    for (int64_t i = 0; i < tsr_verification_count(result); i++)
      write_row(tsr_verification_at(result, i), &w);
    tsr_json_end_array(&w);
  }
  tsr_json_end_document(&w);
}

// ---- the command ----

static void print_result(cli_args *args, const tsr_verification *result, int64_t mapped) {
  const bool json = cli_has(args, "json"), quiet = cli_has(args, "quiet");
  for (int64_t i = 0; i < tsr_verification_count(result) && !json && !quiet; i++)
    print_row(result, i, &args->out);
  if (json)
    write_data(result, mapped, quiet, &args->out);
  else
    print_totals(result, &args->out);
  if (!tsr_verification_equal(result)) args->exit_code = EXIT_CHECK_FAILED;
}

static tsr_status open_map(const cli_args *args, const tsr_checkpoint *first,
                           const tsr_checkpoint *second, int64_t *out_which,
                           tsr_mapping **out_map) {
  const tsr_tree *const trees[2] = {tsr_checkpoint_tree(first), tsr_checkpoint_tree(second)};
  if (cli_has(args, "map-of") && !cli_has(args, "map"))
    return tsr_fail(BAD_ARGUMENT, "--map-of %s has no effect without --map",
                    cli_value(args, "map-of"));
  if (!cli_has(args, "map")) TSR_TRY(cli_check_facts(args, UINT64_MAX));
  return cli_open_map_of_either(args, args->positional, trees, out_which, out_map);
}

static tsr_status run_verify(cli_args *args) {
  tsr_verify_options options = {.size = sizeof options};
  tsr_checkpoint *first = NULL, *second = NULL;
  tsr_verification *result = NULL;
  tsr_mapping *map = NULL;
  tsr_status status = read_options(args, &options);
  if (!status) status = cli_open_checkpoint(args, args->positional[0], "from", &first);
  if (!status) status = cli_open_checkpoint(args, args->positional[1], "from-second", &second);
  if (!status) status = open_map(args, first, second, &options.mapped, &map);
  options.map = map;
  if (!status) status = tsr_checkpoint_verify(first, second, &options, &result);
  if (!status) print_result(args, result, map ? options.mapped : -1);
  tsr_verification_destroy(result);
  tsr_mapping_release(map);
  tsr_checkpoint_release(first);
  tsr_checkpoint_release(second);
  return status;
}

static const cli_option verify_options[] = {
    CLI_OPTION_FROM,
    {"from-second", 0, "PLAN", NULL, "--from of B"},
    CLI_OPTION_NPY_DTYPE,
    CLI_OPTION_MAP,
    {"map-of", 0, "WHICH", "a|b",
     "which one to map (default: the one with the names and shapes of the map's sources)"},
    CLI_OPTION_FACT,
    {"tolerance", 0, "ABS[,REL]", NULL, "allow these errors and different types, as after a cast"},
    {"trust-hashes", 0, NULL, NULL,
     "compare stored hashes, where there are any, instead of elements"},
    CLI_OPTION_TRUST_REPLICAS,
    CLI_OPTION_HASH,
    CLI_OPTION_STATS,
    {"quiet", 'q', NULL, NULL, "print the totals only"},
    CLI_OPTIONS_LIMITS,
    CLI_OPTION_JSON,
    {0},
};

const cli_command cli_cmd_verify = {
    .name = "verify",
    .summary = "prove that two checkpoints hold the same tensors",
    .usage = "A B [options]",
    .options = verify_options,
    .description =
        "A and B are checkpoints of any format and layout, as for `tessera inspect`. Tensors\n"
        "are compared by name, type, shape and every element; a difference is shown with its\n"
        "first element. With --map, the checkpoint that has the map's sources is mapped and\n"
        "then compared with the other.\n\n"
        "Exit code 1 if anything differs, as with diff(1).\n",
    .examples =
        "tessera verify Llama-3-8B cut\n"
        "tessera verify Llama-3-8B bf16 --tolerance 0,0.004\n"
        "tessera verify fused Llama-3-8B --map llama-fuse\n"
        "tessera verify ranks whole.safetensors --from plan.json --json\n",
    .run = run_verify,
};
