// Options that several commands take: each has one definition here, with its values and its help
// text, so that it means the same and is refused alike everywhere. A command lists those it takes.
#ifndef TESSERA_CLI_OPTIONS_H
#define TESSERA_CLI_OPTIONS_H

// clang-format off

// ---- the mesh ----

#define CLI_OPTION_TP   {"tp", 0, "N", "1..", "tensor parallel: cut every layer over N ranks"}
#define CLI_OPTION_FSDP {"fsdp", 0, "N", "1..", "fully sharded data parallel: cut every tensor over N ranks"}
#define CLI_OPTION_EP   {"ep", 0, "N", "1..", "expert parallel: deal the experts to N ranks"}
#define CLI_OPTION_DP   {"dp", 0, "N", "1..", "data parallel: N replicas; axes are ordered dp, fsdp, ep, tp"}
#define CLI_OPTION_MESH {"mesh", 'm', "MESH", NULL, "device mesh, such as data=2,model=4, or a .json file of `tessera mesh`"}
#define CLI_OPTION_TOPOLOGY \
  {"topology", 't', "TOPOLOGY", NULL, "machine the devices belong to, such as gpu:2x8 (see `tessera topology`)"}
#define CLI_OPTIONS_AXES CLI_OPTION_TP, CLI_OPTION_FSDP, CLI_OPTION_EP, CLI_OPTION_DP
#define CLI_OPTIONS_MESH CLI_OPTIONS_AXES, CLI_OPTION_MESH, CLI_OPTION_TOPOLOGY

#define CLI_OPTIONS_T5X_MESH                                                                   \
    {"partitions", 0, "N", NULL, "t5x's mesh: number of model partitions"},                    \
    {"submesh", 0, "X,Y,Z,C", NULL, "t5x's mesh: model parallel submesh"},                     \
    {"ici", 0, "N,N,N", NULL, "t5x's mesh: sizes of replica, data, model within a slice"},     \
    {"dcn", 0, "N,N,N", NULL, "t5x's mesh: sizes of replica, data, model across slices"}

// ---- one tensor ----

#define CLI_OPTION_SHAPE {"shape", 's', "SHAPE", NULL, "shape of the tensor, such as 4096,1024"}
#define CLI_OPTION_NOTATION {"from", 0, "NOTATION", CLI_NOTATIONS, "notation of SPEC (default: recognised by its start)"}

// ---- how tensors are cut ----

#define CLI_OPTION_PRESET \
  {"preset", 'p', "FAMILY[:AXES]", NULL, "built-in rules, such as llama or llama:fsdp+tp (default: chosen by config.json)"}
#define CLI_OPTION_ANY_MODEL_TYPE {"any-model-type", 0, NULL, NULL, "use --preset even if it is not for the model's model_type"}
#define CLI_OPTION_RULES {"rules", 'r', "FILE", NULL, "rules: a regex, ->, and a spec on each line"}
#define CLI_OPTION_RENAME {"axes", 0, "OLD=NEW,...", NULL, "rename the axes of the rules, such as tp=model"}
#define CLI_OPTION_FACT {"fact", 0, "NAME=N,...", NULL, "numbers that rules or maps need and config.json lacks, such as heads=32"}
#define CLI_OPTION_NO_COMPANIONS {"no-companions", 0, NULL, NULL, "treat optimiser states and scales like any other tensor"}
// A policy: its letter (0 = none) and its default.
#define CLI_OPTION_POLICY(letter, otherwise) \
  {"policy", letter, "POLICY", "error|trim|pad|uneven", "what to do if a size does not divide (default: " otherwise ")"}
#define CLI_OPTIONS_DECIDE                                                                              \
  CLI_OPTIONS_MESH, CLI_OPTION_PRESET, CLI_OPTION_ANY_MODEL_TYPE, CLI_OPTION_RULES,                     \
  {"logical", 'l', "FILE", NULL, "rules for logical axes: a name, ->, and mesh axes on each line"},     \
  {"auto", 0, NULL, NULL, "no rules: cut the largest dimensions over the largest axes"},                \
  {"fit", 0, "SIZE", NULL, "no rules: cut until a device holds at most SIZE, such as 16G"},             \
  {"copies", 0, "N", NULL, "with --fit: gradients and optimiser states to count for each tensor"},      \
  CLI_OPTION_RENAME, CLI_OPTION_FACT,                                                                   \
  {"min-size", 0, "N", NULL, "do not cut tensors with fewer than N elements"},                          \
  CLI_OPTION_POLICY(0, "do not cut it"),                                                                \
  {"allow-unmatched", 0, NULL, NULL, "replicate tensors that no rule matches instead of refusing them"},\
  CLI_OPTION_NO_COMPANIONS

// For the descriptions of commands that have these options.
#define CLI_TEXT_CHOICE                                                                        \
  "\nWithout --preset, --rules, --logical, --auto and --fit, the model_type in config.json\n"   \
  "chooses the preset, and the axes of the mesh its variant. The choice and its reason go to\n" \
  "standard error.\n"

// ---- how shardings of a program propagate ----

#define CLI_OPTIONS_PROPAGATE                                                                                      \
  {"plan", 0, "PLAN", NULL, "plan for the arguments of the program, instead of rules"},                            \
  {"strategy", 0, "WORD", "aggressive|basic|basic-then-aggressive", "how conflicts within an op are decided (default: aggressive)"}, \
  {"no-op-priorities", 0, NULL, NULL, "propagate through all ops at once"},                                        \
  {"conservative", 0, NULL, NULL, "neither split axes nor shard what they do not divide"},                         \
  {"shared-functions", 0, NULL, NULL, "one set of shardings for all calls of a function"}

