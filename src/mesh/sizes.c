// Sizes of axes and a number of devices: the one unknown size, and errors for sizes that do not
// fit. Such an error names near sizes that would: all changes of one axis are tried, then of two.
#include "mesh/mesh.h"

#include <stdio.h>
#include <string.h>

#include "base/text_internal.h"
#include "mesh/dims.h"
#include "mesh/mesh_build_internal.h"

// Pairs of sizes whose smaller one is above MAX_LOW are not tried: a message must not take long.
enum { MAX_OFFERS = 3, MAX_LOW = 1 << 16 };

typedef struct offer {
  int64_t change;  // distance from the requested sizes: the sum of larger / smaller over the axes
  int64_t sizes[TSR_MAX_AXES];
} offer;

typedef struct offers {
  const tsr_axis *requested;
  int rank, count;
  offer best[MAX_OFFERS];  // nearest first
} offers;

// larger / smaller, rounded up; a requested -1 or 0 counts as 1.
static int64_t distance(int64_t requested, int64_t size) {
  if (requested < 1) requested = 1;
  const int64_t high = requested > size ? requested : size,
                low = requested > size ? size : requested;
  return high / low + (high % low != 0);
}

static void add_offer(offers *found, const int64_t *sizes) {
  offer entry = {0};
  for (int i = 0; i < found->rank; i++) {
    entry.sizes[i] = sizes[i];
    // Requested sizes may be huge; an offer that far off comes last.
    if (__builtin_add_overflow(entry.change, distance(found->requested[i].size, sizes[i]),
                               &entry.change))
      entry.change = INT64_MAX;
  }
  for (int i = 0; i < found->count; i++)
    if (!memcmp(found->best[i].sizes, entry.sizes, sizeof entry.sizes)) return;
  int place = found->count;
  while (place > 0 && found->best[place - 1].change > entry.change) place--;
  if (place == MAX_OFFERS) return;
  const int last = found->count < MAX_OFFERS ? found->count++ : MAX_OFFERS - 1;
  memmove(&found->best[place + 1], &found->best[place],
          (size_t)(last - place) * sizeof *found->best);
  found->best[place] = entry;
}

// Keeps all sizes except those of axes a and b (may be equal) and offers all choices of these.
static void change_two(offers *found, int a, int b, int64_t device_count) {
  int64_t sizes[TSR_MAX_AXES], product = 1;
  for (int i = 0; i < found->rank; i++) {
    sizes[i] = found->requested[i].size;
    if (i == a || i == b) continue;
    if (sizes[i] < 1 || __builtin_mul_overflow(product, sizes[i], &product)) return;
  }
  if (device_count % product) return;
  const int64_t rest = device_count / product;
  for (int64_t low = 1; low <= rest / low && low <= MAX_LOW; low++) {
    if (rest % low || (a == b && low > 1)) continue;
    sizes[a] = low;
    sizes[b] = rest / low;
    add_offer(found, sizes);
    sizes[b] = low;
    sizes[a] = rest / low;
    if (a != b) add_offer(found, sizes);
  }
}

// "; {data=4, model=2} or {data=2, model=4} would fit"
static void add_offers(const tsr_axis *axes, int rank, int64_t device_count, tsr_text *out) {
  offers found = {.requested = axes, .rank = rank};
  for (int a = 0; a < rank; a++)
    for (int b = a; b < rank; b++) change_two(&found, a, b, device_count);
  for (int i = 0; i < found.count; i++) {
    tsr_axis fitting[TSR_MAX_AXES];
    for (int k = 0; k < rank; k++)
      fitting[k] = (tsr_axis){axes[k].name, found.best[i].sizes[k], axes[k].type};
    tsr_text_add(out, i == 0 ? "; " : i + 1 < found.count ? ", " : " or ");
    tsr_axes_describe(fitting, rank, out);
  }
  if (found.count) tsr_text_add(out, " would fit");
}

tsr_status tsr_axes_mismatch(const tsr_axis *axes, int axis_count, int64_t device_count) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_axes_describe(axes, axis_count, &text);
  tsr_text_addf(&text, " does not make %lld devices", (long long)device_count);
  add_offers(axes, axis_count, device_count, &text);
  return tsr_text_end(&text,
                      tsr_fail(DIMS_DO_NOT_MATCH_DEVICE_COUNT, "%s", tsr_text_string(&text)));
}

