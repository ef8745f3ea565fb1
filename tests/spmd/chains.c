// Random programs of several ops: each op takes values that were made before, all of one square
// type, and constraints are put between them at random.
#include <stdio.h>
#include <string.h>

#include "base/text_internal.h"
#include "spmd_test.h"

enum { MOST_VALUES = 16, ARGS = 2 };

// A link: how a new value %N is made of %A and %B. In its text $T is the type, $E the element type,
// $Z zero, $L the least number, $S the size of a dim, $H half of it, $M one less, $D twice that.
static const char *const links[] = {
    "%N = stablehlo.add %A, %B : $T",
    "%N = stablehlo.subtract %A, %B : $T",
    "%N = stablehlo.maximum %A, %B : $T",
    "%N = stablehlo.negate %A : $T",
    "%N = stablehlo.transpose %A, dims = [1, 0] : ($T) -> $T",
    "%N = stablehlo.reverse %A, dims = [1] : $T",
    "%Np = stablehlo.compare LT, %A, %B : ($T, $T) -> tensor<$Sx$Sxi1>\n"
    " %N = stablehlo.select %Np, %B, %A : tensor<$Sx$Sxi1>, $T",
    "%Nc = stablehlo.constant dense<$L> : tensor<$E>\n"
    " %Nr = stablehlo.reduce(%A init: %Nc) applies stablehlo.maximum across dimensions = [1] : "
    "($T, tensor<$E>) -> tensor<$Sx$E>\n"
    " %N = stablehlo.broadcast_in_dim %Nr, dims = [0] : (tensor<$Sx$E>) -> $T",
    "%Nc = stablehlo.constant dense<$L> : tensor<$E>\n"
    " %Nr = stablehlo.reduce(%A init: %Nc) applies stablehlo.maximum across dimensions = [0] : "
    "($T, tensor<$E>) -> tensor<$Sx$E>\n"
    " %N = stablehlo.broadcast_in_dim %Nr, dims = [1] : (tensor<$Sx$E>) -> $T",
    "%Nf = stablehlo.slice %A [$H:$S, 0:$S] : ($T) -> tensor<$Hx$Sx$E>\n"
    " %Ng = stablehlo.slice %B [0:$H, 0:$S] : ($T) -> tensor<$Hx$Sx$E>\n"
    " %N = stablehlo.concatenate %Nf, %Ng, dim = 0 : (tensor<$Hx$Sx$E>, tensor<$Hx$Sx$E>) -> $T",
    "%Nc = stablehlo.constant dense<$Z> : tensor<$E>\n"
    " %Nf = stablehlo.slice %A [0:$S, 0:$S:2] : ($T) -> tensor<$Sx$Hx$E>\n"
    " %N = stablehlo.pad %Nf, %Nc, low = [0, 1], high = [0, 0], interior = [0, 1] : "
    "(tensor<$Sx$Hx$E>, tensor<$E>) -> $T",
    "%N = \"stablehlo.sort\"(%A) <{dimension = 0 : i64}> ({\n ^bb0(%a: tensor<$E>, %b: "
    "tensor<$E>):\n"
    " %s = stablehlo.compare LT, %a, %b : (tensor<$E>, tensor<$E>) -> tensor<i1>\n"
    " stablehlo.return %s : tensor<i1>\n }) : ($T) -> $T",
    "%Nc = stablehlo.constant dense<$L> : tensor<$E>\n"
    " %N = \"stablehlo.reduce_window\"(%A, %Nc) <{window_dimensions = array<i64: 3, 1>, "
    "padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>}> ({\n"
    " ^bb0(%a: tensor<$E>, %b: tensor<$E>):\n %s = stablehlo.maximum %a, %b : tensor<$E>\n"
    " stablehlo.return %s : tensor<$E>\n }) : ($T, tensor<$E>) -> $T",
    "%Nc = stablehlo.constant dense<$L> : tensor<$E>\n"
    " %N = \"stablehlo.reduce_window\"(%A, %Nc) <{window_dimensions = array<i64: 1, $S>, "
    "padding = dense<[[0, 0], [$M, 0]]> : tensor<2x2xi64>}> ({\n"
    " ^bb0(%a: tensor<$E>, %b: tensor<$E>):\n %s = stablehlo.maximum %a, %b : tensor<$E>\n"
    " stablehlo.return %s : tensor<$E>\n }) : ($T, tensor<$E>) -> $T",
    "%Nc = stablehlo.constant dense<3> : tensor<i32>\n"
    " %Nf = stablehlo.dynamic_slice %B, %Nc, %Nc, sizes = [2, $H] : ($T, tensor<i32>, tensor<i32>) "
    "-> tensor<2x$Hx$E>\n"
    " %N = stablehlo.dynamic_update_slice %A, %Nf, %Nc, %Nc : ($T, tensor<2x$Hx$E>, tensor<i32>, "
    "tensor<i32>) -> $T",
    "%Nf = stablehlo.reshape %A : ($T) -> tensor<$Qx$E>\n"
    " %N = stablehlo.reshape %Nf : (tensor<$Qx$E>) -> $T",
    "%N = stablehlo.optimization_barrier %A : $T",
    "%Nc = stablehlo.constant dense<$Z> : tensor<$E>\n"
    " %Nr = stablehlo.reduce(%A init: %Nc) applies stablehlo.add across dimensions = [1] : "
    "($T, tensor<$E>) -> tensor<$Sx$E>\n"
    " %N = stablehlo.broadcast_in_dim %Nr, dims = [1] : (tensor<$Sx$E>) -> $T",
    "%Nd = stablehlo.dot_general %A, %B, contracting_dims = [1] x [0] : ($T, $T) -> $T\n"
    " %Nm = stablehlo.minimum %Nd, %A : $T\n %N = stablehlo.maximum %Nm, %B : $T",
    "%Nc = stablehlo.constant dense<0> : tensor<i32>\n"
    " %Nw:2 = stablehlo.while(%i = %Nc, %c = %A) : tensor<i32>, $T\n cond {\n"
    " %l = stablehlo.constant dense<2> : tensor<i32>\n"
    " %t = stablehlo.compare LT, %i, %l : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    " stablehlo.return %t : tensor<i1>\n } do {\n"
    " %o = stablehlo.constant dense<1> : tensor<i32>\n"
    " %j = stablehlo.add %i, %o : tensor<i32>\n %m = stablehlo.minimum %c, %B : $T\n"
    " %r = stablehlo.reverse %m, dims = [0] : $T\n"
    " stablehlo.return %j, %r : tensor<i32>, $T\n }\n"
    " %N = stablehlo.optimization_barrier %Nw#1 : $T",
    "%Nf = stablehlo.slice %A [1:$S, 0:$M] : ($T) -> tensor<$Mx$Mx$E>\n"
    " %Ng = stablehlo.concatenate %Nf, %Nf, dim = 1 : (tensor<$Mx$Mx$E>, tensor<$Mx$Mx$E>) -> "
    "tensor<$Mx$Dx$E>\n"
    " %Nh = stablehlo.slice %Ng [0:$M, 1:$D:2] : (tensor<$Mx$Dx$E>) -> tensor<$Mx$Mx$E>\n"
    " %Nc = stablehlo.constant dense<$Z> : tensor<$E>\n"
    " %N = stablehlo.pad %Nh, %Nc, low = [1, 0], high = [0, 1], interior = [0, 0] : "
    "(tensor<$Mx$Mx$E>, tensor<$E>) -> $T",
};

