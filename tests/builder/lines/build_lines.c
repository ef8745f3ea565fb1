// Builds one program for each line of the input, and prints it: tests/peers/check_builder.py asks
// for random ones and runs them beside NumPy. A line is a layer's name and its words; shapes are
// written (2,3). A line "// end" follows each program, or "failed: " and the message.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/own.h"
#include "tessera/program.h"

enum { MOST_WORDS = 64 };

typedef struct line_words {
  int count;
  char *at[MOST_WORDS];
} line_words;

static void stop(const char *what) {
  fprintf(stderr, "build_lines: %s\n", what);
  exit(2);
}

static tsr_dtype dtype_of(const char *word) {
  tsr_dtype dtype = TSR_DTYPE_NONE;
  const tsr_status status = tsr_dtype_parse(word, &dtype);
  if (status) stop(tsr_status_text(status));
  return dtype;
}

// "(2,-1)": numbers, which may be negative.
static tsr_shape list_of(const char *word) {
  tsr_shape list = {0};
  for (char *at = (char *)word + 1; *at && *at != ')' && list.rank < TSR_MAX_RANK;) {
    list.dims[list.rank++] = strtoll(at, &at, 10);
    at += *at == ',';
  }
  return list;
}

static tsr_node parameter(tsr_builder *b, const char *dtype, const char *shape) {
  const tsr_shape sizes = list_of(shape);
  return tsr_build_parameter(b, NULL, dtype_of(dtype), &sizes, NULL);
}

static tsr_node optional(tsr_builder *b, const char *dtype, const char *shape) {
  return strcmp(shape, "-") != 0 ? parameter(b, dtype, shape) : TSR_NO_NODE;
}

static void output(tsr_builder *b, tsr_node x) { tsr_build_output(b, x, NULL, NULL); }

// ---- layers ----

static void einsum(tsr_builder *b, char *const *w, int count) {
  tsr_node operands[MOST_WORDS];
  for (int i = 2; i < count; i++) operands[i - 2] = parameter(b, w[1], w[i]);
  output(b, tsr_build_einsum(b, w[0], operands, count - 2));
}
static void softmax(tsr_builder *b, char *const *w, int count) {
  (void)count;
  output(b, tsr_build_softmax(b, parameter(b, w[0], w[1]), atoi(w[2])));
}
static void layer_norm(tsr_builder *b, char *const *w, int count) {
  (void)count;
  const tsr_node x = parameter(b, w[0], w[1]), scale = optional(b, w[0], w[2]);
  const tsr_node bias = optional(b, w[0], w[3]);
  output(b, tsr_build_layer_norm(b, x, scale, bias, 1e-5));
}
static void rms_norm(tsr_builder *b, char *const *w, int count) {
  (void)count;
  const tsr_node x = parameter(b, w[0], w[1]), scale = optional(b, w[0], w[2]);
  output(b, tsr_build_rms_norm(b, x, scale, 1e-5));
}
static void gelu(tsr_builder *b, char *const *w, int count) {
  (void)count;
  output(b, tsr_build_gelu(b, parameter(b, w[0], w[1]), atoi(w[2]) != 0));
}
static void silu(tsr_builder *b, char *const *w, int count) {
  (void)count;
  output(b, tsr_build_silu(b, parameter(b, w[0], w[1])));
}
static void rotary(tsr_builder *b, char *const *w, int count) {
  (void)count;
  const tsr_node x = parameter(b, w[0], w[1]), positions = parameter(b, "i32", w[2]);
  output(b, tsr_build_rotary(b, x, positions, 10000));
}
// dtype queries keys values causal scale mask bias
static void attention(tsr_builder *b, char *const *w, int count) {
  (void)count;
  const tsr_node q = parameter(b, w[0], w[1]), k = parameter(b, w[0], w[2]);
  const tsr_node v = parameter(b, w[0], w[3]);
  tsr_attention_options options = TSR_ATTENTION_OPTIONS;
  options.causal = atoi(w[4]) != 0;
  options.scale = atof(w[5]);
  options.mask = optional(b, "bool", w[6]);
  options.bias = optional(b, w[0], w[7]);
  output(b, tsr_build_attention(b, q, k, v, &options));
}

// ---- ops ----

