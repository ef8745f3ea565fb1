// An archive of any bytes is opened or refused; what it holds is read or refused.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tessera/npy.h"
#include "tessera/text.h"

// A deflated array may be a thousand times as large as its archive.
enum { MOST_BYTES = 1 << 20 };

static void read_arrays(const tsr_npz *npz) {
  for (int64_t i = 0; i < tsr_npz_count(npz); i++) {
    const tsr_npy *npy = tsr_npz_array(npz, i);
    assert(tsr_npz_find(npz, tsr_npz_name(npz, i)) == i);
    if (npy->end - npy->begin > MOST_BYTES) continue;
    void *elements = malloc((size_t)(npy->end - npy->begin) + 1);
    assert(elements);
    tsr_status_free(tsr_npz_read(npz, i, elements));
    free(elements);
  }
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
  tsr_text_deinit(&path);
  close(fd);
  return 0;
}
