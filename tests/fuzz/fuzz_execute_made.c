// Bytes make a program: ops of every kind on values of every type and of odd sizes, in loops and
// branches. It is valid, so it compiles and runs, with the same results on any number of workers
// and whatever is fused.
#include "fuzz_execute.h"
#include "fuzz_maker_ops.h"

// ---- control ----

static void make_ops(maker *m, int count);

// Arguments of a region are values of their own.
static void add_returned(maker *m, const int *values, int count) {
  tsr_text_add(&m->out, "\"stablehlo.return\"(");
  for (int i = 0; i < count; i++) {
    if (i) tsr_text_add(&m->out, ", ");
    add_use(m, values[i]);
  }
  tsr_text_add(&m->out, ") : (");
  for (int i = 0; i < count; i++) {
    if (i) tsr_text_add(&m->out, ", ");
    add_type(m, &m->values[values[i]]);
  }
  tsr_text_add(&m->out, ") -> ()\n");
}

static void open_block(maker *m, const int *like, int count) {
  tsr_text_add(&m->out, "{\n^bb0(");
  for (int i = 0; i < count; i++) {
    const int argument = add_value(m, m->values[like[i]]);
    if (i) tsr_text_add(&m->out, ", ");
    add_use(m, argument);
    tsr_text_add(&m->out, ": ");
    add_type(m, &m->values[argument]);
  }
  tsr_text_add(&m->out, "):\n");
}

// Names of several results of one op: %v5, %v6 = ...
static int add_results(maker *m, const int *like, int count) {
  const int first = m->count;
  for (int i = 0; i < count; i++) {
    const int result = add_value(m, m->values[like[i]]);
    if (i) tsr_text_add(&m->out, ", ");
    add_use(m, result);
  }
  return first;
}

static void close_control(maker *m, const int *operands, int operand_count, int first, int count) {
  tsr_text_add(&m->out, ") : (");
  for (int i = 0; i < operand_count; i++) {
    if (i) tsr_text_add(&m->out, ", ");
    add_type(m, &m->values[operands[i]]);
  }
  tsr_text_add(&m->out, ") -> (");
  for (int i = 0; i < count; i++) {
    if (i) tsr_text_add(&m->out, ", ");
    add_type(m, &m->values[first + i]);
  }
  tsr_text_add(&m->out, ")\n");
}

// Carries a counter and some values, which may change places.
static void make_while(maker *m) {
  int carried[4], returned[4];
  const int count = 2 + draw(m, 3), rounds = draw(m, 5);
  carried[0] = add_constant(m, (shaped){.type = TYPE_I32});
  for (int i = 1; i < count; i++) carried[i] = draw_value(m);
  const int first = add_results(m, carried, count), outer = m->count;
  tsr_text_add(&m->out, " = \"stablehlo.while\"(");
  for (int i = 0; i < count; i++) {
    if (i) tsr_text_add(&m->out, ", ");
    add_use(m, carried[i]);
  }
  tsr_text_add(&m->out, ") (");
  // Results are not in scope: their places are taken by what the regions see.
  shaped hidden[4];
  memcpy(hidden, m->values + first, sizeof *hidden * (size_t)count);
  int hidden_names[4];
  memcpy(hidden_names, m->name + first, sizeof *hidden_names * (size_t)count);
  m->count = first;
  open_block(m, carried, count);
  tsr_text_addf(
      &m->out,
      "%%n = \"stablehlo.constant\"() <{value = dense<%d> : tensor<i32>}> : () -> tensor<i32>\n"
      "%%c = \"stablehlo.compare\"(%%v%d, %%n) <{comparison_direction = "
      "#stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "\"stablehlo.return\"(%%c) : (tensor<i1>) -> ()\n}, ",
      rounds, m->name[first]);
  m->count = first;
  open_block(m, carried, count);
  const int one = add_constant(m, (shaped){.type = TYPE_I32});
  returned[0] = add_op(m, "add", (int[]){first, one}, 2, "", (shaped){.type = TYPE_I32});
  make_ops(m, 1 + draw(m, 4));
  for (int i = 1; i < count; i++) {
    returned[i] = m->count - 1 - draw(m, 8);
    if (returned[i] < 0 || !is_equal(&m->values[returned[i]], &m->values[first + i]))
      returned[i] = draw_like(m, first + i);
  }
  add_returned(m, returned, count);
  tsr_text_add(&m->out, "}");
  m->count = outer;
  memcpy(m->values + first, hidden, sizeof *hidden * (size_t)count);
  memcpy(m->name + first, hidden_names, sizeof *hidden_names * (size_t)count);
  close_control(m, carried, count, first, count);
}

