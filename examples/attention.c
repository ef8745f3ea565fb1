// A causal attention block written in C: norm, projections, heads that share keys, rotary
// positions, residual. Printed as StableHLO, which jaxlib compiles and runs.
#include <stdio.h>
#include <tessera/program.h>
#include <tessera/tessera.h>

enum { BATCH = 2, TIME = 8, WIDTH = 32, HEADS = 4, KEY_HEADS = 2, SIZE = 8 };

static tsr_node weight(tsr_builder *b, const char *name, const tsr_shape *shape, const char *spec) {
  tsr_parameter_options options = TSR_PARAMETER_OPTIONS;
  options.spec = spec;
  return tsr_build_parameter(b, name, TSR_F32, shape, &options);
}

// x [batch, time, width] times w [width, heads, size].
static tsr_node project(tsr_builder *b, tsr_node x, tsr_node w) {
  return tsr_build_einsum(b, "btd,dhk->bthk", (tsr_node[]){x, w}, 2);
}

// No call is checked: the builder keeps the first failure for tsr_builder_finish.
static void block(tsr_builder *b) {
  const tsr_node x = weight(b, "x", TSR_SHAPE(BATCH, TIME, WIDTH), "data");
  const tsr_node scale = weight(b, "scale", TSR_SHAPE(WIDTH), NULL);
  const tsr_node wq = weight(b, "wq", TSR_SHAPE(WIDTH, HEADS, SIZE), "_, model");
  const tsr_node wk = weight(b, "wk", TSR_SHAPE(WIDTH, KEY_HEADS, SIZE), "_, model");
  const tsr_node wv = weight(b, "wv", TSR_SHAPE(WIDTH, KEY_HEADS, SIZE), "_, model");
  const tsr_node wo = weight(b, "wo", TSR_SHAPE(HEADS, SIZE, WIDTH), "model");

  const tsr_node h = tsr_build_rms_norm(b, x, scale, 1e-6);
  const tsr_node places = tsr_build_iota(b, TSR_I32, TSR_SHAPE(TIME), 0);
  const tsr_node q = tsr_build_rotary(b, project(b, h, wq), places, 10000);
  const tsr_node k = tsr_build_rotary(b, project(b, h, wk), places, 10000);
  const tsr_node v = project(b, h, wv);

  tsr_attention_options causal = TSR_ATTENTION_OPTIONS;
  causal.causal = true;
  const tsr_node seen = tsr_build_attention(b, q, k, v, &causal);
  const tsr_node out = tsr_build_einsum(b, "bthk,hkd->btd", (tsr_node[]){seen, wo}, 2);
  const tsr_node y = tsr_build_constrain(b, tsr_build_add(b, x, out), "data");
  tsr_build_output(b, y, "y", NULL);
}

static tsr_status run(void) {
  TSR_OWN(mesh, mesh);
  TSR_OWN(builder, builder);
  TSR_OWN(program, program);
  TSR_OWN(text, text);
  TSR_TRY(tsr_mesh_parse("data=2,model=2", NULL, &mesh));
  TSR_TRY(tsr_builder_create("attention", &builder));
  tsr_build_mesh(builder, NULL, mesh);
  block(builder);
  TSR_TRY(tsr_builder_finish(builder, &program));
  TSR_TRY(tsr_program_print(program, NULL, &text));
  printf("%s", tsr_text_string(&text));
  return NULL;
}

int main(void) { return tsr_status_exit(run()); }
