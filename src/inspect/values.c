// Elements of a slice as text, as NumPy prints arrays, and as JSON.
//
// The shown elements are gathered into one dense buffer, then printed. Elements that are left out
// are not read, so showing a tensor of any size costs little.
#include <math.h>
#include <stdlib.h>

#include "base/sized.h"
#include "base/text_internal.h"
#include "element/convert_internal.h"
#include "element/slice.h"
#include "inspect/inspect_internal.h"
#include "json/json.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/tree.h"

enum { MOST_SHOWN = 1000, EDGE = 3, WIDTH = 75 };
// Memory of a printed element besides its own bytes.
enum { TEXT_BYTES = 40 };

typedef struct values {
  const tsr_checkpoint *checkpoint;
  int64_t tensor;
  tsr_slice slice;
  tsr_dtype dtype;
  int bits;
  tsr_shape shown;          // of the tensor's rank
  bool gaps[TSR_MAX_RANK];  // the middle of a dimension is left out
  int inner;                // the first dimension after those with gaps
  int64_t elements;
  char *bytes;  // owned: what is shown
} values;

// ---- reading ----

static void decide(values *v, int64_t most, int edge) {
  const bool whole = tsr_slice_elements(&v->slice) <= most;
  v->shown.rank = v->slice.rank;
  v->elements = 1;
  v->inner = 0;
  for (int d = 0; d < v->slice.rank; d++) {
    const int64_t count = v->slice.dims[d].count;
    v->gaps[d] = !whole && count > 2 * (int64_t)edge;
    v->shown.dims[d] = v->gaps[d] ? 2 * (int64_t)edge : count;
    if (v->gaps[d]) v->inner = d + 1;
    if (__builtin_mul_overflow(v->elements, v->shown.dims[d], &v->elements)) {
      v->elements = INT64_MAX;
      return;
    }
  }
}

static tsr_status make_room(values *v, int64_t max_memory) {
  const int64_t most = max_memory > 0 ? max_memory : INT64_C(1) << 30;
  if (v->elements > most / (v->bits / 8 + TEXT_BYTES))
    return tsr_fail(DOES_NOT_FIT,
                    "tensor \"%s\": showing %lld elements takes more than %lld bytes of memory; "
                    "show fewer",
                    tsr_tree_at(tsr_checkpoint_tree(v->checkpoint), v->tensor)->path,
                    (long long)v->elements, (long long)most);
  v->bytes = calloc(1, (size_t)(v->elements * v->bits / 8 + 16));
  return v->bytes ? NULL : tsr_fail(NO_MEMORY, "%lld elements", (long long)v->elements);
}

// Where shown index `i` of a dimension lies in the slice.
static int64_t place_of(const values *v, int dim, int64_t i) {
  const int64_t left_out = v->slice.dims[dim].count - v->shown.dims[dim];
  return v->gaps[dim] && i >= v->shown.dims[dim] / 2 ? i + left_out : i;
}

static tsr_status read_piece(const values *v, const tsr_slice *slice, int64_t to) {
  const int64_t count = tsr_slice_elements(slice);
  if (v->bits % 8 == 0)
    return tsr_checkpoint_read_slice(v->checkpoint, v->tensor, slice, v->bytes + to * v->bits / 8,
                                     count * v->bits / 8);
  char *piece = calloc(1, (size_t)(count * v->bits / 8 + 1));
  if (!piece) return tsr_fail(NO_MEMORY, "%lld elements", (long long)count);
  tsr_status status =
      tsr_checkpoint_read_slice(v->checkpoint, v->tensor, slice, piece, count * v->bits / 8 + 1);
  if (!status) tsr_copy_run(&(tsr_copy){.to = to, .length = count}, v->bits, piece, v->bytes);
  free(piece);
  return status;
}

// Gathers the shown elements, one index of the dimensions before `inner` at a time.
static tsr_status gather(const values *v) {
  int64_t turns[TSR_MAX_RANK] = {0}, length = 1;
  tsr_slice piece = v->slice;
  for (int d = v->inner; d < v->shown.rank; d++) length *= v->shown.dims[d];
  for (int64_t to = 0; to < v->elements; to += length) {
    for (int d = 0; d < v->inner; d++) {
      const tsr_slice_dim *dim = &v->slice.dims[d];
      piece.dims[d] = (tsr_slice_dim){
          .start = dim->start + place_of(v, d, turns[d]) * dim->step, .step = 1, .count = 1};
    }
    TSR_TRY(read_piece(v, &piece, to));
    for (int d = v->inner - 1; d >= 0 && ++turns[d] == v->shown.dims[d]; d--) turns[d] = 0;
  }
  return NULL;
}