static void make_if(maker *m) {
  const int like[] = {draw_value(m), draw_value(m)}, flag = FLAG;
  const int first = add_results(m, like, 2), outer = m->count;
  tsr_text_addf(&m->out, " = \"stablehlo.if\"(%%v%d) (", m->name[FLAG]);
  shaped hidden[2];
  int hidden_names[2];
  memcpy(hidden, m->values + first, sizeof hidden);
  memcpy(hidden_names, m->name + first, sizeof hidden_names);
  for (int branch = 0; branch < 2; branch++) {
    m->count = first;
    tsr_text_add(&m->out, branch ? ", {\n" : "{\n");
    make_ops(m, draw(m, 4));
    add_returned(m, (int[]){draw_like(m, like[0]), draw_like(m, like[1])}, 2);
    tsr_text_add(&m->out, "}");
  }
  m->count = outer;
  memcpy(m->values + first, hidden, sizeof hidden);
  memcpy(m->name + first, hidden_names, sizeof hidden_names);
  close_control(m, &flag, 1, first, 2);
}

static void make_control(maker *m) {
  if (m->depth == MOST_DEPTH) return;
  m->depth++;
  if (draw(m, 3))
    make_while(m);
  else
    make_if(m);
  m->depth--;
}

static void make_ops(maker *m, int count) {
  typedef void make_fn(maker *);
  static make_fn *const makers[] = {
      make_unary,  make_binary, make_unary,  make_binary,      make_select,  make_convert,
      make_clamp,  make_reduce, make_reduce, make_broadcast,   make_reshape, make_transpose,
      make_slice,  make_pad,    make_iota,   make_concatenate, make_reverse, make_dynamic,
      make_gather, make_window, make_sort,   make_dot,         make_control, make_broadcast};
  for (; count > 0 && m->left && m->ops < MOST_OPS && m->count < MOST_VALUES - 16; count--) {
    m->ops++;
    makers[draw(m, sizeof makers / sizeof *makers)](m);
  }
}

// ---- the program ----

static void add_argument(maker *m, shaped s) {
  const int value = add_value(m, s);
  if (value) tsr_text_add(&m->out, ", ");
  add_use(m, value);
  tsr_text_add(&m->out, ": ");
  add_type(m, &s);
}

static void make_program(maker *m) {
  int returned[RESULTS];
  tsr_text_add(&m->out, "module {\nfunc.func public @main(");
  add_argument(m, (shaped){.type = TYPE_BOOL});
  add_argument(m, (shaped){.type = TYPE_I32});
  add_argument(m, (shaped){TYPE_I32, 1, {6}});
  for (int i = 1 + draw(m, 3); i > 0; i--) {
    shaped s = {.type = draw_type(m), .rank = draw(m, MOST_RANK + 1)};
    for (int d = 0; d < s.rank; d++) s.dims[d] = draw_size(m);
    while (elements(&s) > MOST_ELEMENTS) s.rank--;
    add_argument(m, s);
  }
  tsr_text_add(&m->out, ") -> (RESULTS) {\n");
  make_ops(m, MOST_OPS);
  for (int i = 0; i < RESULTS; i++) returned[i] = i < m->count ? m->count - 1 - i : 0;
  tsr_text_add(&m->out, "\"func.return\"(");
  for (int i = 0; i < RESULTS; i++)
    tsr_text_addf(&m->out, i ? ", %%v%d" : "%%v%d", m->name[returned[i]]);
  tsr_text_add(&m->out, ") : (");
  for (int i = 0; i < RESULTS; i++) {
    if (i) tsr_text_add(&m->out, ", ");
    add_type(m, &m->values[returned[i]]);
  }
  tsr_text_add(&m->out, ") -> ()\n}\n}\n");
}

// The types of the results are known at the end: they take the place of a word in the head.
static char *whole_text(maker *m) {
  char *const made = m->out.data, *const word = strstr(made, "RESULTS");
  char *const end = strrchr(made, ':'), *const last = strstr(end, ") -> ()");
  const size_t head = (size_t)(word - made);
  char *text = NULL;
  if (asprintf(&text, "%.*s%.*s%s", (int)head, made, (int)(last - end - 3), end + 3,
               word + strlen("RESULTS")) < 0)
    abort();
  return text;
}

static void check(tsr_status status, const char *text) {
  if (!status) return;
  fprintf(stderr, "%s\n%s\n", tsr_status_text(status), text);
  abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  maker m = {.data = data, .left = size};
  make_program(&m);
  tsr_status_free(tsr_text_check(&m.out));
  char *text = whole_text(&m);
  tsr_text_deinit(&m.out);
  tsr_program *program = NULL;
  check(tsr_program_read("made", text, strlen(text), NULL, &program), text);
  check(fuzz_execute(program, text), text);
  tsr_program_release(program);
  free(text);
  return 0;
}
