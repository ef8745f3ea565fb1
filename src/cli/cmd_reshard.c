// `tessera reshard`, `shard`, `gather`, `split` and `merge`: a checkpoint written anew. One job
// does it all; the commands differ in what they take and what they make.
#include "cli/transform_job.h"

// ---- reshard ----

// clang-format off
static const cli_option reshard_options[] = {
    CLI_OPTIONS_CUT, CLI_OPTIONS_CUT_SOURCE, CLI_OPTIONS_JOB, CLI_OPTION_FILE_SIZE, {0}};
// clang-format on

#define RESUME_TEXT                                                                              \
  "\nMemory stays below --max-memory whatever the size of the model. The result is there whole " \
  "or not\nat all: until it is finished it grows in DST.partial, and a job that was stopped "    \
  "goes on with --resume.\n"

const cli_command cli_cmd_reshard = {
    .name = "reshard",
    .summary = "cut a checkpoint in another way, whatever way it is cut now",
    .usage = "SRC DST --tp N|--mesh MESH ... | --plan PLAN [options]",
    .min_args = 2,
    .max_args = 2,
    .options = reshard_options,
    .description =
        "SRC is a safetensors file, a Hugging Face folder, a folder with files for each rank, one "
        "that tessera\nwrote, NumPy's archive (.npz), array (.npy) or folder of arrays, or a "
        "folder of folders stage0, stage1,\n... with a checkpoint each, whose tensors a map makes "
        "one model (docs/map.md). DST becomes a folder of\ntessera's own, or one with files for "
        "each rank as tensor-parallel engines read them (--format ranks).\n" CLI_TEXT_CHOICE
            RESUME_TEXT,
    .examples =
        "tessera reshard Llama-3-8B tp8 --tp 8\n"
        "tessera reshard Llama-3-8B cut --mesh fsdp=2,tp=4 --preset llama:fsdp+tp --dry-run\n"
        "tessera reshard tp8 out --tp 4 --fsdp 2 --format ranks\n"
        "tessera reshard ranks out --from old.json --plan new.json --max-memory 256M\n",
    .run = cli_run_transform,
    .transform =
        &(const cli_transform_kind){.whole_source = true, .cut_source = true, .cuts = true},
};

// ---- shard ----

static const cli_option shard_options[] = {
    CLI_OPTIONS_CUT, CLI_OPTIONS_JOB, CLI_OPTION_FILE_SIZE, {0}};

const cli_command cli_cmd_shard = {
    .name = "shard",
    .summary = "cut a model that is stored whole",
    .usage = "SRC DST --tp N|--mesh MESH ... | --plan PLAN [options]",
    .min_args = 2,
    .max_args = 2,
    .options = shard_options,
    .description =
        "SRC is a safetensors file, a Hugging Face folder, or NumPy's: a .npz archive, a .npy "
        "file, a folder of\nthese. A config.json beside it tells the sizes that fused tensors are "
        "cut by.\n" CLI_TEXT_CHOICE RESUME_TEXT,
    .examples =
        "tessera shard Llama-3-8B tp8 --tp 8 --format ranks --dtype bf16\n"
        "tessera shard Llama-3-8B cut --mesh fsdp=2,tp=4 --preset llama:fsdp+tp\n",
    .run = cli_run_transform,
    .transform = &(const cli_transform_kind){.whole_source = true, .cuts = true},
};

// ---- gather ----

static const cli_option gather_options[] = {CLI_OPTIONS_CUT_SOURCE,
                                            CLI_OPTIONS_JOB,
                                            CLI_OPTION_WHOLE_FORMAT,
                                            CLI_OPTION_FILE_SIZE,
                                            CLI_OPTION_FACT,
                                            CLI_OPTION_NO_COMPANIONS,
                                            {0}};

const cli_command cli_cmd_gather = {
    .name = "gather",
    .summary = "make a checkpoint that is cut whole again",
    .usage = "SRC DST [options]",
    .min_args = 2,
    .max_args = 2,
    .options = gather_options,
    .description =
        "DST becomes one file if its name ends in .safetensors, NumPy's archive if it ends in "
        ".npz, otherwise a\nHugging Face folder; --format npy makes a folder of NumPy's "
        "arrays.\n" RESUME_TEXT,
    .examples =
        "tessera gather cut Llama-3-8B\n"
        "tessera gather ranks model.safetensors --from plan.json\n",
    .run = cli_run_transform,
    .transform = &(const cli_transform_kind){.cut_source = true},
};

// ---- split and merge ----

static const cli_option split_options[] = {
    CLI_OPTION_FILE_SIZE, CLI_OPTIONS_JOB, CLI_OPTION_FACT, CLI_OPTION_NO_COMPANIONS, {0}};

const cli_command cli_cmd_split = {
    .name = "split",
    .summary = "deal the tensors of a model to files of limited size",
    .usage = "SRC DST --max-file-size SIZE [options]",
    .min_args = 2,
    .max_args = 2,
    .options = split_options,
    .description =
        "DST becomes a Hugging Face folder with an index. A file is larger than the "
        "limit only where a\nsingle tensor is.\n" RESUME_TEXT,
    .examples = "tessera split model.safetensors Llama-3-8B --max-file-size 2G\n",
    .run = cli_run_transform,
    .transform = &(const cli_transform_kind){.whole_source = true, .folder = true},
};

static const cli_option merge_options[] = {
    CLI_OPTIONS_JOB, CLI_OPTION_WHOLE_FORMAT, CLI_OPTION_FACT, CLI_OPTION_NO_COMPANIONS, {0}};

const cli_command cli_cmd_merge = {
    .name = "merge",
    .summary = "put the tensors of a model into one file",
    .usage = "SRC DST [options]",
    .min_args = 2,
    .max_args = 2,
    .options = merge_options,
    .description =
        "DST becomes a file if its name ends in .safetensors, NumPy's archive if it ends in .npz, "
        "otherwise a\nfolder with model.safetensors and the small files that lay beside the old "
        "ones; --format npy makes a\nfolder of NumPy's arrays. What NumPy has no type for, as "
        "bf16, is noted beside the arrays.\n" RESUME_TEXT,
    .examples =
        "tessera merge Llama-3-8B model.safetensors\n"
        "tessera merge Llama-3-8B model.npz --dtype f32\n",
    .run = cli_run_transform,
    .transform = &(const cli_transform_kind){.whole_source = true, .one_file = true},
};
