// What ranks compare before a load: the tensors in reading order, with dtypes and layouts, and the
// selection.
#include "base/hash_internal.h"
#include "base/text_internal.h"
#include "load/load.h"
#include "map/map.h"
#include "tessera/checkpoint/load.h"
#include "tessera/engine/kernels.h"

// ---- selections ----

static tsr_hash128 add_patterns(tsr_hash128 hash, const char *const *patterns, int64_t count) {
  for (int64_t i = 0; i < count; i++) hash = tsr_hash128_add_text(hash, patterns[i]);
  return tsr_hash128_add(hash, &count, sizeof count);
}

tsr_hash128 tsr_selection_digest(const tsr_selection *selection) {
  tsr_text map = TSR_TEXT_EMPTY;
  tsr_hash128 hash = add_patterns(TSR_HASH128_EMPTY, selection->include, selection->include_count);
  hash = add_patterns(hash, selection->exclude, selection->exclude_count);
  for (int64_t i = 0; i < selection->cast_count; i++) {
    hash = tsr_hash128_add_text(hash, selection->casts[i].pattern);
    hash = tsr_hash128_add(hash, &selection->casts[i].dtype, sizeof selection->casts[i].dtype);
  }
  hash = tsr_hash128_add(hash, &selection->dtype, sizeof selection->dtype);
  if (selection->map) tsr_mapping_describe(selection->map, &map);
  hash = tsr_hash128_add(hash, tsr_text_string(&map), map.length);
  tsr_text_deinit(&map);
  return hash;
}

static void describe_patterns(const char *what, const char *const *patterns, int64_t count,
                              tsr_text *out) {
  for (int64_t i = 0; i < count; i++) tsr_text_addf(out, "%s \"%s\"", i ? "," : what, patterns[i]);
}

void tsr_selection_describe(const tsr_selection *selection, tsr_text *out) {
  const tsr_dtype_info *info = tsr_dtype_info_of(selection->dtype);
  tsr_text_addf(out, "tensors as %s", info ? info->name : "they are");
  describe_patterns(", included", selection->include, selection->include_count, out);
  describe_patterns(", excluded", selection->exclude, selection->exclude_count, out);
  for (int64_t i = 0; i < selection->cast_count; i++) {
    info = tsr_dtype_info_of(selection->casts[i].dtype);
    tsr_text_addf(out, ", \"%s\" as %s", selection->casts[i].pattern,
                  info ? info->name : "they are");
  }
  if (!selection->map) return;
  tsr_text_add(out, ", made by the map ");
  tsr_mapping_describe(selection->map, out);
}

// ---- a load ----

typedef struct load_compared {
  const tsr_load *load;
  tsr_selection selection;
} load_compared;

// Items: the tensors in order, then the selection.
static tsr_hash128 digest_tensor(void *context, int64_t item) {
  load_compared *a = context;
  const tsr_load *load = a->load;
  if (item == load->count) return tsr_selection_digest(&a->selection);
  const int64_t number = load->order[item];
  const tsr_load_tensor *t = &load->tensors[number];
  const tsr_hash128 layout = tsr_layout_digest(t->layout);
  const uint64_t numbers[] = {layout.low, layout.high, (uint64_t)number, (uint64_t)t->view->dtype,
                              (uint64_t)tsr_load_stored_bytes(load, t, t->view->elements)};
  const tsr_hash128 name = tsr_hash128_add_text(TSR_HASH128_EMPTY, t->view->name);
  return tsr_hash128_add(name, numbers, sizeof numbers);
}

static void describe_tensor(void *context, int64_t item, tsr_text *out) {
  const load_compared *a = context;
  const tsr_load *load = a->load;
  if (item == load->count) {
    tsr_selection_describe(&a->selection, out);
    return;
  }
  const tsr_load_tensor *t = &load->tensors[load->order[item]];
  tsr_text_addf(out, "tensor %lld \"%s\": %s of %lld bytes, ", (long long)item, t->view->name,
                tsr_dtype_info_of(t->view->dtype)->name,
                (long long)tsr_load_stored_bytes(load, t, t->view->elements));
  tsr_layout_describe(t->layout, out);
}

tsr_status tsr_load_compare(tsr_load *load, tsr_status found) {
  const tsr_load_options *o = &load->options;
  load_compared a = {.load = load, .selection = TSR_SELECTION_OF(o)};
  tsr_call c = tsr_call_begin(load->comm, "load");
  tsr_call_describe(&c, "load of %lld tensors, %lld bytes, least_piece %lld, max_memory %lld%s%s%s",
                    (long long)load->count, (long long)load->certificate.total_read,
                    (long long)o->least_piece, (long long)o->max_memory, o->alone ? ", alone" : "",
                    o->planned_only ? ", planned_only" : "",
                    o->replicas == TSR_REPLICAS_COMPARE ? ", compare replicas" : "");
  c.items = (tsr_call_items){load->count + 1, &a, digest_tensor, describe_tensor};
  if (!found) load->agreed = tsr_call_digest(&c);
  return tsr_load_agree_on(&c, found);
}
