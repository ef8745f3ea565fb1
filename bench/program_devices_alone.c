// What it costs to be 8 devices: partitioned programs beside the same ones run whole, by us.
//
// bench: programs on 8 virtual devices, beside one device
// rival: the same program, whole
// case: mlp_dp_train_step 0.87 x
// case: gpt_block_d1024_s512_fwd_bwd 0.87 x
// case: layer_scan_train 0.87 x
// case: gpt2_small_decode 0.87 x
// case: llama_tiny_train_step 0.87 x
// case: resnet50_infer 0.87 x
// case: bert_base_infer 0.87 x
// case: matmul_2048_rows 0.87 x
// case: matmul_2048_contract 0.87 x
// case: elementwise_chain_64m 0.87 x
// case: softmax_8192_sharded_dim 0.87 x
// case: gpt2_small_prefill 0.87 x
// case: vit_base_infer 0.87 x
//
// The same work in all, so 8 devices should take at most 1.15 times as long: 0.87 x. Programs that
// only move data are left out, since there is nothing to move on one device.
#include <string.h>

#include "device_rounds.h"

int main(int argc, char **argv) {
  const bool whole = argc > 1 && !strcmp(argv[1], "rival");
  const char *name = argc > 1 + whole ? argv[1 + whole] : "layer_scan_train";
  return whole ? program_rounds(name, false) : device_rounds_serve(name, false);
}