// ---- checkpoints ----

#define CLI_OPTION_FROM {"from", 0, "PLAN", NULL, "plan of a checkpoint with files for each rank, if it has no tessera-plan.json"}
#define CLI_OPTION_NPY_DTYPE \
  {"npy-dtype", 0, "DTYPE", NULL, "element type of NumPy arrays that do not record one, such as f8e4m3fn"}
#define CLI_OPTION_MAP {"map", 0, "MAP", NULL, "apply a map file, or a built-in map such as llama-fuse"}
#define CLI_OPTION_INCLUDE {"include", 0, "REGEX", NULL, "only tensors whose name matches; may be repeated"}
#define CLI_OPTION_EXCLUDE {"exclude", 0, "REGEX", NULL, "skip tensors whose name matches; may be repeated"}
#define CLI_OPTION_TRUST_REPLICAS {"trust-replicas", 0, NULL, NULL, "read one replica of each shard; do not compare the others"}
#define CLI_OPTION_STATS {"stats", 0, NULL, NULL, "print NaNs, infinities, minimum, maximum, mean and norm of tensors"}
#define CLI_OPTION_HASH {"hash", 0, NULL, NULL, "print the hashes of tensors, which do not depend on format or layout"}
#define CLI_OPTIONS_LIMITS                                                     \
  {"max-memory", 0, "SIZE", NULL, "memory limit, such as 256M (default: 1G)"}, \
  {"jobs", 0, "N", "1..4096", "worker threads (default: one per core)"}

// ---- jobs that write a checkpoint ----

#define CLI_OPTIONS_CUT                                                                                          \
  CLI_OPTIONS_DECIDE,                                                                                            \
  {"plan", 0, "PLAN", NULL, "plan from `tessera plan --json`, instead of a mesh and rules"},                     \
  {"format", 'f', "FORMAT", "tessera|ranks", "format of DST: tessera's own (default), or files for each rank"}
#define CLI_OPTIONS_CUT_SOURCE CLI_OPTION_FROM, CLI_OPTION_TRUST_REPLICAS
#define CLI_OPTION_WHOLE_FORMAT \
  {"format", 'f', "FORMAT", "file|folder|npz|npy", "format of DST (default: by its name)"}
#define CLI_OPTION_FILE_SIZE \
  {"max-file-size", 0, "SIZE", NULL, "start another file after SIZE, such as 2G (default: 5GB)"}
#define CLI_OPTIONS_JOB                                                                                          \
  CLI_OPTION_MAP, CLI_OPTION_NPY_DTYPE, CLI_OPTION_INCLUDE, CLI_OPTION_EXCLUDE,                                  \
  {"dtype", 0, "DTYPE", NULL, "cast floating point tensors, such as to bf16"},                                   \
  {"cast", 0, "REGEX=DTYPE", NULL, "cast tensors whose name matches; may be repeated, the first match wins"},    \
  {"allow-overflow", 0, NULL, NULL, "let values that are too large for a cast become inf or nan"},               \
  {"trust-source", 0, NULL, NULL, "do not compare the source with its stored hashes"},                           \
  CLI_OPTIONS_LIMITS,                                                                                            \
  {"resume", 0, NULL, NULL, "continue an unfinished job"},                                                       \
  {"force", 0, NULL, NULL, "replace the checkpoint at DST, in one step at the end"},                             \
  {"dry-run", 'n', NULL, NULL, "print what would be read and written, and write nothing"},                       \
  {"no-extras", 0, NULL, NULL, "do not copy config.json, the tokenizer and other small files"},                  \
  {"no-sync", 0, NULL, NULL, "do not wait until the files are on disk"},                                         \
  CLI_OPTION_JSON

// ---- engines ----

#define CLI_OPTIONS_ENGINE                                                                          \
  {"engine", 0, "ENGINE", "threads|mpi", "engine that moves the bytes (default: threads)"},         \
  {"workers", 'w', "N", "1..4096", "worker threads of a process (default: one per core)"},          \
  {"timeout", 0, "SECONDS", NULL, "give up after SECONDS without progress (default: 300)"}

// Of programs that run on the devices of a mesh.
#define CLI_OPTIONS_DEVICES                                                                         \
  {"engine", 0, "ENGINE", "threads|mpi",                                                            \
   "where the devices run: in this process, or on MPI ranks (default: mpi under its launcher)"},    \
  {"fast", 0, NULL, NULL, "let MPI choose the order of reductions between ranks"},                  \
  {"timeout", 0, "SECONDS", NULL, "give up after SECONDS without progress (default: 300)"},         \
  {"workers", 'w', "N", "1..4096", "worker threads of a process (default: one per core)"}

// ---- output ----

#define CLI_OPTION_JSON {"json", 'j', NULL, NULL, "print JSON instead of text"}
#define CLI_OPTION_OUTPUT {"output", 'o', "FILE", NULL, "write to FILE instead of standard output"}
#define CLI_OPTION_ALL {"all", 'a', NULL, NULL, "list all values and conflicts of a program, not the first few"}
#define CLI_OPTION_SVG {"svg", 0, "FILE", NULL, "write the picture as SVG (- is standard output)"}
#define CLI_OPTION_COLOR {"color", 0, "WHEN", "auto|always|never", "colour the picture (default: on a terminal)"}
// clang-format on

#endif
