// One op, or two that belong together, on values that a program has: each function adds it to the
// text. Where the value that was drawn does not suit, it adds nothing.
#ifndef TESSERA_TESTS_FUZZ_FUZZ_MAKER_OPS_H
#define TESSERA_TESTS_FUZZ_FUZZ_MAKER_OPS_H

#include "fuzz_maker.h"

// ---- one element at a time ----

static void make_unary(maker *m) {
  static const char *const ops[][16] = {
      [BOOL] = {"not"},
      [SIGNED] = {"abs", "negate", "not", "sign", "popcnt", "count_leading_zeros"},
      [UNSIGNED] = {"not", "popcnt", "count_leading_zeros", "negate"},
      [REAL] = {"abs", "negate", "exponential", "log", "sine", "cosine", "tanh", "sqrt", "rsqrt",
                "logistic", "floor", "ceil", "sign", "exponential_minus_one", "log_plus_one",
                "cbrt"},
      [COMPLEX] = {"negate", "exponential", "log", "sqrt", "tanh"}};
  const int x = draw_value(m);
  const char *const *row = ops[types[m->values[x].type].kind];
  int count = 0;
  while (count < 16 && row[count]) count++;
  add_op(m, row[draw(m, count)], &x, 1, "", m->values[x]);
}

static void make_binary(maker *m) {
  static const char *const ops[][14] = {
      [BOOL] = {"and", "or", "xor", "maximum", "minimum", "add", "multiply"},
      [SIGNED] = {"add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and",
                  "or", "xor", "shift_left", "shift_right_logical", "shift_right_arithmetic",
                  "power"},
      [UNSIGNED] = {"add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum",
                    "and", "or", "xor", "shift_left", "shift_right_logical",
                    "shift_right_arithmetic", "power"},
      [REAL] = {"add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "remainder",
                "atan2"},
      [COMPLEX] = {"add", "subtract", "multiply", "divide"}};
  const int x = draw_value(m), y = draw_like(m, x);
  const char *const *row = ops[types[m->values[x].type].kind];
  int count = 0;
  while (count < 14 && row[count]) count++;
  add_op(m, row[draw(m, count)], (int[]){x, y}, 2, "", m->values[x]);
}

static void make_select(maker *m) {
  const int x = draw_value(m), y = draw_like(m, x);
  shaped flags = m->values[x];
  flags.type = TYPE_BOOL;
  const bool is_complex = types[m->values[x].type].kind == COMPLEX;
  const int flag = add_op(m, "compare", (int[]){x, y}, 2,
                          is_complex || draw(m, 2)
                              ? "<{comparison_direction = #stablehlo<comparison_direction EQ>}>"
                              : "<{comparison_direction = #stablehlo<comparison_direction LT>}>",
                          flags);
  add_op(m, "select", (int[]){flag, draw_like(m, x), x}, 3, "", m->values[x]);
}

static void make_convert(maker *m) {
  const int x = draw_value(m);
  shaped s = m->values[x];
  s.type = draw_type(m);
  add_op(m, "convert", &x, 1, "", s);
}

static void make_clamp(maker *m) {
  const int x = draw_value(m);
  if (types[m->values[x].type].kind == COMPLEX) return;
  const int low = add_constant(m, (shaped){.type = m->values[x].type});
  add_op(m, "clamp", (int[]){low, x, draw_like(m, x)}, 3, "", m->values[x]);
}

// ---- moving ----

static int draw_size(maker *m) {
  static const int sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 32, 33, 64, 100, 130, 0};
  return sizes[draw(m, 16)];
}

static void make_broadcast(maker *m) {
  const int x = draw_value(m);
  shaped s = m->values[x];
  int dims[MOST_RANK], count = 0;
  if (s.rank == MOST_RANK) {
    for (int d = 0; d < s.rank; d++)
      if (s.dims[d] == 1) s.dims[d] = draw_size(m);
    for (int d = 0; d < s.rank; d++) dims[count++] = d;
  } else {
    const int at = draw(m, s.rank + 1);
    for (int d = s.rank++; d > at; d--) s.dims[d] = s.dims[d - 1];
    s.dims[at] = draw_size(m);
    for (int d = 0; d < s.rank; d++)
      if (d != at) dims[count++] = d;
  }
  if (elements(&s) > MOST_ELEMENTS) return;
  const int result = add_value(m, s);
  open_op(m, result, "broadcast_in_dim", &x, 1);
  tsr_text_add(&m->out, "<{");
  add_list(m, "broadcast_dimensions", dims, count);
  tsr_text_add(&m->out, "}>");
  close_op(m, result, &x, 1);
}