static void binary(tsr_builder *b, char *const *w, int count) {
  (void)count;
  const tsr_node x = parameter(b, w[1], w[2]), y = parameter(b, w[1], w[3]);
  output(b, tsr_build_binary(b, w[0], x, y));
}
static void reduce(tsr_builder *b, char *const *w, int count) {
  (void)count;
  const tsr_shape dims = list_of(w[3]);
  output(b, tsr_build_reduce(b, w[0], parameter(b, w[1], w[2]), &dims, atoi(w[4]) != 0));
}
static void take(tsr_builder *b, char *const *w, int count) {
  (void)count;
  const tsr_node x = parameter(b, w[0], w[1]), indices = parameter(b, "i32", w[2]);
  output(b, tsr_build_take(b, x, indices, atoi(w[3])));
}
// kind dtype x indices updates dim
static void scatter(tsr_builder *b, char *const *w, int count) {
  (void)count;
  const tsr_node x = parameter(b, w[1], w[2]), indices = parameter(b, "i32", w[3]);
  const tsr_node updates = parameter(b, w[1], w[4]);
  output(b, tsr_build_scatter(b, w[0], x, indices, updates, atoi(w[5])));
}
// Sorted with their positions.
static void sort(tsr_builder *b, char *const *w, int count) {
  (void)count;
  const int dim = atoi(w[2]);
  const tsr_node x = parameter(b, w[0], w[1]);
  const tsr_shape shape = tsr_build_shape_of(b, x);
  const tsr_node places = tsr_build_iota(b, TSR_I32, &shape, dim);
  tsr_node sorted[2];
  tsr_build_sort(b, (tsr_node[]){x, places}, 2, dim, NULL, NULL, sorted);
  output(b, sorted[0]);
  output(b, sorted[1]);
}
static void top_k(tsr_builder *b, char *const *w, int count) {
  (void)count;
  tsr_node indices;
  output(b, tsr_build_top_k(b, parameter(b, w[0], w[1]), atoll(w[2]), &indices));
  output(b, indices);
}
// dtype x kernel strides low high groups
static void convolution(tsr_builder *b, char *const *w, int count) {
  (void)count;
  const tsr_node x = parameter(b, w[0], w[1]), kernel = parameter(b, w[0], w[2]);
  const tsr_shape strides = list_of(w[3]), low = list_of(w[4]), high = list_of(w[5]);
  tsr_convolution_options options = TSR_CONVOLUTION_OPTIONS;
  options.strides = &strides;
  options.low = &low;
  options.high = &high;
  options.feature_groups = atoll(w[6]);
  output(b, tsr_build_convolution(b, x, kernel, &options));
}

// ---- control flow ----

// carry * x + x, and carry - x.
static void step(tsr_builder *b, const tsr_node *args, tsr_node *results, void *context) {
  (void)context;
  results[0] = tsr_build_add(b, tsr_build_multiply(b, args[0], args[1]), args[1]);
  results[1] = tsr_build_subtract(b, args[0], args[1]);
}
static void scan(tsr_builder *b, char *const *w, int count) {
  (void)count;
  const tsr_node carry = parameter(b, w[0], w[1]), xs = parameter(b, w[0], w[2]);
  tsr_scan_options options = TSR_SCAN_OPTIONS;
  options.reverse = atoi(w[3]) != 0;
  tsr_node results[2];
  tsr_build_scan(b, &carry, 1, &xs, 1, 1, step, NULL, &options, results);
  output(b, results[0]);
  output(b, results[1]);
}
static void tanh_of(tsr_builder *b, const tsr_node *args, tsr_node *results, void *context) {
  (void)args;
  results[0] = tsr_build_unary(b, "tanh", *(const tsr_node *)context);
}
static void sine_of(tsr_builder *b, const tsr_node *args, tsr_node *results, void *context) {
  (void)args;
  results[0] = tsr_build_unary(b, "sine", *(const tsr_node *)context);
}
static void branch(tsr_builder *b, char *const *w, int count) {
  (void)count;
  const tsr_node condition = parameter(b, "bool", "()");
  tsr_node x = parameter(b, w[0], w[1]), y, z;
  tsr_build_if(b, condition, tanh_of, sine_of, &x, &y, 1);
  const tsr_node index = tsr_build_convert(b, condition, TSR_I32);
  tsr_build_case(b, index, (tsr_build_fn *[]){tanh_of, sine_of}, 2, &y, &z, 1);
  output(b, z);
}

// ---- lines ----

static const struct {
  const char *name;
  int words;  // after the name, at least
  void (*build)(tsr_builder *b, char *const *w, int count);
} rows[] = {
    {"einsum", 3, einsum},     {"softmax", 3, softmax},     {"layer_norm", 4, layer_norm},
    {"rms_norm", 3, rms_norm}, {"gelu", 3, gelu},           {"silu", 2, silu},
    {"rotary", 3, rotary},     {"attention", 8, attention}, {"binary", 4, binary},
    {"reduce", 5, reduce},     {"take", 4, take},           {"scatter", 6, scatter},
    {"sort", 3, sort},         {"top_k", 3, top_k},         {"convolution", 7, convolution},
    {"scan", 4, scan},         {"branch", 2, branch},
};

static void build(tsr_builder *b, const line_words *words) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strcmp(rows[i].name, words->at[0]) && words->count > rows[i].words) {
      rows[i].build(b, (char *const *)words->at + 1, words->count - 1);
      return;
    }
  stop(words->at[0]);
}

static tsr_status print_program(const line_words *words) {
  TSR_OWN(builder, b);
  TSR_OWN(program, program);
  TSR_OWN(text, text);
  TSR_TRY(tsr_builder_create(NULL, &b));
  build(b, words);
  TSR_TRY(tsr_builder_finish(b, &program));
  TSR_TRY(tsr_program_print(program, NULL, &text));
  fputs(tsr_text_string(&text), stdout);
  return NULL;
}

int main(void) {
  char line[4096];
  while (fgets(line, sizeof line, stdin)) {
    line_words words = {0};
    for (char *word = strtok(line, " \n"); word && words.count < MOST_WORDS;
         word = strtok(NULL, " \n"))
      words.at[words.count++] = word;
    if (!words.count) continue;
    const tsr_status status = print_program(&words);
    if (status) printf("failed: %s\n", tsr_status_text(status));
    puts("// end");
    tsr_status_free(status);
  }
  return 0;
}
