// A load is decided first, by every rank in the same way, and compared. Then come rounds: every
// rank reads, all agree that none has failed, and ranks send what others need. Rounds bound the
// lists of copies only: all data are in the buffers of the arrays.
#include "load/load.h"

#include <stdlib.h>

#include "base/arithmetic.h"
#include "base/pool_internal.h"
#include "base/sized.h"
#include "job/job_limits.h"
#include "layout/layout_internal.h"
#include "plan/plan_internal.h"
#include "plan/tree_internal.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/plan.h"
#include "tessera/tree.h"
#include "view/select.h"

static const int64_t default_least = INT64_C(1) << 20;
static const int64_t most_window = INT64_C(4) << 20, least_window = INT64_C(64) << 10;
static const int64_t round_memory = INT64_C(32) << 20;  // of lists of copies

tsr_status tsr_load_tree(const tsr_checkpoint *checkpoint, const tsr_load_options *options,
                         tsr_tree **out_tree) {
  tsr_load_options read;
  TSR_TRY(tsr_sized_read(tsr_load_options, options, &read));
  return tsr_selection_tree(checkpoint, &TSR_SELECTION_OF(&read), out_tree);
}

// ---- one tensor ----

static bool has_overlaps(const tsr_layout *layout) {
  if (layout->kind != TSR_LAYOUT_GRID) return false;
  for (int d = 0; d < layout->rank; d++) {
    const tsr_cut cut = tsr_layout_cut(layout, d);
    if (tsr_cut_has_copies(&cut)) return true;
  }
  return false;
}

static void deinit_tensor(tsr_load_tensor *t) {
  tsr_layout_release(t->layout);
  tsr_box_index_destroy(t->index);
  free(t->readers);
  free(t->slots);
}

tsr_status tsr_load_tensor_init(tsr_load_tensor *t, const tsr_load *load, const tsr_view *view,
                                const tsr_layout *layout) {
  *t = (tsr_load_tensor){.view = view, .layout = layout};
  t->overlaps = has_overlaps(layout);
  if (tsr_layout_term_count(layout) > 1)
    return tsr_fail(UNSUPPORTED, "a checkpoint is not loaded into partial results");
  if (!t->view->direct) return NULL;
  return tsr_box_index_create(tsr_checkpoint_layout(load->checkpoint, t->view->origin), &t->index);
}

int64_t tsr_load_stored_bytes(const tsr_load *load, const tsr_load_tensor *t, int64_t elements) {
  const tsr_dtype dtype =
      t->view->direct ? load->checkpoint->store->tensors[t->view->origin].dtype : t->view->dtype;
  const int64_t bits = tsr_dtype_info_of(dtype)->bits;
  return elements / 8 * bits + (elements % 8 * bits + 7) / 8;
}

static int by_shard(const void *left, const void *right) {
  const tsr_load_slot *a = left, *b = right;
  if (a->shard != b->shard) return a->shard < b->shard ? -1 : 1;
  return (a->device > b->device) - (a->device < b->device);
}

// The distinct shards on this rank, each on its first device.
static tsr_status find_slots(tsr_load_tensor *t, const tsr_comm *comm) {
  const int64_t positions = tsr_layout_device_count(t->layout);
  int64_t count = 0;
  t->slots = malloc(sizeof *t->slots * (size_t)(tsr_comm_local_count(comm) + 1));
  if (!t->slots) return tsr_fail(NO_MEMORY, "the shards of a tensor");
  for (int64_t p = 0; p < positions; p++) {
    const int64_t device = tsr_layout_device_at(t->layout, p);
    if (device >= tsr_comm_device_count(comm))
      return tsr_fail(UNKNOWN_DEVICE, "device %lld of the plan is not one of the comm's %lld",
                      (long long)device, (long long)tsr_comm_device_count(comm));
    if (tsr_comm_local_index(comm, device) < 0) continue;
    t->slots[count++] = (tsr_load_slot){
        .shard = tsr_layout_shard(t->layout, p), .device = device, .dim = -1, .range = {0, 1}};
  }
  qsort(t->slots, (size_t)count, sizeof *t->slots, by_shard);
  for (int64_t i = 0; i < count; i++)
    if (t->slot_count == 0 || t->slots[t->slot_count - 1].shard != t->slots[i].shard)
      t->slots[t->slot_count++] = t->slots[i];
  return NULL;
}

// ---- all tensors ----

