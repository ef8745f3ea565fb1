// `tessera explain`: why a tensor of a plan has its spec, or a value of a program its sharding.
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "plan/tree_internal.h"
#include "report/propagation_report.h"

// ---- plans ----

static tsr_status explain_tensor(cli_args *args) {
  tsr_plan *plan = NULL;
  TSR_TRY(cli_plan_of(args, args->positional[0], &plan));
  const tsr_tree *tree = tsr_plan_tree(plan);
  const int64_t row = tsr_tree_find(tree, args->positional[1]);
  tsr_status status = NULL;
  if (row < 0) {
    const char *near = tsr_tree_nearest(tree, args->positional[1]);
    status = tsr_fail(NOT_FOUND, "tensor \"%s\" is not in the plan%s%s%s", args->positional[1],
                      near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
  }
  if (!status) status = tsr_plan_explain(plan, row, &args->out);
  tsr_plan_release(plan);
  return status;
}

// ---- programs ----

// What a program and options give, and what they give with the constraints of --if.
typedef struct explained {
  tsr_program *program;
  tsr_propagation *now, *then;
} explained;

enum { MOST_CONSTRAINTS = CLI_MAX_GIVEN };

// "%12=data, _" -> value and spec, in memory of the caller. Names in JAX may hold "=" in quotes.
static tsr_status read_constraint(char *text, tsr_value_constraint *out) {
  char *equals = NULL, quote = '\0';
  for (char *at = text; *at && !equals; at++) {
    if (quote ? *at == quote : *at == '\'' || *at == '"') quote = quote ? '\0' : *at;
    if (*at == '=' && !quote) equals = at;
  }
  if (!equals || equals == text)
    return tsr_fail(BAD_ARGUMENT, "--if \"%s\" is no constraint; expected VALUE=SPEC, such as %s",
                    text, "\"%12=data, _\"");
  *equals = '\0';
  *out = (tsr_value_constraint){.value = text, .spec = equals + 1};
  return NULL;
}

static tsr_status propagate_if(const cli_args *args, explained *e) {
  const char *given[CLI_MAX_GIVEN];
  char *copies[MOST_CONSTRAINTS] = {NULL};
  tsr_value_constraint constraints[MOST_CONSTRAINTS];
  const int count = cli_values(args, "if", given);
  tsr_status status = NULL;
  for (int i = 0; i < count && !status; i++) {
    copies[i] = strdup(given[i]);
    status = copies[i] ? read_constraint(copies[i], &constraints[i])
                       : tsr_fail(NO_MEMORY, "--if %s", given[i]);
  }
  if (!status && count)
    status = cli_propagate(args, args->positional[0], e->program, constraints, count, &e->then);
  for (int i = 0; i < count; i++) free(copies[i]);
  return status;
}

static tsr_status print(cli_args *args, const explained *e, int dim) {
  const tsr_propagation_report report = {.propagation = e->now,
                                         .path = cli_program_name(args->positional[0]),
                                         .all = cli_has(args, "all")};
  const char *value = args->positional[1];
  if (cli_has(args, "json"))
    return tsr_explanation_to_json(&report, value, dim, e->then, &args->out);
  TSR_TRY(tsr_propagation_explain(e->now, value, dim, &args->out));
  return e->then ? tsr_what_if_print(&report, e->then, &args->out) : NULL;
}

static tsr_status explain_value(cli_args *args) {
  explained e = {NULL, NULL, NULL};
  int64_t dim = -1;
  TSR_TRY(cli_int(args, "dim", -1, &dim));
  tsr_status status = cli_open_program(args->positional[0], false, &e.program);
  if (!status) status = cli_propagate(args, args->positional[0], e.program, NULL, 0, &e.now);
  if (!status) status = propagate_if(args, &e);
  if (!status) status = print(args, &e, (int)dim);
  tsr_propagation_destroy(e.now);
  tsr_propagation_destroy(e.then);
  tsr_program_release(e.program);
  return status;
}

// ---- which ----

// clang-format off
#define PROGRAM_OPTIONS                                                                                    \
    CLI_OPTIONS_PROPAGATE,                                                                                 \
    {"dim", 'd', "N", "0..64", "of a program: explain this dimension only"},                               \
    {"if", 0, "VALUE=SPEC", NULL, "of a program: what this constraint would change; may be repeated"},     \
    CLI_OPTION_ALL,                                                                                        \
    CLI_OPTION_JSON
static const cli_option program_options[] = {PROGRAM_OPTIONS, {0}};
static const cli_option explain_options[] = {CLI_OPTIONS_DECIDE, PROGRAM_OPTIONS, {0}};
// clang-format on

static tsr_status refuse_program_options(const cli_args *args) {
  for (const cli_option *at = program_options; at->name; at++)
    if (cli_has(args, at->name))
      return tsr_fail(BAD_ARGUMENT, "--%s has no effect: %s is no program", at->name,
                      args->positional[0]);
  return NULL;
}

static tsr_status run_explain(cli_args *args) {
  const bool program = strcmp(args->positional[0], "-") != 0 && cli_is_program(args->positional[0]);
  if (program) return explain_value(args);
  TSR_TRY(refuse_program_options(args));
  return explain_tensor(args);
}

const cli_command cli_cmd_explain = {
    .name = "explain",
    .summary = "explain why a tensor of a plan has its spec, or a value of a program its sharding",
    .usage = "PLAN|MODEL|PROGRAM TENSOR|VALUE [--tp N|--mesh MESH ...] [options]",
    .options = explain_options,
    .description =
        "Of a plan: shows the rules that were tried, the one that matched, and what was\n"
        "corrected. PLAN is a plan file or a checkpoint that is cut. A MODEL is planned first,\n"
        "as by `tessera plan` with the same options.\n" CLI_TEXT_CHOICE
        "\nOf a program: propagates its shardings, as `tessera propagate` does with the same\n"
        "options, and shows for each dimension of VALUE the way of its axes, op by op, back to\n"
        "the annotation, constraint or row of a plan that they come from; and the axes that its\n"
        "neighbours have and it does not, with the reason. With --if, lists the values whose\n"
        "shardings a constraint would change.\n"
        "\n"
        "VALUE is %12, %5#1, %arg0 or %cst_0, with the numbers that `tessera opt PROGRAM` prints\n"
        "(the line of the op is shown); out0 or another result; an argument's name in JAX, such\n"
        "as params['w'], or its path params/w; @f:%3, a value of function @f; %7/%3, a value in\n"
        "the regions of %7; or the name of a location.\n",
    .examples =
        "tessera explain plan.json model.layers.0.mlp.up_proj.weight\n"
        "tessera explain Llama-3-8B model.layers.0.self_attn.k_proj.weight --tp 16\n"
        "tessera explain step.mlir %12\n"
        "tessera explain step.mlir \"params['w']\" --dim 1 --if '%12=data, _'\n",
    .run = run_explain,
};