static void make_reshape(maker *m) {
  const int x = draw_value(m);
  shaped s = m->values[x];
  const int64_t count = elements(&s);
  const int parts = 1 + draw(m, 4);
  s.rank = 1, s.dims[0] = (int)count;
  if (parts > 1 && count % parts == 0) s = (shaped){s.type, 2, {parts, (int)count / parts}};
  if (draw(m, 2) && s.rank == 2) s = (shaped){s.type, 3, {s.dims[1], 1, s.dims[0]}};
  add_op(m, "reshape", &x, 1, "", s);
}

static void make_transpose(maker *m) {
  const int x = draw_value(m);
  shaped s = m->values[x];
  int order[MOST_RANK];
  const int turn = draw(m, s.rank ? s.rank : 1);
  for (int d = 0; d < s.rank; d++) {
    order[d] = (d + turn) % s.rank;
    s.dims[d] = m->values[x].dims[order[d]];
  }
  const int result = add_value(m, s);
  open_op(m, result, "transpose", &x, 1);
  tsr_text_add(&m->out, "<{");
  add_list(m, "permutation", order, s.rank);
  tsr_text_add(&m->out, "}>");
  close_op(m, result, &x, 1);
}

static void make_slice(maker *m) {
  const int x = draw_value(m);
  shaped s = m->values[x];
  int start[MOST_RANK], limit[MOST_RANK], stride[MOST_RANK];
  for (int d = 0; d < s.rank; d++) {
    start[d] = draw(m, 4) * s.dims[d] / 8;
    limit[d] = s.dims[d] - draw(m, 4) * (s.dims[d] - start[d]) / 6;
    stride[d] = 1 + draw(m, 5) / 4;
    s.dims[d] = (limit[d] - start[d] + stride[d] - 1) / stride[d];
  }
  const int result = add_value(m, s);
  open_op(m, result, "slice", &x, 1);
  tsr_text_add(&m->out, "<{");
  add_list(m, "start_indices", start, s.rank);
  add_list(m, ", limit_indices", limit, s.rank);
  add_list(m, ", strides", stride, s.rank);
  tsr_text_add(&m->out, "}>");
  close_op(m, result, &x, 1);
}

static void make_pad(maker *m) {
  const int x = draw_value(m);
  shaped s = m->values[x];
  int low[MOST_RANK], high[MOST_RANK], interior[MOST_RANK];
  for (int d = 0; d < s.rank; d++) {
    low[d] = draw(m, 4) - 1, high[d] = draw(m, 4), interior[d] = draw(m, 3) / 2;
    s.dims[d] += (s.dims[d] ? (s.dims[d] - 1) * interior[d] : 0) + low[d] + high[d];
    if (s.dims[d] < 0) return;
  }
  if (elements(&s) > MOST_ELEMENTS) return;
  const int operands[] = {x, add_constant(m, (shaped){.type = s.type})};
  const int result = add_value(m, s);
  open_op(m, result, "pad", operands, 2);
  tsr_text_add(&m->out, "<{");
  add_list(m, "edge_padding_low", low, s.rank);
  add_list(m, ", edge_padding_high", high, s.rank);
  add_list(m, ", interior_padding", interior, s.rank);
  tsr_text_add(&m->out, "}>");
  close_op(m, result, operands, 2);
}

static void make_concatenate(maker *m) {
  const int x = draw_value(m), operands[] = {x, draw_like(m, x), x};
  shaped s = m->values[x];
  char properties[64];
  if (!s.rank || 3 * elements(&s) > MOST_ELEMENTS) return;
  const int d = draw(m, s.rank), count = 2 + draw(m, 2);
  s.dims[d] *= count;
  snprintf(properties, sizeof properties, "<{dimension = %d : i64}>", d);
  add_op(m, "concatenate", operands, count, properties, s);
}