static tsr_status make_tensors(tsr_load *load, const tsr_plan *plan) {
  load->tensors = calloc((size_t)load->views.count + 1, sizeof *load->tensors);
  if (!load->tensors) return tsr_fail(NO_MEMORY, "%lld tensors", (long long)load->views.count);
  for (int64_t i = 0; i < load->views.count; i++) {
    const tsr_view *view = load->views.items[i];
    tsr_layout *layout = NULL;
    TSR_TRY(tsr_plan_layout(plan, i, &layout));
    load->count++;
    tsr_status status = tsr_load_tensor_init(&load->tensors[i], load, view, layout);
    if (!status) status = find_slots(&load->tensors[i], load->comm);
    if (status) return tsr_note(status, "tensor \"%s\"", view->name);
  }
  return NULL;
}

typedef struct first_byte {
  int file;
  int64_t offset, tensor;
} first_byte;

static int by_place(const void *left, const void *right) {
  const first_byte *a = left, *b = right;
  if (a->file != b->file) return a->file < b->file ? -1 : 1;
  if (a->offset != b->offset) return a->offset < b->offset ? -1 : 1;
  return (a->tensor > b->tensor) - (a->tensor < b->tensor);
}

// File order: by the place of the first shard of each tensor.
static tsr_status sort_tensors(tsr_load *load) {
  first_byte *places = malloc(sizeof *places * (size_t)(load->count + 1));
  load->order = malloc(sizeof *load->order * (size_t)(load->count + 1));
  if (!places || !load->order) {
    free(places);
    return tsr_fail(NO_MEMORY, "%lld tensors", (long long)load->count);
  }
  for (int64_t i = 0; i < load->count; i++) {
    const int64_t origin = load->views.items[i]->origin;
    places[i] = (first_byte){.tensor = i};
    if (origin < 0) continue;
    const tsr_shard_place *place = tsr_store_place_to_read(load->checkpoint->store, origin, 0, -1);
    places[i] = (first_byte){place->file, place->offset, i};
  }
  qsort(places, (size_t)load->count, sizeof *places, by_place);
  for (int64_t i = 0; i < load->count; i++) load->order[i] = places[i].tensor;
  free(places);
  return NULL;
}

// A round ends before lists of copies grow too long on some rank.
static tsr_status make_rounds(tsr_load *load) {
  const int64_t ranks = tsr_comm_rank_count(load->comm);
  int64_t most_local = 0, listed = 0;
  for (int r = 0; r < ranks; r++) {
    const int64_t first = tsr_comm_first_device(load->comm, r);
    const int64_t local = tsr_comm_first_device(load->comm, r + 1) - first;
    if (local > most_local) most_local = local;
  }
  load->rounds = malloc(sizeof *load->rounds * (size_t)(load->count + 2));
  if (!load->rounds) return tsr_fail(NO_MEMORY, "%lld tensors", (long long)load->count);
  for (int64_t i = 0; i < load->count; i++) {
    const tsr_load_tensor *t = &load->tensors[load->order[i]];
    int64_t copies = t->moves ? tsr_saturated_multiply(2 * most_local, ranks) : 0;
    if (t->overlaps) copies = tsr_saturated_multiply(copies, 8);
    listed = tsr_saturated_add(listed, tsr_saturated_multiply(copies, (int64_t)sizeof(tsr_copy)));
    if (i > 0 && listed <= round_memory) continue;
    load->rounds[load->certificate.rounds++] = i;
    listed = 0;
  }
  load->rounds[load->certificate.rounds] = load->count;
  return NULL;
}

// ---- the certificate ----

static tsr_status certify_slots(tsr_load *load, const tsr_load_tensor *t) {
  tsr_load_certificate *c = &load->certificate;
  const int64_t bits = tsr_dtype_info_of(t->view->dtype)->bits;
  for (int64_t i = 0; i < t->slot_count; i++) {
    const int64_t held = tsr_layout_buffer_elements(t->layout, t->slots[i].shard);
    tsr_load_slot whole = {.shard = t->slots[i].shard, .dim = -1, .range = {0, 1}};
    int64_t read = 0, needed = 0;
    TSR_TRY(tsr_load_slot_elements(t, &t->slots[i], &read));
    TSR_TRY(tsr_load_slot_elements(t, &whole, &needed));
    c->array_bytes += held / 8 * bits + (held % 8 * bits + 7) / 8;
    c->bytes_read += tsr_load_stored_bytes(load, t, read);
    c->needed += tsr_load_stored_bytes(load, t, needed);
  }
  return NULL;
}

