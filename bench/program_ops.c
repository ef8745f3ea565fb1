// Reads, checks and prints a program of many ops, functions and calls, from memory.
//
// bench: read, check and print 50,000 ops in 1,000 functions
// rival: jaxlib parse, verify and print
// bar: 5 x
#include "base/text_internal.h"
#include "rounds.h"
#include "tessera/program/program.h"

enum { FUNCTIONS = 1000, LAYERS = 4 };

// Twelve ops of a transformer's kind, on values that begin at %`at`; the last result is %`at` + 11.
static void add_layer(tsr_text *out, int x, int at) {
  tsr_text_addf(out, "    %%%d = stablehlo.constant dense<1.000000e+00> : tensor<f32>\n", at);
  tsr_text_addf(out,
                "    %%%d = stablehlo.broadcast_in_dim %%%d, dims = [] : (tensor<f32>) -> "
                "tensor<8x16xf32>\n",
                at + 1, at);
  tsr_text_addf(out, "    %%%d = stablehlo.add %%%d, %%%d : tensor<8x16xf32>\n", at + 2, x, at + 1);
  tsr_text_addf(out,
                "    %%%d = stablehlo.transpose %%%d, dims = [1, 0] : (tensor<8x16xf32>) -> "
                "tensor<16x8xf32>\n",
                at + 3, at + 2);
  tsr_text_addf(out,
                "    %%%d = stablehlo.dot_general %%%d, %%%d, contracting_dims = [1] x [0], "
                "precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<16x8xf32>) -> "
                "tensor<8x8xf32>\n",
                at + 4, at + 2, at + 3);
  tsr_text_addf(out,
                "    %%%d = stablehlo.reduce(%%%d init: %%%d) applies stablehlo.maximum across "
                "dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>\n",
                at + 5, at + 4, at);
  tsr_text_addf(out,
                "    %%%d = stablehlo.broadcast_in_dim %%%d, dims = [0] : (tensor<8xf32>) -> "
                "tensor<8x8xf32>\n",
                at + 6, at + 5);
  tsr_text_addf(out, "    %%%d = stablehlo.subtract %%%d, %%%d : tensor<8x8xf32>\n", at + 7, at + 4,
                at + 6);
  tsr_text_addf(out, "    %%%d = stablehlo.exponential %%%d : tensor<8x8xf32>\n", at + 8, at + 7);
  tsr_text_addf(out,
                "    %%%d = stablehlo.slice %%%d [0:8, 0:4] : (tensor<8x8xf32>) -> "
                "tensor<8x4xf32>\n",
                at + 9, at + 8);
  tsr_text_addf(out,
                "    %%%d = stablehlo.concatenate %%%d, %%%d, %%%d, dim = 1 : (tensor<8x4xf32>, "
                "tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x16xf32>\n",
                at + 10, at + 9, at + 8, at + 9);
  tsr_text_addf(out, "    %%%d = stablehlo.multiply %%%d, %%%d : tensor<8x16xf32>\n", at + 11,
                at + 10, x);
}

static void add_function(tsr_text *out, int number) {
  tsr_text_addf(out, "  func.func %s @%s%d(%%arg0: tensor<8x16xf32>) -> tensor<8x16xf32> {\n",
                number ? "private" : "public", number ? "layer" : "main", number);
  tsr_text_add(out, "    %0 = stablehlo.negate %arg0 : tensor<8x16xf32>\n");
  for (int i = 0; i < LAYERS; i++) add_layer(out, 12 * i, 12 * i + 1);
  const int next = number + 1 < FUNCTIONS ? number + 1 : 0;
  if (next)
    tsr_text_addf(out, "    %%%d = call @layer%d(%%%d) : (tensor<8x16xf32>) -> tensor<8x16xf32>\n",
                  12 * LAYERS + 1, next, 12 * LAYERS);
  tsr_text_addf(out, "    return %%%d : tensor<8x16xf32>\n  }\n", 12 * LAYERS + (next ? 1 : 0));
}

static tsr_status make_text(tsr_text *out) {
  tsr_text_add(out, "module @many {\n");
  for (int i = 0; i < FUNCTIONS; i++) add_function(out, i);
  tsr_text_add(out, "}\n");
  return tsr_text_check(out);
}

static tsr_status read_and_print(void *context) {
  const tsr_text *text = context;
  tsr_text printed = TSR_TEXT_EMPTY;
  tsr_program *program = NULL;
  TSR_TRY(tsr_program_read("many", text->data, text->length, NULL, &program));
  tsr_status status = tsr_program_print(program, NULL, &printed);
  if (!status && printed.length < text->length / 2)
    status = tsr_fail(BROKEN_PROGRAM, "%zu bytes printed", printed.length);
  tsr_text_deinit(&printed);
  tsr_program_release(program);
  return status;
}

// The rival reads the same text: `program_ops text` prints it.
int main(int argc, char **argv) {
  tsr_text text = TSR_TEXT_EMPTY;
  (void)argv;
  tsr_status status = make_text(&text);
  int code = 0;
  if (status)
    code = rounds_fail(status);
  else if (argc > 1)
    fwrite(text.data, 1, text.length, stdout);
  else
    code = rounds_serve(read_and_print, &text);
  tsr_text_deinit(&text);
  return code;
}
