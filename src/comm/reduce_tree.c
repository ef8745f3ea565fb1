// The reduction tree, block by block: a block of all members passes through the first cache once.
//
// The value of a node is computed recursively. A single term that needs no conversion is read in
// place; 2, 4 or 8 adjacent members are reduced by one kernel; anything else is split in two. Every
// level of the recursion has one scratch block on the stack.
#include <assert.h>

#include "comm/reduce_kernels.h"
#include "element/convert_elements.h"
#include "element/reduction.h"
#include "tessera/dtype.h"
#include "tessera/engine/reduce.h"

enum { BLOCK_BYTES = 4096 };

// One block of accumulators.
typedef union scratch {
  double align;
  unsigned char bytes[BLOCK_BYTES];
} scratch;

typedef struct reduce_walk {
  tsr_dtype dtype, wide;                        // of members and of accumulators
  const tsr_reduce_kernels *kernels, *bundles;  // of accumulators and of members
  // Either terms, or plain members.
  const tsr_reduce_term *terms;
  const void *const *in;
  int64_t from;
  // The current block: elements [at, at + count) of the result.
  int64_t at, count;
} reduce_walk;

// Terms [begin, end), which make up node [first, last).
typedef struct term_range {
  int64_t begin, end, first, last;
} term_range;

tsr_dtype tsr_reduce_partial_dtype(tsr_dtype dtype) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (!info) return TSR_DTYPE_NONE;
  if (info->kind == TSR_CLASS_FLOAT) return info->bits < 32 ? TSR_F32 : dtype;
  if (info->bits >= 8) return dtype;
  return info->kind == TSR_CLASS_SIGNED ? TSR_I8 : TSR_U8;
}

static const tsr_reduce_kernels *kernels_of(tsr_dtype dtype, tsr_reduction op) {
#ifdef TSR_REDUCE_AVX2
  if (__builtin_cpu_supports("avx2")) return &tsr_reduce_avx2[dtype][op];
#endif
  return &tsr_reduce_plain[dtype][op];
}

static int64_t bytes_of(tsr_dtype dtype) { return tsr_dtype_info_of(dtype)->bits / 8; }

// ---- the tree ----

// The split of a node of several members: after the largest power of two below its size.
static int64_t middle_of(int64_t first, int64_t last) {
  int64_t half = 1;
  while (half < last - first - half) half *= 2;
  return first + half;
}

int64_t tsr_reduce_nodes(int64_t members, int64_t first, int64_t last,
                         tsr_reduce_node out_nodes[TSR_REDUCE_MAX_NODES]) {
  int count = 0;
  while (first < last) {
    // The largest node that starts here and ends by `last`.
    int64_t size = 1;
    while (first % (2 * size) == 0 && first + size < last &&
           (first + 2 * size <= last || last == members))
      size *= 2;
    const int64_t end = first + size < last ? first + size : last;
    out_nodes[count++] = (tsr_reduce_node){first, end};
    first = end;
  }
  return count;
}

// ---- values of terms ----

static tsr_reduce_term term_at(const reduce_walk *w, int64_t index) {
  if (w->terms) return w->terms[index];
  return (tsr_reduce_term){{index, index + 1}, false, w->in[index], w->from};
}

// The block of a term as accumulators: in place, or converted into `room`.
static const void *value_of(const reduce_walk *w, int64_t index, scratch *room) {
  const tsr_reduce_term term = term_at(w, index);
  if (term.partial || w->dtype == w->wide)
    return (const char *)term.data + (term.from + w->at) * bytes_of(w->wide);
  tsr_convert_run(w->dtype, term.data, term.from + w->at, w->wide, room, 0, w->count);
  return room;
}

// ---- values of nodes ----

