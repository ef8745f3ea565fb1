// Runs programs partitioned for the 8 devices of their mesh, all of them in this process.
//
// bench: programs partitioned and run on 8 virtual devices
// rival: XLA on 8 host devices of the same processors
// case: psum_chain_tiny 20 x
// case: psum_64mb 2 x
// case: gather_rows_8192 4 x
// case: reshard_rows_to_cols_8192 2 x
// case: mlp_dp_train_step 1.3 x
// case: gpt_block_d1024_s512_fwd_bwd 1.0 x
// case: layer_scan_train 1.3 x
// case: gpt2_small_decode 1.5 x
// case: llama_tiny_train_step 1.5 x
// case: resnet50_infer 1.0 x
// case: bert_base_infer 1.0 x
// case: matmul_2048_rows
// case: matmul_2048_contract
// case: elementwise_chain_64m
// case: softmax_8192_sharded_dim
// case: gpt2_small_prefill
// case: vit_base_infer
//
// Both take and give the shards that each device holds. Memory is compared as XLA counts it
// (program_run.c), times 8: XLA counts that of one device.
#include <string.h>

#include "device_rounds.h"
#include "machine_limits.h"

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "limits")) return machine_limits_print();
  return device_rounds_serve(argc > 1 ? argv[1] : "psum_chain_tiny", true);
}
