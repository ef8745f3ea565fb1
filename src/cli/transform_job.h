// What the commands share that write a checkpoint anew: reshard, shard, gather, split, merge.
#ifndef TESSERA_CLI_TRANSFORM_JOB_H
#define TESSERA_CLI_TRANSFORM_JOB_H

#include "cli/checkpoint_source.h"

// Rows of options: how the tensors are cut at the destination, and how the job is done.
// clang-format off
#define CLI_OPTIONS_CUT                                                                            \
    {"plan", 0, "PLAN", NULL, "how the tensors will be cut, as `tessera plan --json` wrote it"},   \
    {"mesh", 'm', "MESH", NULL, "or the mesh, as fsdp=8,tp=4, with a way to decide:"},             \
    {"preset", 'p', "FAMILY:AXES", NULL, "rules that ship with tessera, as llama:fsdp+tp"},        \
    {"rules", 'r', "FILE", NULL, "rules of your own: a regex, ->, a spec on each line"},           \
    {"logical", 'l', "FILE", NULL, "rules for logical axes"},                                      \
    {"auto", 0, NULL, NULL, "largest dimensions over largest axes"},                               \
    {"fit", 0, "SIZE", NULL, "cut until a device holds at most this much, as 16G"},                \
    {"copies", 0, "N", NULL, "--fit: gradient and optimiser copies of each tensor"},               \
    {"topology", 't', "TOPOLOGY", NULL, "the machine the devices belong to"},                      \
    {"axes", 0, "OLD=NEW,...", NULL, "new names for the axes of rules, as tp=model"},              \
    {"fact", 0, "NAME=N,...", NULL, "numbers that rules ask for, where config.json lacks them"},   \
    {"min-size", 0, "N", NULL, "do not cut tensors with fewer elements"},                          \
    {"policy", 0, "POLICY", "error|trim|pad|uneven", "for sizes that do not divide (default: they are not cut)"}, \
    {"allow-unmatched", 0, NULL, NULL, "replicate tensors without a rule instead of refusing"},    \
    {"no-companions", 0, NULL, NULL, "let rules decide on optimiser states and scales too"}, \
    {"format", 'f', "FORMAT", "tessera|ranks", "of the destination: our own folder (default), or files for each rank"}

#define CLI_OPTIONS_JOB                                                                            \
    CLI_OPTION_MAP,                                                                                \
    CLI_OPTION_NPY_DTYPE,                                                                          \
    {"include", 0, "REGEX", NULL, "write only tensors whose name matches; may be repeated"},       \
    {"exclude", 0, "REGEX", NULL, "leave out tensors whose name matches; may be repeated"},        \
    {"dtype", 0, "DTYPE", NULL, "cast floating point tensors, as bf16"},                           \
    {"cast", 0, "REGEX=DTYPE", NULL, "cast those whose name matches; may be repeated, the first wins"}, \
    {"max-memory", 0, "SIZE", NULL, "memory the job may take (default: 1G)"},                      \
    {"jobs", 0, "N", NULL, "threads (default: one for each core)"},                                \
    {"resume", 0, NULL, NULL, "go on with a job that was stopped"},                                \
    {"force", 0, NULL, NULL, "replace what is at the destination, at the end and in one step"},    \
    {"dry-run", 'n', NULL, NULL, "say what would be done and what it takes, and write nothing"},   \
    {"no-extras", 0, NULL, NULL, "leave config.json, tokenizer and other small files behind"},     \
    {"no-sync", 0, NULL, NULL, "do not wait for the disk at the end"},                             \
    {"json", 'j', NULL, NULL, "print what was done (or would be) as data"}
// Of sources that are cut.
#define CLI_OPTIONS_CUT_SOURCE                                                                     \
    CLI_OPTION_FROM,                                                                               \
    {"trust-copies", 0, NULL, NULL, "do not compare copies that the source stores of one thing"}
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
