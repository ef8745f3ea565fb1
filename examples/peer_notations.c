// A sharding in the words of others: what XLA prints for it, and the placements of a PyTorch
// DTensor. Both are read back; a text is given only where it puts the same piece on the same
// device.
#include <stdio.h>
#include <tessera/compat/hlo.h>
#include <tessera/compat/torch.h>
#include <tessera/tessera.h>

static tsr_status show(const char *name, const tsr_spec *spec) {
  TSR_OWN(text, text);
  TSR_TRY(tsr_spec_print(spec, TSR_FORM_SHORT, &text));
  printf("%-8s %s\n", name, tsr_text_string(&text));
  return NULL;
}

static tsr_status to_xla(const tsr_mesh *mesh, const tsr_spec *spec) {
  TSR_OWN(sharding, sharding);
  TSR_OWN(text, text);
  TSR_OWN(tiling, tiling);
  TSR_TRY(tsr_sharding_bind(mesh, spec, false, &sharding));
  TSR_TRY(tsr_tiling_from_sharding(sharding, 2, &tiling));
  tsr_tiling_print(tiling, &text);
  printf("%-8s %s\n", "XLA", tsr_text_string(&text));
  return NULL;
}

static tsr_status from_xla(const tsr_mesh *mesh, const char *text) {
  TSR_OWN(spec, spec);
  TSR_OWN(tiling, tiling);
  TSR_TRY(tsr_tiling_parse(text, &tiling));
  TSR_TRY(tsr_tiling_to_spec(tiling, mesh, &spec));
  return show("of XLA", spec);
}

// FSDP over tensor parallelism: the second placement cuts first.
static tsr_status from_torch(const tsr_mesh *mesh) {
  TSR_OWN(spec, spec);
  tsr_placements placements;
  TSR_TRY(tsr_placements_parse("[_StridedShard(0, split_factor=4), Shard(0)]", &placements));
  TSR_TRY(tsr_placements_to_spec(&placements, mesh, 2, TSR_SHAPE(8, 16), &spec));
  return show("PyTorch", spec);
}

static tsr_status run(void) {
  TSR_OWN(mesh, mesh);
  TSR_OWN(spec, spec);
  TSR_TRY(tsr_mesh_parse("dp=2,tp=4", NULL, &mesh));
  TSR_TRY(tsr_spec_parse("P(None, 'tp')", TSR_FORM_JAX, &spec));
  TSR_TRY(show("JAX", spec));
  TSR_TRY(to_xla(mesh, spec));
  TSR_TRY(from_xla(mesh, "{devices=[2,4]<=[8]}"));
  return from_torch(mesh);
}

int main(void) { return tsr_status_exit(run()); }