// Up to `most` elements are shown whole.
static tsr_status read_values(values *v, const tsr_checkpoint *checkpoint, int64_t tensor,
                              const tsr_slice *slice, const tsr_values_options *options,
                              int64_t most) {
  const tsr_tree *tree = tsr_checkpoint_tree(checkpoint);
  TSR_TRY(tsr_checkpoint_check_tensor(checkpoint, tensor));
  *v = (values){.checkpoint = checkpoint,
                .tensor = tensor,
                .slice = *slice,
                .dtype = tsr_tree_at(tree, tensor)->dtype};
  v->bits = tsr_dtype_info_of(v->dtype)->bits;
  decide(v, most, options->edge > 0 ? options->edge : EDGE);
  TSR_TRY(make_room(v, options->max_memory));
  tsr_status status = gather(v);
  if (status) free(v->bytes);
  return status;
}

// ---- as text ----

typedef struct printing {
  const values *v;
  int dims[TSR_MAX_RANK];  // those that the result has
  int rank;
  tsr_text words;  // of all elements, one after the other
  int64_t *ends;   // owned: where in `words` each one ends
  int word_width, width;
  int column;  // in the current line
  tsr_text *out;
} printing;

static tsr_status make_words(printing *p) {
  p->ends = calloc((size_t)p->v->elements + 1, sizeof *p->ends);
  if (!p->ends) return tsr_fail(NO_MEMORY, "%lld words", (long long)p->v->elements);
  for (int64_t i = 0; i < p->v->elements; i++) {
    const size_t start = p->words.length;
    tsr_element_print(p->v->dtype, p->v->bytes, i, &p->words);
    p->ends[i] = (int64_t)p->words.length;
    const int length = (int)(p->words.length - start);
    if (length > p->word_width) p->word_width = length;
  }
  return tsr_text_check(&p->words);
}

static void add_blanks(tsr_text *out, int64_t count) {
  for (int64_t i = 0; i < count; i++) tsr_text_add_char(out, ' ');
}

// Adds a right-aligned word, on a new line if it does not fit.
static void add_word(printing *p, const char *word, int64_t length, int width, bool first) {
  const int needed = width > (int)length ? width : (int)length;
  if (!first && p->column + 1 + needed + p->rank > p->width) {
    tsr_text_add_char(p->out, '\n');
    add_blanks(p->out, p->rank);
    p->column = p->rank;
  } else if (!first) {
    tsr_text_add_char(p->out, ' ');
    p->column++;
  }
  add_blanks(p->out, width - length);
  tsr_text_add_bytes(p->out, word, (size_t)length);
  p->column += needed;
}

static void add_element(printing *p, int64_t element, bool first) {
  const int64_t start = element ? p->ends[element - 1] : 0;
  add_word(p, tsr_text_string(&p->words) + start, p->ends[element] - start, p->word_width, first);
}

static void add_row(printing *p, int dim, int64_t first) {
  const int64_t count = p->v->shown.dims[dim];
  p->column = p->rank;
  for (int64_t i = 0; i < count; i++) {
    if (p->v->gaps[dim] && i == count / 2) add_word(p, "...", 3, 0, false);
    add_element(p, first + i, i == 0);
  }
}

