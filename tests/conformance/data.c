// Inputs, outputs and groups of the conformance suite.
#include <stdlib.h>
#include <string.h>

#include "conformance/conformance.h"
#include "tessera/dtype.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/kernels.h"

enum { MARGIN = 64, FILL = 0xa5 };

// ---- groups ----

bool find_member(const tsr_groups *groups, int64_t device, int64_t *out_group, int64_t *out_index) {
  for (int64_t i = 0; i < groups->count * groups->size; i++) {
    if (groups->members[i] != device) continue;
    *out_group = i / groups->size;
    *out_index = i % groups->size;
    return true;
  }
  return false;
}

static void set_pattern(pattern *p, const char *name, int64_t count, int64_t size) {
  p->name = name;
  p->groups = (tsr_groups){count, size, p->members};
}

bool make_pattern(const tsr_comm *comm, int which, pattern *out) {
  const int64_t n = tsr_comm_device_count(comm);
  if (n > MOST_DEVICES) return false;
  for (int64_t i = 0; i < n; i++) out->members[i] = i;
  switch (which) {
    case 0:
      set_pattern(out, "all", 1, n);
      return true;
    case 1:
      set_pattern(out, "alone", n, 1);
      return true;
    case 2:
      set_pattern(out, "neighbours", n / 2, 2);
      return n >= 4;
    case 3:  // member i of group g is device g + i * groups
      set_pattern(out, "strided", n / 2, 2);
      for (int64_t i = 0; i < n / 2 * 2; i++) out->members[i] = i / 2 + i % 2 * (n / 2);
      return n >= 4;
    case 4:
      set_pattern(out, "backwards", 1, n);
      for (int64_t i = 0; i < n; i++) out->members[i] = n - 1 - i;
      return n >= 2;
    case 5:  // some take no part
      set_pattern(out, "threes", n / 3, 3);
      return n >= 4;
    default:  // nobody but the last two, in no natural order
      set_pattern(out, "two", 1, 2);
      out->members[0] = n - 1;
      out->members[1] = n - 2;
      return n >= 3;
  }
}

// ---- elements ----

uint64_t get_element(const void *buffer, int64_t index, int bits) {
  const unsigned char *bytes = buffer;
  uint64_t value = 0;
  if (bits % 8 == 0) {
    memcpy(&value, bytes + index * (bits / 8), (size_t)bits / 8);
    return value;
  }
  for (int b = 0; b < bits; b++) {
    const int64_t at = index * bits + b;
    value |= (uint64_t)(bytes[at / 8] >> (at % 8) & 1) << b;
  }
  return value;
}

void put_element(void *buffer, int64_t index, int bits, uint64_t value) {
  unsigned char *bytes = buffer;
  if (bits % 8 == 0) {
    memcpy(bytes + index * (bits / 8), &value, (size_t)bits / 8);
    return;
  }
  for (int b = 0; b < bits; b++) {
    const int64_t at = index * bits + b;
    const unsigned mask = 1U << (at % 8);
    bytes[at / 8] = (unsigned char)((bytes[at / 8] & ~mask) | (value >> b & 1 ? mask : 0));
  }
}

void move_elements(const void *source, int64_t from, void *target, int64_t to, int64_t count,
                   int bits) {
  if (bits % 8 == 0) {
    memcpy((char *)target + to * (bits / 8), (const char *)source + from * (bits / 8),
           (size_t)(count * (bits / 8)));
    return;
  }
  for (int64_t i = 0; i < count; i++)
    put_element(target, to + i, bits, get_element(source, from + i, bits));
}

static size_t bytes_of(tsr_dtype dtype, int64_t count) {
  return (size_t)((count * tsr_dtype_info_of(dtype)->bits + 7) / 8);
}

static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

// Numbers of moderate size, some of them equal, both signs.
static void fill_numbers(tsr_dtype dtype, uint64_t seed, int64_t count, void *out) {
  const tsr_dtype_class kind = tsr_dtype_info_of(dtype)->kind;
  const tsr_dtype part = dtype == TSR_C64 ? TSR_F32 : dtype == TSR_C128 ? TSR_F64 : dtype;
  const int64_t parts = kind == TSR_CLASS_COMPLEX ? 2 * count : count;
  float *numbers = malloc(sizeof *numbers * (size_t)(parts + 1));
  if (!numbers) abort();
  for (int64_t i = 0; i < parts; i++)
    numbers[i] = (float)((int64_t)(mix(seed + (uint64_t)i) % 4097) - 2048) / 512;
  tsr_status status = tsr_convert(TSR_F32, numbers, part, out, parts);
  if (status) abort();
  free(numbers);
}

void *make_input(tsr_dtype dtype, int64_t device, int salt, int64_t count) {
  const size_t bytes = bytes_of(dtype, count);
  unsigned char *buffer = malloc(bytes + MARGIN);
  if (!buffer) abort();
  memset(buffer, 0, bytes + MARGIN);
  const uint64_t seed = mix((uint64_t)device * 1000 + (uint64_t)salt);
  const tsr_dtype_class kind = tsr_dtype_info_of(dtype)->kind;
  const bool numbers = salt % 2 == 0 && (kind == TSR_CLASS_FLOAT || kind == TSR_CLASS_COMPLEX);
  for (size_t i = 0; i < bytes; i += 8) {
    const uint64_t eight = mix(seed + i);
    memcpy(buffer + i, &eight, sizeof eight);  // into the margin, at the end
  }
  memset(buffer + bytes, 0, MARGIN);
  if (kind == TSR_CLASS_BOOL)
    for (size_t i = 0; i < bytes; i++) buffer[i] &= 1;
  if (numbers) fill_numbers(dtype, seed, count, buffer);
  return buffer;
}

void *make_output(tsr_dtype dtype, int64_t count) {
  const size_t bytes = bytes_of(dtype, count) + MARGIN;
  void *buffer = malloc(bytes);
  if (!buffer) abort();
  return memset(buffer, FILL, bytes);
}

bool same_buffers(tsr_dtype dtype, const void *a, const void *b, int64_t count) {
  return !memcmp(a, b, bytes_of(dtype, count) + MARGIN);
}

void free_buffers(buffers *b) {
  for (int64_t i = 0; i < b->count; i++) {
    bool shared = b->out[i] == b->in[i];
    for (int64_t k = 0; k < i; k++) shared = shared || b->out[k] == b->out[i];
    if (!shared) free(b->out[i]);
    free(b->in[i]);
  }
}
