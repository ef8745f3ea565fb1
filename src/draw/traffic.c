// The copies of a plan, summed by sender and receiver. The time is that of the busiest device: its
// messages follow one another, and devices work at the same time.
#include "draw/draw.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/compare.h"
#include "element/dtype_internal.h"
#include "mesh/mesh_internal.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/topology.h"
#include "topology/topology_internal.h"
#include "transfer/transfer_internal.h"

// Limits: with more, summing would take seconds.
enum { MOST_COPIES = 1 << 22, MOST_DEVICES = 1 << 20 };

void tsr_traffic_deinit(tsr_traffic *traffic) {
  free(traffic->devices);
  free(traffic->labels);
  free(traffic->bytes);
  *traffic = (tsr_traffic){0};
}

int64_t tsr_traffic_at(const tsr_traffic *traffic, int source, int target) {
  return traffic->bytes[source * traffic->rows + target];
}

int64_t tsr_traffic_max(const tsr_traffic *traffic) {
  int64_t most = 0;
  for (int s = 0; s < traffic->rows; s++)
    for (int t = 0; t < traffic->rows; t++)
      if (s != t && tsr_traffic_at(traffic, s, t) > most) most = tsr_traffic_at(traffic, s, t);
  return most;
}

// ---- devices ----

static void label_row(const tsr_traffic *traffic, int row) {
  const int64_t first = row * traffic->per_row;
  int64_t last = first + traffic->per_row - 1;
  if (last >= traffic->device_count) last = traffic->device_count - 1;
  const long long a = traffic->devices[first], b = traffic->devices[last];
  snprintf(traffic->labels[row], sizeof *traffic->labels, first == last ? "%lld" : "%lld-%lld", a,
           b);
}

static tsr_status list_devices(const tsr_layout *from, const tsr_layout *to, tsr_traffic *out) {
  const int64_t a = tsr_layout_device_count(from), b = tsr_layout_device_count(to);
  out->devices = malloc((size_t)(a + b) * sizeof *out->devices);
  if (!out->devices) return tsr_fail(NO_MEMORY, "a list of %lld devices", (long long)(a + b));
  for (int64_t p = 0; p < a; p++) out->devices[p] = tsr_layout_device_at(from, p);
  for (int64_t p = 0; p < b; p++) out->devices[a + p] = tsr_layout_device_at(to, p);
  const int64_t count = tsr_sort_distinct(out->devices, a + b);
  out->device_count = count;
  out->per_row = count > 0 ? (count + TSR_TRAFFIC_MOST_ROWS - 1) / TSR_TRAFFIC_MOST_ROWS : 1;
  out->rows = (int)((count + out->per_row - 1) / out->per_row);
  out->bytes = calloc((size_t)out->rows * (size_t)out->rows + 1, sizeof *out->bytes);
  out->labels = calloc((size_t)out->rows + 1, sizeof *out->labels);
  if (!out->bytes || !out->labels) return tsr_fail(NO_MEMORY, "a matrix of %d rows", out->rows);
  for (int row = 0; row < out->rows; row++) label_row(out, row);
  return NULL;
}

// ---- messages ----

typedef struct tally {
  tsr_traffic *traffic;
  const tsr_topology *topology;  // NULL = no links
  double (*seconds)[2];          // of each device, sending and receiving
} tally;

static int64_t index_of(const tsr_traffic *traffic, int64_t device) {
  const int64_t *found = bsearch(&device, traffic->devices, (size_t)traffic->device_count,
                                 sizeof *traffic->devices, tsr_compare_int64);
  return found - traffic->devices;
}

static void add_message(const tally *t, int64_t source, int64_t target, int64_t bytes) {
  tsr_traffic *traffic = t->traffic;
  const int64_t s = index_of(traffic, source), d = index_of(traffic, target);
  traffic->bytes[s / traffic->per_row * traffic->rows + d / traffic->per_row] += bytes;
  if (!t->topology || source == target) return;
  const double seconds =
      tsr_topology_cost(t->topology, tsr_topology_device_find(t->topology, source),
                        tsr_topology_device_find(t->topology, target), bytes);
  t->seconds[s][0] += seconds;
  t->seconds[d][1] += seconds;
}

// Copies are ordered by source, so those of one message are adjacent.
static tsr_status add_position(const tally *t, const tsr_copy_plan *plan, tsr_dtype dtype,
                               int64_t position) {
  tsr_copies copies;
  TSR_TRY(tsr_copies_init_into(&copies, plan, position));
  int64_t source = 0, target = 0, elements = 0;
  tsr_status status = NULL;
  bool more = true;
  while (more && !status) {
    tsr_copy copy;
    more = tsr_copies_next(&copies, &copy);
    if (elements && (!more || copy.source != source)) {
      int64_t bytes = 0;
      status = tsr_dtype_bytes(dtype, elements, &bytes);
      add_message(t, source, target, bytes);
      elements = 0;
    }
    if (!more) break;
    source = copy.source;
    target = copy.target;
    elements += tsr_copy_elements(&copy);
  }
  tsr_copies_deinit(&copies);
  return status;
}

static tsr_status add_all(const tally *t, const tsr_copy_plan *plan, tsr_dtype dtype) {
  const int64_t positions = tsr_layout_device_count(tsr_copy_plan_to(plan));
  for (int64_t p = 0; p < positions; p++) TSR_TRY(add_position(t, plan, dtype, p));
  for (int64_t i = 0; i < 2 * t->traffic->device_count; i++)
    if (t->seconds[i / 2][i % 2] > t->traffic->seconds)
      t->traffic->seconds = t->seconds[i / 2][i % 2];
  return NULL;
}

static const tsr_topology *topology_of(const tsr_layout *layout) {
  const tsr_mesh *mesh = tsr_layout_mesh(layout);
  return mesh && !tsr_mesh_is_abstract(mesh) ? tsr_mesh_topology(mesh) : NULL;
}

tsr_status tsr_traffic_from_plan(const tsr_copy_plan *plan, tsr_dtype dtype,
                                 const tsr_certificate *certificate, tsr_traffic *out_traffic) {
  const tsr_layout *from = tsr_copy_plan_from(plan), *to = tsr_copy_plan_to(plan);
  tsr_traffic out = {0};
  if (certificate->copies > MOST_COPIES || tsr_layout_device_count(from) > MOST_DEVICES ||
      tsr_layout_device_count(to) > MOST_DEVICES) {
    *out_traffic = out;
    return NULL;
  }
  tally t = {.traffic = &out};
  if (topology_of(from) && topology_of(from) == topology_of(to)) t.topology = topology_of(from);
  out.timed = t.topology != NULL;
  tsr_status status = list_devices(from, to, &out);
  t.seconds = calloc((size_t)out.device_count + 1, sizeof *t.seconds);
  if (!status && !t.seconds)
    status = tsr_fail(NO_MEMORY, "the times of %lld devices", (long long)out.device_count);
  if (!status) status = add_all(&t, plan, dtype);
  free(t.seconds);
  if (status)
    tsr_traffic_deinit(&out);
  else
    *out_traffic = out;
  return status;
}
