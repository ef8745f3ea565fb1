// Runs compiled programs: StableHLO that JAX made, inputs by a formula, results checked once.
//
// bench: programs compiled and run on this machine
// rival: XLA on CPU, one device
// case: matmul_2048_rows 1.0 x
// case: matmul_2048_contract 1.0 x
// case: gpt_block_d1024_s512_fwd_bwd 1.0 x
// case: mlp_dp_train_step 1.0 x
// case: elementwise_chain_64m 1.2 x
// case: softmax_8192_sharded_dim 1.2 x
// case: layer_scan_train 1.2 x
// case: reshard_rows_to_cols_8192
// case: gather_rows_8192
// case: psum_64mb
// case: gpt2_small_prefill 1.0 x
// case: gpt2_small_decode 1.0 x
// case: resnet50_infer 1.0 x
// case: vit_base_infer 1.0 x
// case: bert_base_infer 1.0 x
// case: llama_tiny_train_step 1.0 x
//
// Donated arguments take results in their memory (program_rounds.h), on both sides. Memory is
// compared as XLA counts it: arguments, results and values between steps, but not what a product
// packs or a worker keeps while a step runs, which XLA's libraries take uncounted. That of ours
// stands in a column of its own. With "limits" instead of a case it answers with what the machine
// can do at most (machine_limits.h).
#include <string.h>

#include "machine_limits.h"
#include "program_rounds.h"

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "limits")) return machine_limits_print();
  return program_rounds(argc > 1 ? argv[1] : "layer_scan_train", true);
}