static int64_t first_from(const reduce_walk *w, term_range r, int64_t member) {
  int64_t low = r.begin, high = r.end;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (term_at(w, middle).node.first < member)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Whether the terms are 2, 4 or 8 single members that can be read in place.
static bool is_bundle(const reduce_walk *w, term_range r) {
  const int64_t size = r.end - r.begin;
  if (!w->bundles->of_2 || size != r.last - r.first) return false;
  if (size != 2 && size != 4 && size != 8) return false;
  for (int64_t i = r.begin; i < r.end && w->dtype != w->wide; i++)
    if (term_at(w, i).partial) return false;
  return true;
}

static void reduce_bundle(const reduce_walk *w, term_range r, void *out) {
  const void *in[8];
  const int size = (int)(r.end - r.begin);
  for (int i = 0; i < size; i++) {
    const tsr_reduce_term term = term_at(w, r.begin + i);
    in[i] = (const char *)term.data + (term.from + w->at) * bytes_of(w->dtype);
  }
  tsr_reduce_kernel *kernel = size == 8   ? w->bundles->of_8
                              : size == 4 ? w->bundles->of_4
                                          : w->bundles->of_2;
  kernel(out, in, w->count);
}

static const void *reduce_node(const reduce_walk *w, term_range r, scratch *room);

// Reduces a node of several terms to `out`, which may be an input: it is written last.
static void reduce_into(const reduce_walk *w, term_range r, scratch *room, void *out) {
  if (is_bundle(w, r)) {
    reduce_bundle(w, r, out);
    return;
  }
  const int64_t middle = middle_of(r.first, r.last), cut = first_from(w, r, middle);
  assert(r.begin < cut && cut < r.end && term_at(w, cut).node.first == middle);
  scratch other;
  const void *in[2];
  in[0] = reduce_node(w, (term_range){r.begin, cut, r.first, middle}, room);
  in[1] = reduce_node(w, (term_range){cut, r.end, middle, r.last}, &other);
  w->kernels->of_2(out, in, w->count);
}

// The value of a node, in `room` or in place.
static const void *reduce_node(const reduce_walk *w, term_range r, scratch *room) {
  if (r.end - r.begin == 1) return value_of(w, r.begin, room);
  reduce_into(w, r, room, room);
  return room;
}

// One block of the whole tree, as elements of type `result`.
static void reduce_block(const reduce_walk *w, term_range whole, tsr_dtype result, void *out,
                         int64_t to) {
  scratch room;
  if (result == w->wide && whole.end - whole.begin > 1) {
    reduce_into(w, whole, &room, (char *)out + to * bytes_of(result));
    return;
  }
  const void *value = reduce_node(w, whole, &room);
  if (value == (char *)out + to * bytes_of(result)) return;  // one member, in place
  tsr_convert_run(w->wide, value, 0, result, out, to, w->count);
}

static void reduce_all(reduce_walk *w, term_range whole, int64_t count, tsr_dtype result, void *out,
                       int64_t to) {
  const int64_t block = BLOCK_BYTES / bytes_of(w->wide);
  for (w->at = 0; w->at < count; w->at += block) {
    w->count = count - w->at < block ? count - w->at : block;
    reduce_block(w, whole, result, out, to + w->at);
  }
}

static reduce_walk start(const tsr_reducer *reducer) {
  const tsr_dtype wide = tsr_reduce_partial_dtype(reducer->dtype);
  assert(tsr_reduction_allows(reducer->op, reducer->dtype));
  return (reduce_walk){.dtype = reducer->dtype,
                       .wide = wide,
                       .kernels = kernels_of(wide, reducer->op),
                       .bundles = kernels_of(reducer->dtype, reducer->op)};
}

void tsr_reduce(const tsr_reducer *reducer, const void *const *in, int64_t from, int64_t count,
                void *out, int64_t to) {
  reduce_walk w = start(reducer);
  w.in = in;
  w.from = from;
  const term_range whole = {0, reducer->members, 0, reducer->members};
  reduce_all(&w, whole, count, reducer->dtype, out, to);
}

void tsr_reduce_terms(const tsr_reducer *reducer, const tsr_reduce_term *terms, int64_t term_count,
                      int64_t count, bool partial, void *out, int64_t to) {
  reduce_walk w = start(reducer);
  w.terms = terms;
  const term_range whole = {0, term_count, terms[0].node.first, terms[term_count - 1].node.last};
  reduce_all(&w, whole, count, partial ? w.wide : reducer->dtype, out, to);
}
