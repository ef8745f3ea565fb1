// What a training step would cost on 4096 devices, asked on a laptop.
#include <stdio.h>
#include <string.h>
#include <tessera/own.h>
#include <tessera/program.h>

// One layer: activations are cut by data, weights by model.
static const char layer[] =
    "sdy.mesh @mesh = <[\"data\"=64, \"model\"=64]>\n"
    "func.func @main(%x: tensor<8192x4096xbf16> {sdy.sharding = #sdy.sharding<@mesh, "
    "[{\"data\"}, {}]>}, %up: tensor<4096x16384xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, "
    "{\"model\"}]>}, %down: tensor<16384x4096xbf16> {sdy.sharding = #sdy.sharding<@mesh, "
    "[{\"model\"}, {}]>}) -> tensor<8192x4096xbf16> {\n"
    "  %0 = stablehlo.dot_general %x, %up, contracting_dims = [1] x [0] : "
    "(tensor<8192x4096xbf16>, tensor<4096x16384xbf16>) -> tensor<8192x16384xbf16>\n"
    "  %1 = stablehlo.tanh %0 : tensor<8192x16384xbf16>\n"
    "  %2 = stablehlo.dot_general %1, %down, contracting_dims = [1] x [0] : "
    "(tensor<8192x16384xbf16>, tensor<16384x4096xbf16>) -> tensor<8192x4096xbf16>\n"
    "  return %2 : tensor<8192x4096xbf16>\n}\n";

static tsr_status run(void) {
  TSR_OWN(program, program);
  TSR_OWN(propagation, propagation);
  TSR_OWN(topology, pod);
  TSR_OWN(preflight, preflight);
  TSR_TRY(tsr_program_read("layer", layer, strlen(layer), NULL, &program));
  TSR_TRY(tsr_program_propagate(program, NULL, &propagation));
  TSR_TRY(tsr_topology_parse("tpu-v5p:16x16x16", &pod));

  tsr_preflight_options options = TSR_PREFLIGHT_OPTIONS;
  options.topology = pod;
  TSR_TRY(tsr_preflight_create(propagation, &options, &preflight));
  tsr_preflight_info info = TSR_PREFLIGHT_INFO;
  TSR_TRY(tsr_preflight_describe(preflight, &info));
  printf("%lld devices: each computes %.3g FLOP in %.3g us, moves %lld bytes in %.3g us\n",
         (long long)info.device_count, info.flops, 1e6 * info.compute_seconds,
         (long long)info.bytes, 1e6 * info.collective_seconds);
  printf("and holds %lld of %lld bytes at the peak\n", (long long)info.peak_bytes,
         (long long)info.memory_bytes);

  for (int64_t i = 0; i < info.reshard_count; i++) {
    tsr_preflight_reshard row = TSR_PREFLIGHT_RESHARD;
    TSR_TRY(tsr_preflight_reshard_at(preflight, i, &row));
    printf("%s by %s: %s\n  %s\n", row.value, row.collectives, row.cause, row.suggestion);
  }
  return NULL;
}

int main(void) { return tsr_status_exit(run()); }
