// `tessera opt`: passes over a program, printed as MLIR text; `tessera ops`: the ops that it knows.
//
// Passes are options of the command, made from their table, so that help and completions list them
// and scripts written for the peers' tools work: --fold --cse, or one list: fold,cse.
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text_internal.h"
#include "command/command.h"
#include "report/program_report.h"

// ---- the passes that were asked for ----

#define PASS(name, ...) +1
#define PASS_OPTION(...)
enum {
  PASS_COUNT = 0
#include "program/all_passes.def"
#undef PASS
#undef PASS_OPTION
};

static void add_pass(const char *name, const char *options, tsr_text *out) {
  if (out->length) tsr_text_add_char(out, ',');
  tsr_text_add(out, name);
  if (*options) tsr_text_addf(out, "{%s}", options);
}

static tsr_status collect_passes(const cli_args *args, tsr_text *out) {
  if (args->count > 1) tsr_text_add(out, args->positional[0]);
  for (int i = 0; i < args->given_count; i++) {
    const int option = args->given[i].option;
    if (option >= PASS_COUNT) continue;
    if (args->count > 1)
      return tsr_fail(BAD_ARGUMENT, "passes are given as \"%s\" and as --%s; give one list",
                      args->positional[0], args->command->options[option].name);
    add_pass(args->command->options[option].name, args->given[i].value, out);
  }
  return tsr_text_check(out);
}

// ---- one program ----

enum { MOST_SHAPES = 4096 };

// "8,4;8" as shapes of the entry's arguments.
static tsr_status read_shapes(const char *text, tsr_shape *shapes, int64_t *out_count) {
  int64_t count = 0;
  for (const char *at = text;;) {
    const size_t length = strcspn(at, ";");
    char piece[512];
    if (count == MOST_SHAPES || length >= sizeof piece)
      return tsr_fail(TOO_LARGE, "--shapes has more than %d shapes, or one of %zu characters",
                      MOST_SHAPES, sizeof piece);
    memcpy(piece, at, length);
    piece[length] = '\0';
    TSR_TRY_NOTE(tsr_shape_parse(piece, &shapes[count++]), "--shapes, shape %lld",
                 (long long)count);
    if (!at[length]) break;
    at += length + 1;
  }
  *out_count = count;
  return NULL;
}

// Fills in unknown sizes from --shapes: `program` is exchanged for the one of these sizes.
static tsr_status refine(const cli_args *args, tsr_program **program) {
  const char *text = cli_value(args, "shapes");
  if (!text) return NULL;
  int64_t count = 0;
  tsr_program *sized = NULL;
  tsr_shape *shapes = calloc(MOST_SHAPES, sizeof *shapes);
  if (!shapes) return tsr_fail(NO_MEMORY, "%d shapes", MOST_SHAPES);
  tsr_status status = read_shapes(text, shapes, &count);
  if (!status) status = tsr_program_refine(*program, shapes, count, &sized);
  free(shapes);
  if (status) return status;
  tsr_program_release(*program);
  *program = sized;
  return NULL;
}

static tsr_status run_passes(const cli_args *args, const tsr_program *program, const char *passes,
                             tsr_text *out) {
  tsr_program *changed = NULL;
  if (!*passes) return cli_print_program(args, program, out);
  TSR_TRY(tsr_program_transform(program, passes, &changed));
  tsr_status status = cli_print_program(args, changed, out);
  tsr_program_release(changed);
  return status;
}

static tsr_status opt_bytes(const cli_args *args, const char *name, const char *bytes,
                            size_t length, const char *passes, tsr_text *out) {
  tsr_program_options options = TSR_PROGRAM_OPTIONS;
  tsr_program *program = NULL;
  TSR_TRY(tsr_program_read(name, bytes, length, &options, &program));
  tsr_status status = refine(args, &program);
  if (!status) status = run_passes(args, program, passes, out);
  tsr_program_release(program);
  return status;
}

// ---- several programs in one file, as the peers' tests have them ----

// Gives the end of the program that begins at `at`: a line of "// -----", or the end of the text.
static const char *chunk_end(const char *at, const char *end) {
  static const char mark[] = "// -----";
  for (const char *line = at; line < end;) {
    if ((size_t)(end - line) >= sizeof mark - 1 && !memcmp(line, mark, sizeof mark - 1))
      return line;
    const char *next = memchr(line, '\n', (size_t)(end - line));
    line = next ? next + 1 : end;
  }
  return end;
}

static int line_of(const char *text, const char *at) {
  int line = 1;
  for (; text < at; text++) line += *text == '\n';
  return line;
}

