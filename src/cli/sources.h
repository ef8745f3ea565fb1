// What the options of commands describe: checkpoints, programs, facts, maps, plans, rules,
// partitioners, specs, engines.
#ifndef TESSERA_CLI_SOURCES_H
#define TESSERA_CLI_SOURCES_H

#include "cli/cli.h"
#include "json/json.h"
#include "rules/rules_internal.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/comm.h"
#include "tessera/compat/t5x_partitioner.h"
#include "tessera/engine/sharding.h"
#include "tessera/layout.h"
#include "tessera/plan.h"
#include "tessera/program/program.h"
#include "tessera/program/propagation.h"
#include "tessera/rules.h"
#include "tessera/spec.h"
#include "tessera/text.h"
#include "tessera/tree.h"

// ---- checkpoints, --max-memory and --jobs ----

// Opens a checkpoint, with the plan of `option` ("from" or "from-second") and the dtype of
// --npy-dtype if they are given. Warnings go to standard error.
tsr_status cli_open_checkpoint(const cli_args *args, const char *path, const char *option,
                               tsr_checkpoint **out_checkpoint);

// The values of --max-memory and --jobs; 0 = not given.
tsr_status cli_read_limits(const cli_args *args, int64_t *out_memory, int *out_jobs);

// ---- programs ----

// Whether a path is a program rather than a checkpoint or a plan: by content, and by the name
// .mlir for texts. Anything that cannot be read is none.
bool cli_is_program(const char *path);
// The name of a program in messages: "<stdin>" for "-".
const char *cli_program_name(const char *path);
// Opens a program; "-" is standard input.
tsr_status cli_open_program(const char *path, bool unchecked, tsr_program **out_program);
// Prints a program as --generic, --locations and --elide ask for it.
tsr_status cli_print_program(const cli_args *args, const tsr_program *program, tsr_text *out);
// With --mesh (or --tp and its like) the program with its shardings on that mesh, in place of the
// one given. The mesh must have the axes that its shardings name. Without, a program whose
// shardings are in XLA's older form, or have meshes inside, names these meshes.
tsr_status cli_put_on_mesh(const cli_args *args, tsr_program **program);
// The devices of the largest mesh that shardings of a program name; 1 without one.
int64_t cli_device_count(const tsr_program *program);

// The first mesh of a program.
tsr_status cli_program_mesh(const tsr_program *program, const char *path, tsr_mesh **out_mesh);
// Propagates the shardings of a program with the mesh and the plan, or the rules, of the options
// (CLI_OPTIONS_DECIDE, CLI_OPTIONS_PROPAGATE), and with constraints. `path` is its path.
tsr_status cli_propagate(const cli_args *args, const char *path, const tsr_program *program,
                         const tsr_value_constraint *constraints, int64_t constraint_count,
                         tsr_propagation **out_propagation);

// ---- the numbers that rules and maps compute with, from --fact and config.json ----

enum { CLI_MAX_FACTS = 64 };

typedef struct cli_facts {
  char buffer[1024];       // names given by --fact
  int count, given_count;  // those of --fact come first
  tsr_fact items[CLI_MAX_FACTS];
  tsr_facts config;  // those of config.json
} cli_facts;

// The config.json in the folder of a model, or beside its file. NULL = there is none.
tsr_status cli_open_config(const char *model, tsr_json_doc **out_doc);

// Its facts. Without such a file, `*out_facts` is unchanged.
tsr_status cli_read_config(const char *model, tsr_facts *out_facts);

// The facts of --fact, and those of the model's config.json that --fact lacks. `model` may be NULL.
// The caller must deinit `facts` also after a failure.
tsr_status cli_collect_facts(const cli_args *args, const char *model, cli_facts *facts);
void cli_facts_deinit(cli_facts *facts);

// Copies all facts except one; returns their number.
int cli_facts_without(const cli_facts *facts, int index, tsr_fact *out_items);

// Fails if a fact of --fact is unused: bit i of `unused` is that of fact i.
tsr_status cli_check_facts(const cli_args *args, uint64_t unused);

// ---- the map of --map, applied to the tensors of a model ----

// Applies the map of --map (a file or a built-in map) to the tensors of a model, with its facts.
// Warnings go to standard error. `*out_mapping` is unchanged without --map. Clears the bits of
// `*inout_unused` for the facts of --fact that the map uses.
tsr_status cli_open_map(const cli_args *args, const char *model, const tsr_tree *tree,
                        uint64_t *inout_unused, tsr_mapping **out_mapping);

// The same for one of two models: the one of --map-of, or else the one that the map fits. The
// choice goes to standard error.
tsr_status cli_open_map_of_either(const cli_args *args, const char *const paths[2],
                                  const tsr_tree *const trees[2], int64_t *out_which,
                                  tsr_mapping **out_mapping);

// ---- plans, made for a model by options or read from a file ----

// Opens a model: a list of tensors in JSON, or a checkpoint of any format. Warnings go to standard
// error.
tsr_status cli_open_tree(const char *path, tsr_tree **out_tree);

// Prints warnings about a file, one per line, to standard error.
void cli_warn(const char *path, const char *lines);

