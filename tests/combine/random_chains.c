// Square matrices, so that every op fits every value: products, sums along dims that are broadcast
// again, slices that are padded or joined again, transposes, and constraints between them.
#include "random_chains.h"

enum { ARGS = 3, MOST_OPS = 14, SIZE = 8 };

typedef struct chain {
  uint64_t state;
  const char *element;
  const char *zero;
  const char *mesh;
  tsr_text *out;
  int count;  // of values: %v0 and so on
} chain;

static unsigned draw(chain *c, unsigned below) {
  c->state = c->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (unsigned)(c->state >> 33) % below;
}

// Axes on dims: none, one, both on different ones or both on one.
static const char *sharding(chain *c) {
  static const char *const ways[] = {
      "[{}, {}]",           "[{\"x\"}, {}]",        "[{}, {\"x\"}]",
      "[{\"y\"}, {}]",      "[{}, {\"y\"}]",        "[{\"x\"}, {\"y\"}]",
      "[{\"y\"}, {\"x\"}]", "[{\"x\", \"y\"}, {}]", "[{}, {\"y\", \"x\"}]"};
  return ways[draw(c, sizeof ways / sizeof *ways)];
}

static int pick(chain *c) { return (int)draw(c, (unsigned)c->count); }

static void binary(chain *c, const char *op) {
  const int a = pick(c), b = pick(c), next = c->count;
  tsr_text_addf(c->out, "  %%v%d = stablehlo.%s %%v%d, %%v%d : tensor<8x8x%s>\n", next, op, a, b,
                c->element);
}

static void unary(chain *c, const char *op) {
  tsr_text_addf(c->out, "  %%v%d = stablehlo.%s %%v%d : tensor<8x8x%s>\n", c->count, op, pick(c),
                c->element);
}

// The last value more often than others: sums of products are what the passes look for.
static void product(chain *c) {
  const int a = pick(c), b = draw(c, 2) ? c->count - 1 : pick(c);
  tsr_text_addf(c->out,
                "  %%v%d = stablehlo.dot_general %%v%d, %%v%d, contracting_dims = [%u] x [%u] : "
                "(tensor<8x8x%s>, tensor<8x8x%s>) -> tensor<8x8x%s>\n",
                c->count, a, b, draw(c, 2), draw(c, 2), c->element, c->element, c->element);
}

static void transpose(chain *c) {
  tsr_text_addf(c->out,
                "  %%v%d = stablehlo.transpose %%v%d, dims = [1, 0] : (tensor<8x8x%s>) -> "
                "tensor<8x8x%s>\n",
                c->count, pick(c), c->element, c->element);
}

static void reduce(chain *c, const char *op) {
  const unsigned dim = draw(c, 2);
  tsr_text_addf(c->out,
                "  %%r%d = stablehlo.reduce(%%v%d init: %%zero) applies stablehlo.%s across "
                "dimensions = [%u] : (tensor<8x8x%s>, tensor<%s>) -> tensor<8x%s>\n"
                "  %%v%d = stablehlo.broadcast_in_dim %%r%d, dims = [%u] : (tensor<8x%s>) -> "
                "tensor<8x8x%s>\n",
                c->count, pick(c), op, dim, c->element, c->element, c->element, c->count, c->count,
                draw(c, 2), c->element, c->element);
}

// One row or column, or two pieces in another order.
static void slices(chain *c) {
  const int from = pick(c), next = c->count;
  const unsigned at = draw(c, SIZE), cut = 1 + 2 * draw(c, SIZE / 2);
  if (draw(c, 2)) {
    tsr_text_addf(c->out,
                  "  %%s%d = stablehlo.slice %%v%d [%u:%u, 0:8] : (tensor<8x8x%s>) -> "
                  "tensor<1x8x%s>\n"
                  "  %%v%d = stablehlo.broadcast_in_dim %%s%d, dims = [0, 1] : (tensor<1x8x%s>) -> "
                  "tensor<8x8x%s>\n",
                  next, from, at, at + 1, c->element, c->element, next, next, c->element,
                  c->element);
    return;
  }
  tsr_text_addf(c->out,
                "  %%s%d = stablehlo.slice %%v%d [0:8, 0:%u] : (tensor<8x8x%s>) -> "
                "tensor<8x%ux%s>\n"
                "  %%t%d = stablehlo.slice %%v%d [0:8, %u:8] : (tensor<8x8x%s>) -> "
                "tensor<8x%ux%s>\n"
                "  %%v%d = stablehlo.concatenate %%t%d, %%s%d, dim = 1 : (tensor<8x%ux%s>, "
                "tensor<8x%ux%s>) -> tensor<8x8x%s>\n",
                next, from, cut, c->element, cut, c->element, next, from, cut, c->element,
                SIZE - cut, c->element, next, next, next, SIZE - cut, c->element, cut, c->element,
                c->element);
}

static void constraint(chain *c) {
  tsr_text_addf(c->out, "  %%v%d = sdy.sharding_constraint %%v%d <@mesh, %s> : tensor<8x8x%s>\n",
                c->count, pick(c), sharding(c), c->element);
}

static void add_op(chain *c) {
  switch (draw(c, 14)) {
    case 0:
    case 1:
    case 2:
      product(c);
      break;
    case 3:
    case 4:
      binary(c, "add");
      break;
    case 5:
      binary(c, "subtract");
      break;
    case 6:
      binary(c, draw(c, 2) ? "multiply" : "maximum");
      break;
    case 7:
      unary(c, "negate");
      break;
    case 8:
      transpose(c);
      break;
    case 9:
      reduce(c, draw(c, 2) ? "add" : "maximum");
      break;
    case 10:
      slices(c);
      break;
    default:
      constraint(c);
  }
  c->count++;
}

bool random_chain_write(uint64_t seed, tsr_text *out) {
  chain c = {.state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1, .out = out, .count = ARGS};
  (void)draw(&c, 2);
  const bool floats = draw(&c, 2);
  c.element = floats ? "f64" : "i32";
  tsr_text_addf(out, "sdy.mesh @mesh = <[\"x\"=2, \"y\"=%d]>\nfunc.func @main(",
                draw(&c, 3) ? 2 : 4);
  for (int i = 0; i < ARGS; i++)
    tsr_text_addf(out, "%s%%v%d: tensor<8x8x%s> {sdy.sharding = #sdy.sharding<@mesh, %s>}",
                  i ? ", " : "", i, c.element, sharding(&c));
  tsr_text_addf(out, ") -> (tensor<8x8x%s>, tensor<8x8x%s>) {\n", c.element, c.element);
  tsr_text_addf(out, "  %%zero = stablehlo.constant dense<0%s> : tensor<%s>\n", floats ? "." : "",
                c.element);
  const int count = 4 + (int)draw(&c, MOST_OPS - 4);
  for (int i = 0; i < count; i++) add_op(&c);
  tsr_text_addf(out, "  return %%v%d, %%v%d : tensor<8x8x%s>, tensor<8x8x%s>\n}\n", c.count - 1,
                c.count - 2, c.element, c.element);
  return floats;
}