static void make_reverse(maker *m) {
  const int x = draw_value(m);
  char properties[64];
  if (!m->values[x].rank) return;
  snprintf(properties, sizeof properties, "<{dimensions = array<i64: %d>}>",
           draw(m, m->values[x].rank));
  add_op(m, "reverse", &x, 1, properties, m->values[x]);
}

static void make_iota(maker *m) {
  shaped s = m->values[draw_value(m)];
  char properties[64];
  if (!s.rank || types[s.type].kind == BOOL) return;
  snprintf(properties, sizeof properties, "<{iota_dimension = %d : i64}>", draw(m, s.rank));
  add_op(m, "iota", NULL, 0, properties, s);
}

// One row at a place that the program computes, and the row put at another.
static void make_dynamic(maker *m) {
  const int x = draw_value(m);
  shaped row = m->values[x];
  if (!row.rank || !row.dims[0]) return;
  int operands[MOST_RANK + 2] = {x};
  for (int d = 0; d < row.rank; d++) operands[1 + d] = INDEX;
  row.dims[0] = 1 + draw(m, row.dims[0]);
  const int made = add_value(m, row);
  open_op(m, made, "dynamic_slice", operands, row.rank + 1);
  tsr_text_add(&m->out, "<{");
  add_list(m, "slice_sizes", row.dims, row.rank);
  tsr_text_add(&m->out, "}>");
  close_op(m, made, operands, row.rank + 1);
  memmove(operands + 2, operands + 1, sizeof *operands * (size_t)row.rank);
  operands[0] = draw_like(m, x), operands[1] = made;
  add_op(m, "dynamic_update_slice", operands, row.rank + 2, "", m->values[x]);
}

// Rows by their numbers, and added to rows by their numbers.
static void make_gather(maker *m) {
  const int x = draw_value(m);
  shaped rows = m->values[x];
  char window[32] = "";
  if (!rows.rank || !rows.dims[0]) return;
  for (int d = 1; d < rows.rank; d++)
    snprintf(window + strlen(window), sizeof window - strlen(window), d > 1 ? ", %d" : "%d", d);
  rows.dims[0] = m->values[ROWS].dims[0];
  if (elements(&rows) > MOST_ELEMENTS) return;
  const int made = add_value(m, rows), operands[] = {x, ROWS};
  shaped slice = rows;
  slice.dims[0] = 1;
  open_op(m, made, "gather", operands, 2);
  tsr_text_addf(
      &m->out,
      "<{dimension_numbers = #stablehlo.gather<offset_dims = [%s], collapsed_slice_dims = "
      "[0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, ",
      window);
  add_list(m, "slice_sizes", slice.dims, slice.rank);
  tsr_text_add(&m->out, "}>");
  close_op(m, made, operands, 2);
  const int scattered[] = {draw_like(m, x), ROWS, made};
  const char *const type = types[rows.type].name;
  const int result = add_value(m, m->values[x]);
  open_op(m, result, "scatter", scattered, 3);
  tsr_text_addf(
      &m->out,
      "<{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [%s], "
      "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, "
      "indices_are_sorted = false, unique_indices = false}> ({\n^bb0(%%p: tensor<%s>, %%q: "
      "tensor<%s>):\n%%r = \"stablehlo.add\"(%%p, %%q) : (tensor<%s>, tensor<%s>) -> "
      "tensor<%s>\n\"stablehlo.return\"(%%r) : (tensor<%s>) -> ()\n})",
      window, type, type, type, type, type, type);
  close_op(m, result, scattered, 3);
}

// ---- combining ----

static void add_body(maker *m, int type) {
  static const char *const ops[] = {"add", "maximum", "minimum", "multiply"};
  const char *name = types[type].name;
  const char *op = ops[types[type].kind == COMPLEX ? 0 : draw(m, 4)];
  tsr_text_addf(&m->out,
                "({\n^bb0(%%p: tensor<%s>, %%q: tensor<%s>):\n%%r = \"stablehlo.%s\"(%%p, %%q) : "
                "(tensor<%s>, tensor<%s>) -> tensor<%s>\n\"stablehlo.return\"(%%r) : (tensor<%s>) "
                "-> ()\n})",
                name, name, op, name, name, name, name);
}

