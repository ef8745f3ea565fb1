// Any sequence of calls of a builder ends in one failure, or in a program that is printed and read
// back.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/own.h"
#include "tessera/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_NODES = 32, MOST_CALLS = 200, TEXT = 24 };

// The input, and the nodes of the region that is open.
typedef struct fuzz_input {
  const uint8_t *at, *end;
  tsr_builder *b;
  int calls, depth, count;
  int args;  // of the region that is built next
  tsr_node nodes[MOST_NODES];
} fuzz_input;

// ---- values out of bytes ----

static int byte(fuzz_input *in) { return in->at < in->end ? *in->at++ : 0; }

static tsr_node node(fuzz_input *in) {
  const int at = byte(in);
  return in->count ? in->nodes[at % in->count] : (tsr_node){at % 3};
}

static void add(fuzz_input *in, tsr_node x) {
  in->nodes[in->count < MOST_NODES ? in->count++ : byte(in) % MOST_NODES] = x;
}

// Small sizes, some of them -1; few lists are long.
static tsr_shape list(fuzz_input *in) {
  tsr_shape shape = {.rank = byte(in) % 5};
  for (int i = 0; i < shape.rank; i++) shape.dims[i] = byte(in) % 6 - 1;
  return shape;
}

static tsr_dtype dtype(fuzz_input *in) { return (tsr_dtype)(byte(in) % (TSR_DTYPE_COUNT + 1)); }

// Up to TEXT bytes, ended by a zero of the input.
static void text(fuzz_input *in, char out[TEXT + 1]) {
  int length = 0;
  while (in->at < in->end && length < TEXT && *in->at) out[length++] = (char)*in->at++;
  in->at += in->at < in->end;
  out[length] = 0;
}