static tsr_status certify_copies(tsr_load *load, const tsr_load_tensor *t) {
  const int64_t bits = tsr_dtype_info_of(t->view->dtype)->bits;
  tsr_copy_vector copies = TSR_COPY_VECTOR_EMPTY;
  tsr_status status = tsr_load_list_copies(load, t, &copies);
  for (int64_t i = 0; i < copies.count && !status; i++) {
    const tsr_copy *copy = &copies.items[i];
    const int64_t bytes = (tsr_copy_elements(copy) * bits + 7) / 8;
    const bool from_here = tsr_comm_local_index(load->comm, copy->source) >= 0;
    const bool to_here = tsr_comm_local_index(load->comm, copy->target) >= 0;
    if (from_here && !to_here) load->certificate.bytes_sent += bytes;
    if (to_here && !from_here) load->certificate.bytes_received += bytes;
  }
  tsr_copy_vector_deinit(&copies);
  return status;
}

static tsr_status certify(tsr_load *load) {
  load->certificate.tensors = load->count;
  for (int64_t i = 0; i < load->count; i++) {
    const tsr_load_tensor *t = &load->tensors[i];
    TSR_TRY(certify_slots(load, t));
    if (!load->options.alone) TSR_TRY(certify_copies(load, t));
    load->certificate.total_read += tsr_load_stored_bytes(load, t, t->view->elements);
  }
  return NULL;
}

// ---- memory ----

// Of tensors that are read through views.
static int64_t view_memory(const tsr_load *load) {
  int64_t most = 0;
  for (int64_t i = 0; i < load->count; i++) {
    const tsr_view *view = load->tensors[i].view;
    const int64_t window = most_window * 8 / tsr_dtype_info_of(view->dtype)->bits;
    const int64_t elements = window < view->elements ? window : view->elements;
    const int64_t memory = load->tensors[i].view->direct ? 0 : tsr_view_memory(view, elements);
    if (memory > most) most = memory;
  }
  return most;
}

// Each worker has the lists of a batch, a scratch buffer and a box of one window each.
tsr_status tsr_load_fit_memory(tsr_load *load) {
  const int64_t workers = load->pool ? tsr_pool_workers(load->pool) : 1;
  const int64_t fixed = tsr_batch_memory() + view_memory(load);
  const int64_t most = load->options.max_memory;
  int64_t window = most ? (most / workers - fixed) / 2 : most_window;
  if (window < least_window)
    return tsr_fail(DOES_NOT_FIT, "%lld bytes of memory are too little: at least %lld are needed",
                    (long long)most, (long long)(workers * (fixed + 2 * least_window)));
  load->window_bytes = window < most_window ? window : most_window;
  load->certificate.peak_memory = workers * (fixed + 2 * load->window_bytes);
  return NULL;
}

// ---- deciding ----

static tsr_status check_found(const tsr_plan *plan, const bool *found, const tsr_tree *there) {
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) {
    const char *path = tsr_tree_at(tsr_plan_tree(plan), i)->path;
    const char *nearest = found[i] ? NULL : tsr_tree_nearest(there, path);
    if (!found[i])
      return tsr_fail(NOT_FOUND, "the checkpoint has no tensor \"%s\"%s%s%s, which the plan has",
                      path, nearest ? " (is it \"" : "", nearest ? nearest : "",
                      nearest ? "\"?)" : "");
  }
  return NULL;
}

// Drops tensors that the plan lacks.
static tsr_status keep_planned(tsr_views *views, const tsr_plan *plan) {
  bool *found = calloc((size_t)tsr_plan_count(plan) + 1, sizeof *found);
  tsr_tree *there = NULL;
  int64_t kept = 0;
  tsr_status status = found ? tsr_views_tree(views, &there) : tsr_fail(NO_MEMORY, "a plan");
  for (int64_t i = 0; i < views->count && !status; i++) {
    const int64_t row = tsr_tree_find(tsr_plan_tree(plan), views->items[i]->name);
    if (row < 0)
      tsr_view_destroy(views->items[i]);
    else
      views->items[kept++] = views->items[i];
    if (row >= 0) found[row] = true;
  }
  if (!status) views->count = kept;
  if (!status) status = check_found(plan, found, there);
  tsr_tree_release(there);
  free(found);
  return status;
}