static void make_reduce(maker *m) {
  const int x = draw_value(m), chosen = draw(m, 8);
  shaped s = {.type = m->values[x].type};
  int dims[MOST_RANK], count = 0;
  for (int d = 0; d < m->values[x].rank; d++)
    if (chosen >> d & 1)
      dims[count++] = d;
    else
      s.dims[s.rank++] = m->values[x].dims[d];
  const int operands[] = {x, add_constant(m, (shaped){.type = s.type})};
  const int result = add_value(m, s);
  open_op(m, result, "reduce", operands, 2);
  tsr_text_add(&m->out, "<{");
  add_list(m, "dimensions", dims, count);
  tsr_text_add(&m->out, "}> ");
  add_body(m, s.type);
  close_op(m, result, operands, 2);
}

static void make_window(maker *m) {
  const int x = draw_value(m);
  shaped s = m->values[x];
  if (!s.rank || !elements(&s)) return;
  int window[MOST_RANK] = {1, 1, 1}, stride[MOST_RANK] = {1, 1, 1}, low[MOST_RANK] = {0};
  const int d = draw(m, s.rank), n = s.dims[d];
  if (draw(m, 2)) {  // cumulative
    window[d] = n, low[d] = n - 1;
  } else {
    window[d] = 1 + draw(m, n < 4 ? n : 4), stride[d] = 1 + draw(m, 3);
    s.dims[d] = (n - window[d]) / stride[d] + 1;
  }
  const int operands[] = {x, add_constant(m, (shaped){.type = s.type})};
  const int result = add_value(m, s);
  open_op(m, result, "reduce_window", operands, 2);
  tsr_text_add(&m->out, "<{");
  add_list(m, "window_dimensions", window, s.rank);
  add_list(m, ", window_strides", stride, s.rank);
  tsr_text_add(&m->out, ", padding = dense<[");
  for (int i = 0; i < s.rank; i++) tsr_text_addf(&m->out, "%s[%d, 0]", i ? ", " : "", low[i]);
  tsr_text_addf(&m->out, "]> : tensor<%dx2xi64>}> ", s.rank);
  add_body(m, s.type);
  close_op(m, result, operands, 2);
}

static void make_sort(maker *m) {
  const int x = draw_value(m);
  const shaped s = m->values[x];
  const char *const name = types[s.type].name;
  if (!s.rank || types[s.type].kind == COMPLEX) return;
  const int result = add_value(m, s);
  open_op(m, result, "sort", &x, 1);
  tsr_text_addf(
      &m->out,
      "<{dimension = %d : i64, is_stable = true}> ({\n^bb0(%%p: tensor<%s>, %%q: "
      "tensor<%s>):\n%%r = \"stablehlo.compare\"(%%p, %%q) <{comparison_direction = "
      "#stablehlo<comparison_direction LT>%s}> : (tensor<%s>, tensor<%s>) -> tensor<i1>\n"
      "\"stablehlo.return\"(%%r) : (tensor<i1>) -> ()\n})",
      draw(m, s.rank), name, name,
      types[s.type].kind == REAL ? ", compare_type = #stablehlo<comparison_type TOTALORDER>" : "",
      name, name);
  close_op(m, result, &x, 1);
}

// Rows by rows, of one value or of two that are alike.
static void make_dot(maker *m) {
  const int x = draw_value(m), operands[] = {x, draw_like(m, x)};
  shaped s = m->values[x];
  if (s.rank < 2 || types[s.type].kind == BOOL) return;
  const int last = s.rank - 1;
  if (elements(&s) * s.dims[last - 1] > 1 << 20) return;
  s.dims[last] = s.dims[last - 1];
  if (elements(&s) > MOST_ELEMENTS) return;
  const int result = add_value(m, s);
  const char *const batch = last == 2 ? "0" : "";
  open_op(m, result, "dot_general", operands, 2);
  tsr_text_addf(&m->out,
                "<{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [%s], "
                "rhs_batching_dimensions = [%s], lhs_contracting_dimensions = [%d], "
                "rhs_contracting_dimensions = [%d]>}>",
                batch, batch, last, last);
  close_op(m, result, operands, 2);
}

#endif
