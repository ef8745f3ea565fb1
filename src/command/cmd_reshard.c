// `tessera reshard`, `shard`, `gather`, `split` and `merge`: one job writes the checkpoint; the
// commands differ in what they read and write.
#include "command/command.h"

// clang-format off
static const cli_option reshard_options[] = {
    CLI_OPTIONS_CUT, CLI_OPTIONS_CUT_SOURCE, CLI_OPTIONS_JOB, CLI_OPTION_FILE_SIZE, {0}};
// clang-format on

#define RESUME_TEXT                                                                            \
  "\nMemory stays below --max-memory for models of any size. DST appears complete or not at\n" \
  "all: it is written as DST.partial first, and --resume continues an unfinished job.\n"

const cli_command cli_cmd_reshard = {
    .name = "reshard",
    .summary = "change how a checkpoint is cut",
    .usage = "SRC DST --tp N|--mesh MESH ... | --plan PLAN [options]",
    .options = reshard_options,
    .description =
        "SRC is a safetensors file, a Hugging Face folder, a folder with files for each rank, a\n"
        "folder that tessera wrote, a NumPy archive (.npz), array (.npy) or folder of arrays,\n"
        "or a folder of stage0, stage1, ... with one checkpoint each, which a map joins into\n"
        "one model (docs/map.md). DST becomes a tessera folder, or with --format ranks a folder\n"
        "with files for each rank, as tensor-parallel engines read them.\n" CLI_TEXT_CHOICE
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

static const cli_option shard_options[] = {
    CLI_OPTIONS_CUT, CLI_OPTIONS_JOB, CLI_OPTION_FILE_SIZE, {0}};

const cli_command cli_cmd_shard = {
    .name = "shard",
    .summary = "cut a checkpoint of whole tensors",
    .usage = "SRC DST --tp N|--mesh MESH ... | --plan PLAN [options]",
    .options = shard_options,
    .description =
        "SRC is a safetensors file, a Hugging Face folder, a NumPy archive (.npz), array (.npy)\n"
        "or folder of arrays. A config.json beside it gives the sizes by which fused tensors\n"
        "are cut.\n" CLI_TEXT_CHOICE RESUME_TEXT,
    .examples =
        "tessera shard Llama-3-8B tp8 --tp 8 --format ranks --dtype bf16\n"
        "tessera shard Llama-3-8B cut --mesh fsdp=2,tp=4 --preset llama:fsdp+tp\n",
    .run = cli_run_transform,
    .transform = &(const cli_transform_kind){.whole_source = true, .cuts = true},
};

static const cli_option gather_options[] = {CLI_OPTIONS_CUT_SOURCE,
                                            CLI_OPTIONS_JOB,
                                            CLI_OPTION_WHOLE_FORMAT,
                                            CLI_OPTION_FILE_SIZE,
                                            CLI_OPTION_FACT,
                                            CLI_OPTION_NO_COMPANIONS,
                                            {0}};

const cli_command cli_cmd_gather = {
    .name = "gather",
    .summary = "join the shards of a checkpoint into whole tensors",
    .usage = "SRC DST [options]",
    .options = gather_options,
    .description =
        "DST becomes one file if its name ends in .safetensors, a NumPy archive if it ends in\n"
        ".npz, otherwise a Hugging Face folder. --format npy writes a folder of NumPy "
        "arrays.\n" RESUME_TEXT,
    .examples =
        "tessera gather cut Llama-3-8B\n"
        "tessera gather ranks model.safetensors --from plan.json\n",
    .run = cli_run_transform,
    .transform = &(const cli_transform_kind){.cut_source = true},
};

static const cli_option split_options[] = {
    CLI_OPTION_FILE_SIZE, CLI_OPTIONS_JOB, CLI_OPTION_FACT, CLI_OPTION_NO_COMPANIONS, {0}};

const cli_command cli_cmd_split = {
    .name = "split",
    .summary = "write the tensors of a model to files of limited size",
    .usage = "SRC DST --max-file-size SIZE [options]",
    .options = split_options,
    .description =
        "DST becomes a Hugging Face folder with an index. A file exceeds the limit only if a\n"
        "single tensor does.\n" RESUME_TEXT,
    .examples = "tessera split model.safetensors Llama-3-8B --max-file-size 2G\n",
    .run = cli_run_transform,
    .transform = &(const cli_transform_kind){.whole_source = true, .folder = true},
};

static const cli_option merge_options[] = {
    CLI_OPTIONS_JOB, CLI_OPTION_WHOLE_FORMAT, CLI_OPTION_FACT, CLI_OPTION_NO_COMPANIONS, {0}};

const cli_command cli_cmd_merge = {
    .name = "merge",
    .summary = "write all tensors of a model to one file",
    .usage = "SRC DST [options]",
    .options = merge_options,
    .description =
        "DST becomes a file if its name ends in .safetensors, a NumPy archive if it ends in\n"
        ".npz, otherwise a folder with model.safetensors and the small files beside SRC.\n"
        "--format npy writes a folder of NumPy arrays. Types that NumPy lacks, such as bf16,\n"
        "are recorded beside the arrays.\n" RESUME_TEXT,
    .examples =
        "tessera merge Llama-3-8B model.safetensors\n"
        "tessera merge Llama-3-8B model.npz --dtype f32\n",
    .run = cli_run_transform,
    .transform = &(const cli_transform_kind){.whole_source = true, .one_file = true},
};