// A program that fails leaves its place empty; the exit code is that of the first failure.
static void opt_chunks(cli_args *args, const char *name, const char *bytes, size_t length,
                       const char *passes) {
  const char *const end = bytes + length;
  for (const char *at = bytes; at <= end;) {
    const char *stop = chunk_end(at, end);
    const size_t before = args->out.length;
    tsr_status status = opt_bytes(args, name, at, (size_t)(stop - at), passes, &args->out);
    if (status) {
      args->out.length = before;
      if (args->out.data) args->out.data[before] = '\0';
      status = tsr_note(status, "program at line %d, lines counted from there", line_of(bytes, at));
      const int code = cli_report(args, status);
      if (!args->exit_code) args->exit_code = code;
    }
    if (stop == end) break;
    tsr_text_add(&args->out, "// -----\n");
    const char *next = memchr(stop, '\n', (size_t)(end - stop));
    at = next ? next + 1 : end;
  }
}

static tsr_status opt_file(cli_args *args, const char *path, const char *passes) {
  const bool is_stdin = !strcmp(path, "-");
  const char *name = cli_program_name(path);
  char *bytes = NULL;
  size_t length = 0;
  tsr_status status = NULL;
  TSR_TRY(tsr_file_read(is_stdin ? "/dev/stdin" : path, &bytes, &length));
  if (cli_has(args, "split-input-file"))
    opt_chunks(args, name, bytes, length, passes);
  else
    status = opt_bytes(args, name, bytes, length, passes, &args->out);
  free(bytes);
  return status;
}

static tsr_status run_opt(cli_args *args) {
  tsr_text passes = TSR_TEXT_EMPTY;
  tsr_status status = collect_passes(args, &passes);
  if (!status) status = opt_file(args, args->positional[args->count - 1], tsr_text_string(&passes));
  tsr_text_deinit(&passes);
  if (status || !cli_has(args, "output")) return status;
  return cli_finish(NULL, &args->out, cli_value(args, "output"));
}

// clang-format off
static const cli_option options[] = {
#define PASS(name, function, options, summary) {name, 0, "[=OPTIONS]", NULL, summary},
#define PASS_OPTION(...)
#include "program/all_passes.def"
#undef PASS
#undef PASS_OPTION
    {"shapes", 's', "SHAPES", NULL, "fill in unknown sizes: the shape of each argument, as in '8,4;8'"},
    {"generic", 'g', NULL, NULL, "print every op in MLIR's generic form"},
    {"locations", 'l', NULL, NULL, "print loc(...): where JAX made each op"},
    {"elide", 0, "COUNT", "1..", "leave out constants of more elements than this"},
    {"split-input-file", 0, NULL, NULL, "the file holds several programs, separated by lines of // -----"},
    CLI_OPTION_OUTPUT,
    {0},
};
// clang-format on

const cli_command cli_cmd_opt = {
    .name = "opt",
    .summary = "run passes over a program and print it",
    .usage = "[PASSES] PROGRAM [options]",
    .options = options,
    .description =
        "PROGRAM is MLIR text, a portable artifact or a file of jax.export, recognised by\n"
        "content; - is standard input. PASSES is a list such as inline,fold,dce; each pass is\n"
        "an option too, and runs in the order given. A pass may have options, in braces in a\n"
        "list or after = : inline{all},fold{elements=64}, --inline=all. Without passes the\n"
        "program is checked and printed. The text is MLIR's own, which jaxlib reads.\n",
    .examples =
        "tessera opt step.mlir\n"
        "tessera opt inline,fold,cse,dce step.bin -o small.mlir\n"
        "tessera opt --inline=all --simplify step.mlir\n"
        "tessera opt simplify poly.bin --shapes '8,4;8'\n"
        "cat step.mlir | tessera opt simplify - --elide 16\n",
    .run = run_opt,
};

// ---- ops ----

static tsr_status run_ops(cli_args *args) {
  return tsr_op_coverage_print(cli_has(args, "json"), &args->out);
}

static const cli_option ops_options[] = {CLI_OPTION_JSON, {0}};

const cli_command cli_cmd_ops = {
    .name = "ops",
    .summary = "list every op of programs, and what is there for it",
    .usage = "[options]",
    .options = ops_options,
    .description =
        "One line for each op of StableHLO, CHLO, Shardy and their tests: whether it has a text\n"
        "form of its own, whether it has checks of its own, whether the types of its results\n"
        "are inferred, whether it is computed when its operands are constants, and whether it\n"
        "runs. The numbers and types of operands, results and attributes are checked for every\n"
        "op.\n",
    .examples = "tessera ops\ntessera ops --json\n",
    .run = run_ops,
};