// Opens a plan file; "-" is standard input.
tsr_status cli_open_plan(const char *path, tsr_plan **out_plan);

// Plans the tensors of a model by --preset, --rules, --logical, --auto or --fit, or by the preset
// for the model. `model` is its path; config.json may be beside it. Clears the bits of
// `*inout_unused` for the facts of --fact that the rules use.
tsr_status cli_make_plan(const cli_args *args, const char *model, const tsr_tree *tree,
                         const tsr_mesh *mesh, uint64_t *inout_unused, tsr_plan **out_plan);

// The same for the model at a path, on the mesh of the options. Refuses unused facts.
tsr_status cli_plan_model(const cli_args *args, const char *path, tsr_plan **out_plan);

// The plan of an argument that is a plan or a model: with a mesh, a model to plan by the options;
// otherwise a plan file, or a checkpoint that is cut.
tsr_status cli_plan_of(const cli_args *args, const char *path, tsr_plan **out_plan);

// Fails if an option of CLI_OPTIONS_DECIDE other than --fact is given; `why` is the reason.
tsr_status cli_refuse_deciding(const cli_args *args, const char *why);

// ---- the preset of --preset, or the one for the model_type of a model ----

// The preset for the tensors of a model, with its variant: the one of --preset, which must be for
// the model_type in config.json, else the one for that type or the only one with rules for all
// tensors. `options` are those that its rules will be read with. `out_reason` gets the reason in a
// few words; nothing if --preset is complete.
tsr_status cli_choose_preset(const cli_args *args, const char *model, const tsr_tree *tree,
                             const tsr_rules_options *options, tsr_text *out_name,
                             tsr_text *out_reason);

// ---- rules: --rules, --preset, or the preset for the model ----

// The rules for the tensors of a model, with facts from --fact and config.json, and axes renamed by
// --axes. The chosen preset and the reason go to standard error. `mesh` may be NULL with --rules
// and a preset's full name. Clears the bits of `*inout_unused` for the facts of --fact that they
// use.
tsr_status cli_open_rules(const cli_args *args, const char *model, const tsr_tree *tree,
                          const tsr_mesh *mesh, uint64_t *inout_unused, tsr_rules **out_rules);

// Fails if the mesh has no axis that the rules name: every device would hold the whole model. Warns
// of axes of the mesh that no rule names, except dp, which is meant for replicas.
tsr_status cli_check_rule_axes(const tsr_rules *rules, const tsr_mesh *mesh);

// ---- the partitioner of t5x: --partitions, --submesh, --ici, --dcn, --rules and --base ----

// The partitioner of these options on a machine. Warnings go to standard error.
tsr_status cli_open_partitioner(const cli_args *args, const tsr_topology *topology,
                                tsr_partitioner **out_partitioner);

// ---- specs in any notation, recognised by how they begin ----

#define CLI_NOTATIONS "short|jax|shardy|xla|dtensor|torch"

// Reads a spec in notation `form` (NULL = recognised). XLA and DTensor texts name no axes and need
// the mesh; DTensor texts also need the rank and, for flat specs, the shape. A DTensor text may
// state them; then those given must be equal.
tsr_status cli_read_spec(const char *text, const char *form, const tsr_mesh *mesh, int rank,
                         const tsr_shape *shape, tsr_spec **out_spec);
// Reads a spec and makes the layout of a tensor.
tsr_status cli_read_layout(const char *text, const char *form, const tsr_mesh *mesh,
                           const tsr_shape *shape, tsr_policy policy, tsr_layout **out_layout);
// Fills in the mesh and shape that a DTensor text states, if they are missing. The caller releases
// the mesh.
tsr_status cli_find_context(const char *text, const char *form, const tsr_topology *topology,
                            tsr_mesh **mesh, tsr_shape *shape, bool *has_shape);
// Writes a spec in a notation that names axes: short, jax or shardy.
tsr_status cli_print_spec(const tsr_spec *spec, const char *form, tsr_text *out);
// Writes a sharding in notation `form`.
tsr_status cli_write_spec(const tsr_sharding *sharding, const char *form, int rank,
                          const tsr_shape *shape, tsr_text *out);

// ---- the comm of commands that move bytes, and one report for all ranks ----

// Collective over the ranks. Opens the comm of CLI_OPTIONS_ENGINE.
tsr_status cli_open_comm(const cli_args *args, int64_t devices, tsr_comm **out_comm);
// The engine of CLI_OPTIONS_DEVICES: that of --engine, or "mpi" under a launcher.
const char *cli_engine_of(const cli_args *args);
// The same of this engine, whatever --engine says; with --fast, if the command has it.
tsr_status cli_open_engine(const cli_args *args, const char *engine, int64_t devices,
                           tsr_comm **out_comm);
// Collective over `comm`. Ends a command with its status on this rank. A failure of any rank is the
// exit code of all. It is printed once, by rank 0 if that failed too.
tsr_status cli_end_together(cli_args *args, tsr_comm *comm, tsr_status status);

// ---- the plan that plan and convert write ----

// Writes a table, or with --json data, to standard output or to the file of --output.
tsr_status cli_plan_output(const cli_args *args, const tsr_plan *plan);

#endif
