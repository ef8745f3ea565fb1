// Where a job writes: the format by --format or the name of the destination, and for formats that
// store shards the plan, by --plan or by a mesh and rules.
#include <string.h>

#include "base/text_internal.h"
#include "cli/transforms.h"
#include "format/format.h"
#include "plan/plan_internal.h"
#include "store/checkpoint_internal.h"

// ---- format ----

// A name that ends like a file must become a file of that format, never a folder.
static tsr_status check_name(const char *to, tsr_checkpoint_format format) {
  static const char *const others[] = {".pt", ".pth", ".bin",  ".pkl",     ".gguf", ".ggml",
                                       ".h5", ".npy", ".onnx", ".msgpack", ".zip"};
  const tsr_checkpoint_format named = tsr_format_of_file_name(to);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (tsr_ends_with(to, others[i]))
      return tsr_fail(BAD_ARGUMENT,
                      "%s: %s files cannot be written, wanted a name that ends in .safetensors or "
                      ".npz, or a folder",
                      to, others[i]);
  if (named == TSR_FORMAT_ANY || named == format) return NULL;
  if (tsr_format_single_ending(format))
    return tsr_fail(BAD_ARGUMENT, "%s does not fit format %s, wanted a name that ends in %s", to,
                    tsr_checkpoint_format_name(format), tsr_format_single_ending(format));
  return tsr_fail(BAD_ARGUMENT, "%s would be a folder (format %s), wanted a name without %s", to,
                  tsr_checkpoint_format_name(format), tsr_format_single_ending(named));
}

static tsr_status choose_format(const cli_args *args, tsr_checkpoint_format *out_format) {
  const cli_transform_kind *kind = args->command->transform;
  const char *to = args->positional[1];
  const tsr_checkpoint_format named = tsr_format_of_file_name(to);
  if (cli_has(args, "format"))
    TSR_TRY(tsr_checkpoint_format_parse(cli_value(args, "format"), out_format));
  else
    *out_format = kind->cuts || kind->folder || !named ? tsr_format_default(kind->cuts) : named;
  return check_name(to, *out_format);
}

// ---- plan ----

static tsr_status make_plan(const cli_args *args, const tsr_checkpoint *source,
                            const tsr_transform_options *options, uint64_t *inout_unused,
                            tsr_plan **out_plan) {
  tsr_tree *tree = NULL;
  tsr_mesh *mesh = NULL;
  if (cli_has(args, "plan")) {
    TSR_TRY(cli_refuse_deciding(args, "--plan says how the tensors are cut"));
    return cli_open_plan(cli_value(args, "plan"), out_plan);
  }
  tsr_status status = cli_open_mesh(args, &mesh);
  if (!status) status = tsr_transform_tree(source, options, &tree);
  if (!status)
    status = cli_make_plan(args, args->positional[0], tree, mesh, inout_unused, out_plan);
  tsr_tree_release(tree);
  tsr_mesh_release(mesh);
  return status;
}

// The note that says why a tensor is cut less than its rule wants: because of its size, the sizes
// of others in its group, or an axis that the mesh lacks. NULL = it is not.
static const tsr_plan_note *find_misfit(const tsr_plan_row *row) {
  if (tsr_spec_equal(row->wanted, row->final)) return NULL;
  for (int64_t i = 0; i < row->note_count; i++) {
    const tsr_why why = row->notes[i].why;
    if (why == TSR_WHY_INDIVISIBLE || why == TSR_WHY_CUT_MISFIT || why == TSR_WHY_TOGETHER ||
        why == TSR_WHY_AXIS_MISSING)
      return &row->notes[i];
  }
  return NULL;
}

static const char *misfit_hint(const cli_args *args, const tsr_plan_note *misfit) {
  if (misfit->why == TSR_WHY_AXIS_MISSING) return ", --axes renames axes";
  return cli_has(args, "policy") || cli_has(args, "plan") ? "" : ", --policy may help";
}

// A tensor that is not cut is on every rank, which costs too much to pass silently. The first one
// is named, or better the first whose own size is the reason and not its group.
static tsr_status warn_of_misfits(const cli_args *args, const tsr_plan *plan) {
  tsr_text text = TSR_TEXT_EMPTY;
  const tsr_plan_note *named = NULL;
  int64_t misfits = 0, at = 0;
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) {
    tsr_plan_row row = TSR_PLAN_ROW;
    TSR_TRY(tsr_plan_at(plan, i, &row));
    const tsr_plan_note *note = find_misfit(&row);
    if (!note) continue;
    if (!misfits++ || (named->why == TSR_WHY_TOGETHER && note->why != TSR_WHY_TOGETHER)) {
      named = note;
      at = i;
    }
  }
  if (!misfits) return NULL;
  tsr_plan_note_print(plan, at, named, &text);
  tsr_status status = tsr_text_check(&text);
  if (!status)
    cli_say(
        "warning: %s: %lld of %lld tensors are cut less than wanted, such as %s: %s (`tessera "
        "plan` lists all%s)\n",
        args->positional[1], (long long)misfits, (long long)tsr_plan_count(plan),
        tsr_tree_at(tsr_plan_tree(plan), at)->path, tsr_text_string(&text),
        misfit_hint(args, named));
  tsr_text_deinit(&text);
  return status;
}

tsr_status cli_choose_destination(const cli_args *args, const tsr_checkpoint *source,
                                  tsr_transform_options *options, uint64_t *inout_unused,
                                  tsr_plan **out_plan) {
  const cli_transform_kind *kind = args->command->transform;
  if (kind->one_file) options->max_file_size = INT64_MAX;
  TSR_TRY(choose_format(args, &options->format));
  if (!kind->cuts) return NULL;
  TSR_TRY(make_plan(args, source, options, inout_unused, out_plan));
  options->plan = *out_plan;
  return warn_of_misfits(args, *out_plan);
}