typedef struct chain_kind {
  const char *element, *zero, *least;
} chain_kind;
static const chain_kind kinds[] = {{"i32", "0", "-2147483648"}, {"f32", "0.", "0xFF800000"}};
static const int sizes[] = {12, 6, 10, 14};
static const char *const meshes[] = {"\"x\"=2", "\"x\"=2, \"y\"=2", "\"x\"=2, \"y\"=3"};
static const char *const cuts[] = {"{}, {}",           "{\"x\"}, {}",       "{}, {\"x\"}",
                                   "{\"y\"}, {}",      "{}, {\"y\"}",       "{\"x\"}, {\"y\"}",
                                   "{\"y\"}, {\"x\"}", "{\"x\", \"y\"}, {}"};

static void add_type(const chain_kind *kind, int size, tsr_text *out) {
  tsr_text_addf(out, "tensor<%dx%dx%s>", size, size, kind->element);
}

// Writes a link as value `made` of others.
static void add_link(const char *link, int made, const chain_kind *kind, int size, tsr_text *out) {
  const int first = (int)spmd_draw((uint64_t)made), second = (int)spmd_draw((uint64_t)made);
  tsr_text_add(out, " ");
  for (const char *at = link; *at; at++) {
    const char next = at[1];
    if (*at == '%' && strchr("NAB", next)) {
      tsr_text_addf(out, "%%v%d", next == 'N' ? made : next == 'A' ? first : second);
    } else if (*at == '$') {
      if (next == 'T') add_type(kind, size, out);
      if (next == 'E') tsr_text_add(out, kind->element);
      if (next == 'Z') tsr_text_add(out, kind->zero);
      if (next == 'L') tsr_text_add(out, kind->least);
      if (next == 'S') tsr_text_addf(out, "%d", size);
      if (next == 'M') tsr_text_addf(out, "%d", size - 1);
      if (next == 'D') tsr_text_addf(out, "%d", 2 * (size - 1));
      if (next == 'H') tsr_text_addf(out, "%d", size / 2);
      if (next == 'Q') tsr_text_addf(out, "%d", size * size);
    } else {
      tsr_text_add_char(out, *at);
      continue;
    }
    at++;
  }
  tsr_text_add(out, "\n");
}

