// What the commands share that write a checkpoint anew: reshard, shard, gather, split, merge.
#ifndef TESSERA_CLI_TRANSFORM_JOB_H
#define TESSERA_CLI_TRANSFORM_JOB_H

#include "cli/checkpoint_source.h"
#include "cli/plan_source.h"

// Rows of options: how the tensors are cut at the destination, and how the job is done.
// clang-format off
#define CLI_OPTIONS_CUT                                                                            \
    CLI_OPTIONS_DECIDE,                                                                            \
    {"plan", 0, "PLAN", NULL, "or how the tensors will be cut, as `tessera plan --json` wrote it"}, \
    {"format", 'f', "FORMAT", "tessera|ranks", "of the destination: our own folder (default), or files for each rank"}

#define CLI_OPTIONS_JOB                                                                            \
    CLI_OPTION_MAP,                                                                                \
    CLI_OPTION_NPY_DTYPE,                                                                          \
    {"include", 0, "REGEX", NULL, "write only tensors whose name matches; may be repeated"},       \
    {"exclude", 0, "REGEX", NULL, "leave out tensors whose name matches; may be repeated"},        \
    {"dtype", 0, "DTYPE", NULL, "cast floating point tensors, as bf16"},                           \
    {"cast", 0, "REGEX=DTYPE", NULL, "cast those whose name matches; may be repeated, the first wins"}, \
    {"allow-overflow", 0, NULL, NULL, "let numbers too large for a cast become inf or nan"}, \
    {"trust-source", 0, NULL, NULL, "do not compare what is read with the source's hashes"},       \
    {"max-memory", 0, "SIZE", NULL, "memory the job may take (default: 1G)"},                      \
    {"jobs", 0, "N", NULL, "threads (default: one for each core)"},                                \
    {"resume", 0, NULL, NULL, "go on with a job that was stopped"},                                \
    {"force", 0, NULL, NULL, "replace the checkpoint at the destination, at the end and in one step"}, \
    {"dry-run", 'n', NULL, NULL, "say what would be done and what it takes, and write nothing"},   \
    {"no-extras", 0, NULL, NULL, "leave config.json, tokenizer and other small files behind"},     \
    {"no-sync", 0, NULL, NULL, "do not wait for the disk at the end"},                             \
    {"json", 'j', NULL, NULL, "print what was done (or would be) as data"}
// Of commands that cut nothing; CLI_OPTIONS_CUT has it too.
#define CLI_OPTION_NO_COMPANIONS                                                                   \
    {"no-companions", 0, NULL, NULL, "treat optimiser states and scales as any other tensors"}
// Of sources that are cut.
#define CLI_OPTIONS_CUT_SOURCE                                                                     \
    CLI_OPTION_FROM,                                                                               \
    {"trust-replicas", 0, NULL, NULL, "do not compare replicas that the source stores"}
// Of destinations that hold tensors whole.
#define CLI_OPTION_WHOLE_FORMAT                                                                    \
    {"format", 'f', "FORMAT", "file|folder|npz|npy", "of the destination, where its name does not say"}
#define CLI_OPTION_FILE_SIZE                                                                       \
    {"max-file-size", 0, "SIZE", NULL, "start another file after this much, as 2G (default: 5GB)"}
// clang-format on

// What a command allows: whether its source may be whole or cut, and where its result goes.
typedef struct cli_transform_kind {
  bool whole_source, cut_source;
  bool cuts;      // the result is cut by a plan; otherwise its tensors are whole
  bool one_file;  // all of them in one
  bool folder;    // in a folder, whatever its name
} cli_transform_kind;

// Opens the first argument, decides by the options, and writes the second one.
tsr_status cli_transform(const cli_args *args, const cli_transform_kind *kind);

#endif