bool tsr_axes_product(const tsr_axis *axes, int axis_count, int64_t *out_product) {
  int64_t product = 1;
  for (int i = 0; i < axis_count; i++)
    if (__builtin_mul_overflow(product, axes[i].size, &product)) return false;
  *out_product = product;
  return true;
}

// The axis whose size is -1, or -1 when all are known.
static tsr_status find_unknown(const tsr_axis *axes, int axis_count, int *out_axis) {
  int unknown = -1;
  for (int i = 0; i < axis_count; i++) {
    if (axes[i].size >= 0) continue;
    if (axes[i].size < -1)
      return tsr_fail(BAD_AXIS_SIZE, "axis %d has size %lld, wanted 1 or more, or -1 for the rest",
                      i, (long long)axes[i].size);
    if (unknown >= 0)
      return tsr_fail(MORE_THAN_ONE_UNKNOWN_DIM, "axes %d and %d both have size -1; one may",
                      unknown, i);
    unknown = i;
  }
  *out_axis = unknown;
  return NULL;
}

tsr_status tsr_axes_complete(tsr_axis *axes, int axis_count, int64_t device_count) {
  int unknown = -1;
  TSR_TRY(find_unknown(axes, axis_count, &unknown));
  int64_t product = 1;
  for (int i = 0; i < axis_count; i++)
    if (i != unknown && __builtin_mul_overflow(product, axes[i].size, &product))
      return tsr_axes_mismatch(axes, axis_count, device_count);
  const bool fits = unknown < 0 ? product == device_count : product && device_count % product == 0;
  if (!fits) return tsr_axes_mismatch(axes, axis_count, device_count);
  if (unknown >= 0) axes[unknown].size = device_count / product;
  return NULL;
}

tsr_status tsr_sizes_complete(int64_t *sizes, int count, int64_t device_count) {
  TSR_TRY(tsr_rank_check(count));
  if (device_count < 1)
    return tsr_fail(BAD_ARGUMENT, "a mesh of %lld devices, wanted 1 or more",
                    (long long)device_count);
  tsr_axis axes[TSR_MAX_AXES] = {0};
  for (int i = 0; i < count; i++) axes[i].size = sizes[i];
  TSR_TRY(tsr_axes_complete(axes, count, device_count));
  for (int i = 0; i < count; i++) sizes[i] = axes[i].size;
  return NULL;
}

// ---- sizes without names ----

// Nothing here allocates, so a message about sizes can be made in the call that raises it.

const char *tsr_dims_text(const int64_t *dims, int rank, const char *separator,
                          char buffer[TSR_DIMS_TEXT]) {
  size_t length = 0;
  buffer[0] = '\0';
  for (int i = 0; i < rank && length < TSR_DIMS_TEXT; i++) {
    const int written = snprintf(buffer + length, TSR_DIMS_TEXT - length, "%s%lld",
                                 i ? separator : "", (long long)dims[i]);
    length += (size_t)written;
  }
  return buffer;
}

tsr_status tsr_rank_check(int rank) {
  if (rank >= 0 && rank <= TSR_MAX_AXES) return NULL;
  return tsr_fail(TOO_LARGE, "a mesh of %d axes; at most %d are possible", rank, TSR_MAX_AXES);
}

tsr_status tsr_dims_check(const int64_t *dims, int rank, const char *what) {
  char text[TSR_DIMS_TEXT];
  for (int i = 0; i < rank; i++)
    if (dims[i] < 1)
      return tsr_fail(BAD_AXIS_SIZE, "axis %d of %s (%s) has size %lld, wanted 1 or more", i, what,
                      tsr_dims_text(dims, rank, ", ", text), (long long)dims[i]);
  return NULL;
}

bool tsr_dims_product(const int64_t *dims, int rank, int64_t *out_product) {
  int64_t product = 1;
  for (int i = 0; i < rank; i++)
    if (__builtin_mul_overflow(product, dims[i], &product)) return false;
  *out_product = product;
  return true;
}