// Starts the next row of dimension `level` of the result.
static void start_line(printing *p, int level) {
  for (int i = level + 1; i < p->rank; i++) tsr_text_add_char(p->out, '\n');
  add_blanks(p->out, level + 1);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the tensor has dimensions
static void add_level(printing *p, int level, int64_t first, int64_t elements) {
  const int dim = p->dims[level];
  const int64_t count = p->v->shown.dims[dim];
  tsr_text_add_char(p->out, '[');
  if (level == p->rank - 1) {
    add_row(p, dim, first);
  } else {
    for (int64_t i = 0; i < count; i++) {
      if (p->v->gaps[dim] && i == count / 2) {
        start_line(p, level);
        tsr_text_add(p->out, "...");
      }
      if (i) start_line(p, level);
      add_level(p, level + 1, first + i * (elements / count), elements / count);
    }
  }
  tsr_text_add_char(p->out, ']');
}

static tsr_status print(printing *p) {
  for (int d = 0; d < p->v->slice.rank; d++)
    if (!p->v->slice.dims[d].single) p->dims[p->rank++] = d;
  TSR_TRY(make_words(p));
  if (p->v->elements == 0)
    tsr_text_add(p->out, "[]");
  else if (p->rank == 0)
    tsr_text_add(p->out, tsr_text_string(&p->words));
  else
    add_level(p, 0, 0, p->v->elements);
  tsr_text_add_char(p->out, '\n');
  return NULL;
}

tsr_status tsr_checkpoint_print_values(const tsr_checkpoint *checkpoint, int64_t tensor,
                                       const tsr_slice *slice, const tsr_values_options *options,
                                       tsr_text *out) {
  values v;
  tsr_values_options read;
  TSR_TRY(tsr_sized_read(tsr_values_options, options, &read));
  TSR_TRY(
      read_values(&v, checkpoint, tensor, slice, &read, read.most > 0 ? read.most : MOST_SHOWN));
  printing p = {
      .v = &v, .words = TSR_TEXT_EMPTY, .width = read.width > 0 ? read.width : WIDTH, .out = out};
  tsr_status status = print(&p);
  tsr_text_deinit(&p.words);
  free(p.ends);
  free(v.bytes);
  return status;
}

// ---- as data ----

static void write_real(tsr_dtype dtype, const void *elements, int64_t index, tsr_json_writer *w) {
  double value = 0;
  char element[16] = {0};
  tsr_copy_run(&(tsr_copy){.from = index, .length = 1}, tsr_dtype_info_of(dtype)->bits, elements,
               element);
  tsr_status_free(tsr_convert(dtype, element, TSR_F64, &value, 1));
  if (isfinite(value))
    tsr_json_write_double(w, value);
  else
    tsr_json_write_string(w, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

static void write_element(const values *v, int64_t index, tsr_json_writer *w) {
  const tsr_dtype_class kind = tsr_dtype_info_of(v->dtype)->kind;
  char element[16] = {0};
  int64_t number = 0;
  uint64_t natural = 0;
  tsr_copy_run(&(tsr_copy){.from = index, .length = 1}, v->bits, v->bytes, element);
  if (kind == TSR_CLASS_BOOL) {
    tsr_json_write_bool(w, element[0] != 0);
  } else if (kind == TSR_CLASS_SIGNED) {
    tsr_status_free(tsr_convert(v->dtype, element, TSR_I64, &number, 1));
    tsr_json_write_int(w, number);
  } else if (kind == TSR_CLASS_UNSIGNED) {
    tsr_status_free(tsr_convert(v->dtype, element, TSR_U64, &natural, 1));
    tsr_json_write_uint(w, natural);
  } else if (kind == TSR_CLASS_FLOAT) {
    write_real(v->dtype, element, 0, w);
  } else {
    tsr_json_begin_inline_array(w);
    for (int component = 0; component < 2; component++)
      write_real(v->dtype == TSR_C64 ? TSR_F32 : TSR_F64, element, component, w);
    tsr_json_end_array(w);
  }
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the tensor has dimensions
static void write_level(const values *v, int dim, int64_t first, int64_t elements,
                        tsr_json_writer *w) {
  if (dim == v->slice.rank) {
    write_element(v, first, w);
    return;
  }
  const int64_t count = v->shown.dims[dim];
  const bool listed = !v->slice.dims[dim].single;
  if (listed) tsr_json_begin_inline_array(w);
  for (int64_t i = 0; i < count; i++)
    write_level(v, dim + 1, first + i * (elements / count), elements / count, w);
  if (listed) tsr_json_end_array(w);
}

tsr_status tsr_checkpoint_write_values(const tsr_checkpoint *checkpoint, int64_t tensor,
                                       const tsr_slice *slice, const tsr_values_options *options,
                                       tsr_json_writer *writer) {
  values v;
  tsr_values_options read;
  TSR_TRY(tsr_sized_read(tsr_values_options, options, &read));
  TSR_TRY(read_values(&v, checkpoint, tensor, slice, &read, INT64_MAX));
  if (v.elements) {
    write_level(&v, 0, 0, v.elements, writer);
  } else {
    tsr_json_begin_inline_array(writer);
    tsr_json_end_array(writer);
  }
  free(v.bytes);
  return NULL;
}