static tsr_status decide(tsr_load *load, const tsr_plan *plan, tsr_plan **out_plan) {
  tsr_replicas replicas = TSR_REPLICAS_TRUST;
  TSR_TRY(tsr_replicas_choose(load->options.replicas, TSR_REPLICAS_TRUST, &replicas));
  TSR_TRY(tsr_job_limits_check(&TSR_JOB_LIMITS_OF(&load->options, 0)));
  if (load->options.least_piece < 0)
    return tsr_fail(BAD_ARGUMENT, "least_piece is %lld bytes, wanted 0 or more",
                    (long long)load->options.least_piece);
  if (!load->options.least_piece) load->options.least_piece = default_least;
  TSR_TRY(tsr_views_selected(load->checkpoint, &TSR_SELECTION_OF(&load->options), replicas, NULL,
                             &load->views));
  if (load->options.planned_only && plan) TSR_TRY(keep_planned(&load->views, plan));
  if (!plan || !tsr_plan_mesh(plan))
    return tsr_fail(PLAN_REQUIRED, "a load needs a plan with a mesh");
  TSR_TRY_NOTE(tsr_views_plan(&load->views, plan, out_plan), "the plan of the load");
  TSR_TRY(make_tensors(load, *out_plan));
  TSR_TRY(sort_tensors(load));
  if (!load->options.alone) TSR_TRY(tsr_load_choose_readers(load));
  TSR_TRY(make_rounds(load));
  TSR_TRY(tsr_load_fit_memory(load));
  TSR_TRY(certify(load));
  if (load->options.alone) load->certificate.most_read = load->certificate.bytes_read;
  return NULL;
}

tsr_status tsr_load_agree_on(const tsr_call *c, tsr_status found) {
  const bool failed = found != NULL;
  tsr_status status = tsr_call_agree(c, found);
  if (!failed || tsr_comm_rank_count(c->comm) == 1 ||
      tsr_status_cause(status) == TSR_CAUSE_COMM_MISMATCH)
    return status;
  return tsr_note(status, "rank %d", tsr_comm_rank(c->comm));
}

tsr_status tsr_load_agree(tsr_comm *comm, const char *what, tsr_status found) {
  const tsr_call c = tsr_call_begin(comm, what);
  return tsr_load_agree_on(&c, found);
}

// Checks what ranks compare. Options that fail are not used.
static tsr_status read_options(const tsr_load_options *given, tsr_load_options *out) {
  tsr_load_options read;
  TSR_TRY(tsr_sized_read(tsr_load_options, given, &read));
  TSR_TRY(tsr_selection_check_lists(&TSR_SELECTION_OF(&read)));
  *out = read;
  return NULL;
}

tsr_status tsr_load_create(const tsr_checkpoint *checkpoint, const tsr_plan *plan, tsr_comm *comm,
                           const tsr_load_options *options, tsr_load **out_load) {
  tsr_plan *bound = NULL;
  tsr_load *load = calloc(1, sizeof *load);
  if (!load) return tsr_load_agree(comm, "load", tsr_fail(NO_MEMORY, "a load"));
  load->checkpoint = tsr_checkpoint_retain(checkpoint);
  load->comm = tsr_comm_retain(comm);
  load->pool = tsr_comm_pool(comm);
  load->report = TSR_LOAD_REPORT;
  tsr_status status = read_options(options, &load->options);
  tsr_mapping_retain(load->options.map);
  status = tsr_load_compare(load, status ? status : decide(load, plan, &bound));
  tsr_plan_release(bound);
  if (status)
    tsr_load_destroy(load);
  else
    *out_load = load;
  return status;
}

void tsr_load_destroy(tsr_load *load) {
  if (!load) return;
  for (int64_t i = 0; i < load->count; i++) deinit_tensor(&load->tensors[i]);
  tsr_views_deinit(&load->views);
  tsr_mapping_release(load->options.map);
  tsr_checkpoint_release(load->checkpoint);
  tsr_comm_release(load->comm);
  free(load->tensors);
  free(load->order);
  free(load->rounds);
  free(load->touched);
  free(load);
}

const tsr_load_certificate *tsr_load_certificate_of(const tsr_load *load) {
  return &load->certificate;
}

const tsr_load_report *tsr_load_report_of(const tsr_load *load) { return &load->report; }