static const char *one_of(fuzz_input *in, const char *const *names, int count) {
  return names[byte(in) % count];
}
#define ONE_OF(in, ...)                          \
  one_of(in, (const char *const[]){__VA_ARGS__}, \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

// ---- calls ----

static void call_any(fuzz_input *in);

// A region: some calls of its own, results among all nodes that it sees.
static void build_region(tsr_builder *b, const tsr_node *args, tsr_node *results, void *context) {
  fuzz_input *in = context;
  const fuzz_input before = *in;
  for (int i = 0; i < before.args; i++) add(in, args[i]);
  for (int i = byte(in) % 4; i > 0 && !tsr_builder_failed(b); i--) call_any(in);
  results[0] = node(in);
  in->count = before.count;
  in->args = before.args;
  memcpy(in->nodes, before.nodes, sizeof in->nodes);
}

static void call_region(fuzz_input *in) {
  if (in->depth == 4) return;
  in->depth++;
  const tsr_node pair[] = {node(in), node(in)};
  tsr_node results[2] = {{0}, {0}};
  const int kind = byte(in) % 5;
  in->args = (const int[]){1, 0, 2, 2, 2}[kind];
  switch (kind) {
    case 0:
      tsr_build_while(in->b, pair, 1, build_region, build_region, in, results);
      break;
    case 1:
      tsr_build_if(in->b, pair[0], build_region, build_region, in, results, 1);
      break;
    case 2:
      tsr_build_scan(in->b, pair, 1, pair + 1, 1, 0, build_region, in, NULL, results);
      break;
    case 3:
      tsr_build_sort(in->b, pair, 1, byte(in) % 3, build_region, in, results);
      break;
    default: {
      const tsr_shape dims = list(in);
      tsr_build_reduce_with(in->b, pair, pair + 1, 1, &dims, build_region, in, results);
    }
  }
  in->depth--;
  add(in, results[0]);
}

static tsr_node call_op(fuzz_input *in) {
  char name[TEXT + 1], attrs[TEXT + 1], results[TEXT + 1];
  text(in, name);
  text(in, attrs);
  text(in, results);
  const tsr_node operands[] = {node(in), node(in), node(in)};
  tsr_op_options options = TSR_OP_OPTIONS;
  options.attrs = attrs;
  options.results = *results ? results : NULL;
  return tsr_build_op(in->b, name, operands, byte(in) % 4, &options);
}

static tsr_node call_shapes(fuzz_input *in) {
  const tsr_node x = node(in), y = node(in);
  const tsr_shape a = list(in), b = list(in), c = list(in);
  const bool third = byte(in) & 1;
  switch (byte(in) % 9) {
    case 0:
      return tsr_build_parameter(in->b, NULL, dtype(in), &a, NULL);
    case 1:
      return tsr_build_splat(in->b, dtype(in), &a, byte(in) - 2);
    case 2:
      return tsr_build_iota(in->b, dtype(in), &a, byte(in) % 5 - 2);
    case 3:
      return tsr_build_broadcast(in->b, x, &a, third ? &b : NULL);
    case 4:
      return tsr_build_reshape(in->b, x, &a);
    case 5:
      return tsr_build_transpose(in->b, x, third ? &a : NULL);
    case 6:
      return tsr_build_slice(in->b, x, &a, &b, third ? &c : NULL);
    case 7:
      return tsr_build_pad(in->b, x, y, &a, &b, third ? &c : NULL);
    default:
      return tsr_build_reduce(in->b, ONE_OF(in, "add", "max", "and", "mean"), x, third ? &a : NULL,
                              byte(in) & 1);
  }
}

static tsr_node call_layer(fuzz_input *in) {
  const tsr_node x = node(in), y = node(in), z = node(in);
  tsr_attention_options options = TSR_ATTENTION_OPTIONS;
  const int number = byte(in) % 5 - 2;
  switch (byte(in) % 10) {
    case 0:
      return tsr_build_softmax(in->b, x, number);
    case 1:
      return tsr_build_layer_norm(in->b, x, y, z, 1e-5);
    case 2:
      return tsr_build_gelu(in->b, x, number > 0);
    case 3:
      return tsr_build_rotary(in->b, x, y, 100);
    case 4:
      return tsr_build_take(in->b, x, y, number);
    case 5:
      return tsr_build_scatter(in->b, ONE_OF(in, "set", "min"), x, y, z, number);
    case 6:
      return tsr_build_concatenate(in->b, (tsr_node[]){x, y, z}, 3, number);
    case 7:
      return tsr_build_top_k(in->b, x, number, NULL);
    case 8:
      return tsr_build_convert(in->b, x, dtype(in));
    default:
      options.causal = number > 0;
      options.bias = number < 0 ? z : (tsr_node){0};
      return tsr_build_attention(in->b, x, y, z, &options);
  }
}

static tsr_node call_elementwise(fuzz_input *in) {
  const tsr_node x = node(in), y = node(in), z = node(in);
  switch (byte(in) % 5) {
    case 0:
      return tsr_build_unary(in->b, ONE_OF(in, "tanh", "negate", "erf", "not"), x);
    case 1:
      return tsr_build_binary(in->b, ONE_OF(in, "add", "maximum", "power", "and"), x, y);
    case 2:
      return tsr_build_compare(in->b, ONE_OF(in, "EQ", "LT"), x, y);
    case 3:
      return tsr_build_select(in->b, x, y, z);
    default:
      return tsr_build_clamp(in->b, x, y, z);
  }
}

static tsr_node call_einsum(fuzz_input *in) {
  char equation[TEXT + 1];
  text(in, equation);
  const tsr_node operands[] = {node(in), node(in), node(in)};
  return tsr_build_einsum(in->b, equation, operands, byte(in) % 4);
}

static void call_any(fuzz_input *in) {
  if (in->calls++ == MOST_CALLS) return;
  switch (byte(in) % 8) {
    case 0:
    case 1:
      add(in, call_shapes(in));
      break;
    case 2:
      add(in, call_elementwise(in));
      break;
    case 3:
      add(in, call_layer(in));
      break;
    case 4:
      add(in, call_einsum(in));
      break;
    case 5:
      add(in, call_op(in));
      break;
    case 6:
      call_region(in);
      break;
    default:
      tsr_build_output(in->b, node(in), NULL, NULL);
  }
}

// ---- what was built ----

static tsr_status build(fuzz_input *in, tsr_text *out) {
  TSR_OWN(program, program);
  TSR_TRY(tsr_builder_create("fuzz", &in->b));
  while (in->at < in->end && in->calls < MOST_CALLS && !tsr_builder_failed(in->b)) call_any(in);
  TSR_TRY(tsr_builder_finish(in->b, &program));
  return tsr_program_print(program, NULL, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  TSR_OWN(text, printed);
  TSR_OWN(program, program);
  fuzz_input in = {.at = data, .end = data + size};
  tsr_status status = build(&in, &printed);
  if (!status) {
    status = tsr_program_read("fuzz", printed.data, printed.length, NULL, &program);
    assert(!status);
  }
  tsr_status_free(status);
  tsr_builder_destroy(in.b);
  return 0;
}
