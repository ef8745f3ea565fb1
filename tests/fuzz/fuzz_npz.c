// An archive of any bytes is opened or refused; what it holds is read or refused.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text_internal.h"
#include "file/npy_internal.h"
#include "tessera/checkpoint.h"
#include "tessera/text.h"

// A deflated array may be a thousand times as large as its archive.
enum { MOST_BYTES = 1 << 20 };

static void read_arrays(const tsr_npz *npz) {
  for (int64_t i = 0; i < tsr_npz_count(npz); i++) {
    const tsr_npy *npy = tsr_npz_array(npz, i);
    assert(tsr_npz_name(npz, i));
    if (npy->end - npy->begin > MOST_BYTES) continue;
    void *elements = malloc((size_t)(npy->end - npy->begin) + 1);
    assert(elements);
    tsr_status_free(tsr_npz_read(npz, i, elements, npy->end - npy->begin));
    free(elements);
  }
}

// What is noted of the whole archive is read by checkpoints only.
static void open_checkpoint(const char *path) {
  const tsr_checkpoint_options options = {.size = sizeof options, .format = TSR_FORMAT_NPZ};
  const tsr_metadata *metadata = NULL;
  tsr_checkpoint *checkpoint = NULL;
  tsr_status status = tsr_checkpoint_open(path, &options, &checkpoint);
  if (!status)
    for (int64_t i = tsr_checkpoint_metadata(checkpoint, &metadata) - 1; i >= 0; i--)
      assert(metadata[i].key && metadata[i].value);
  tsr_status_free(status);
  tsr_checkpoint_release(checkpoint);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const int fd = memfd_create("npz", 0);
  assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
  tsr_text path = TSR_TEXT_EMPTY;
  tsr_text_addf(&path, "/proc/self/fd/%d", fd);
  tsr_npz *npz = NULL;
  tsr_status status = tsr_npz_open(tsr_text_string(&path), &npz);
  if (!status) read_arrays(npz);
  tsr_status_free(status);
  tsr_npz_destroy(npz);
  open_checkpoint(tsr_text_string(&path));
  tsr_text_deinit(&path);
  close(fd);
  return 0;
}
