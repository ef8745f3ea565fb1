// Hugging Face folders of any index and any headers: read whole or refused, and fsck agrees.
#include "fuzz_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_folder folder;
  fuzz_folder_make(data, size, &folder);
  fuzz_write(&folder, 0, "model.safetensors.index.json");
  fuzz_write_tensors(&folder, 1, "model-00001-of-00002.safetensors");
  fuzz_write_tensors(&folder, 2, "model-00002-of-00002.safetensors");
  fuzz_check(&folder);
  fuzz_folder_remove(&folder);
  return 0;
}