static const char *draw_cut(int mesh) {
  return cuts[spmd_draw(mesh ? sizeof cuts / sizeof *cuts : 3)];
}

static void write_chain(tsr_text *out) {
  const chain_kind *kind = &kinds[spmd_draw(2)];
  const int size = sizes[spmd_draw(4)], mesh = (int)spmd_draw(3);
  const int count = 3 + (int)spmd_draw(MOST_VALUES - ARGS - 3);
  int made = ARGS;
  tsr_text_addf(out, "sdy.mesh @mesh = <[%s]>\nfunc.func @main(", meshes[mesh]);
  for (int i = 0; i < ARGS; i++) {
    tsr_text_addf(out, "%s%%v%d: ", i ? ", " : "", i);
    add_type(kind, size, out);
    tsr_text_addf(out, " {sdy.sharding = #sdy.sharding<@mesh, [%s]>}", draw_cut(mesh));
  }
  tsr_text_add(out, ") -> ");
  add_type(kind, size, out);
  tsr_text_add(out, " {\n");
  while (made < ARGS + count) {
    if (spmd_draw(4)) {
      add_link(links[spmd_draw(sizeof links / sizeof *links)], made, kind, size, out);
    } else {
      tsr_text_addf(out, " %%v%d = sdy.sharding_constraint %%v%d <@mesh, [%s]> : ", made, made - 1,
                    draw_cut(mesh));
      add_type(kind, size, out);
      tsr_text_add(out, "\n");
    }
    made++;
  }
  tsr_text_addf(out, " return %%v%d : ", made - 1);
  add_type(kind, size, out);
  tsr_text_add(out, "\n}\n");
}

void spmd_try_chains(int count, spmd_tally *tally) {
  int failed = 0;
  for (int i = 0; i < count; i++) {
    tsr_text text = TSR_TEXT_EMPTY;
    write_chain(&text);
    tsr_status status = tsr_text_check(&text);
    if (!status) status = spmd_check(&text);
    if (status) printf("FAIL chain: %s\n%s\n", tsr_status_text(status), tsr_text_string(&text));
    failed += status != NULL;
    tsr_status_free(status);
    tsr_text_deinit(&text);
  }
  printf("%-36s %4d ways, %d failed\n", "chains of ops", count, failed);
  tally->runs += count;
  tally->failed += failed;
}
