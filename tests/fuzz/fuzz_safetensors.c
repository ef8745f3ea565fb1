// A header of any bytes is read or refused; what is read tiles the file.
#include <assert.h>
#include <stdint.h>

#include "file/safetensors.h"
#include "tessera/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsr_model *model = NULL;
  // The file is as long as the input, so that the data area is what follows the header.
  tsr_status status = tsr_safetensors_parse((const char *)data, size, (int64_t)size, &model);
  if (!status) {
    int64_t bytes = 0;
    for (int64_t i = 0; i < tsr_model_count(model); i++) {
      const tsr_model_tensor *tensor = tsr_model_tensor_at(model, i);
      assert(tensor->begin >= 8 && tensor->end <= (int64_t)size);
      assert(tsr_model_find(model, tensor->tensor.path) == i);
      bytes += tensor->end - tensor->begin;
    }
    assert(bytes == tsr_model_bytes(model));
  }
  tsr_status_free(status);
  tsr_model_destroy(model);
  return 0;
}
