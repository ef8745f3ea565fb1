// Files for each rank of any headers, cut as any plan says: read whole or refused, and fsck agrees.
#include "fuzz_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_folder folder;
  fuzz_folder_make(data, size, &folder);
  fuzz_write(&folder, 0, "tessera-plan.json");
  fuzz_write_tensors(&folder, 1, "model-rank-0-part-0.safetensors");
  fuzz_write_tensors(&folder, 2, "model-rank-1-part-0.safetensors");
  fuzz_write_tensors(&folder, 3, "model-rank-1-part-1.safetensors");
  fuzz_check(&folder);
  fuzz_folder_remove(&folder);
  return 0;
}
