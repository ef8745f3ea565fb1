// Copies of boxes, by the length of their runs.
//
// Long runs use memcpy or, past the caches, streamed stores. Runs of 1, 2, 4, 8 or 16 bytes are
// elements: typed loops, or a transpose if one loop is contiguous in the source and another in the
// target. The rest are short runs of odd length. A run that is read again and again (a broadcast)
// and elements read backwards have loops of their own.
//
// A transpose by single elements uses only a few bytes of every cache line. So it goes by tiles of
// whole cache lines on both sides, transposed in a small buffer by squares that fit 16-byte
// registers. Every line is read and written once.
#include "element/copy_kernels.h"

#include <string.h>

#include "base/arithmetic.h"
#include "element/copy_internal.h"
#include "element/copy_square.h"
#include "tessera/engine/kernels.h"
#include "tessera/shape.h"

#if defined __SSE2__
#include <emmintrin.h>
#endif

enum { LINE = 64 };  // bytes of a cache line

// ---- one run ----

#if defined __SSE2__
// One line, to an aligned address.
static inline void stream_line(char *restrict to, const char *restrict from) {
  const __m128i a = _mm_loadu_si128((const __m128i *)(const void *)from);
  const __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(from + 16));
  const __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(from + 32));
  const __m128i d = _mm_loadu_si128((const __m128i *)(const void *)(from + 48));
  _mm_stream_si128((__m128i *)(void *)to, a);
  _mm_stream_si128((__m128i *)(void *)(to + 16), b);
  _mm_stream_si128((__m128i *)(void *)(to + 32), c);
  _mm_stream_si128((__m128i *)(void *)(to + 48), d);
}
void tsr_copy_fence(void) { _mm_sfence(); }
#else
static inline void stream_line(char *restrict to, const char *restrict from) {
  memcpy(to, from, LINE);
}
void tsr_copy_fence(void) {}
#endif

// Whole lines by streamed stores, the ends by memcpy.
static void stream_run(char *restrict to, const char *restrict from, int64_t count) {
  const int64_t head = tsr_least(-(intptr_t)to & (LINE - 1), count);
  memcpy(to, from, (size_t)head);
  to += head, from += head, count -= head;
  for (; count >= LINE; to += LINE, from += LINE, count -= LINE) stream_line(to, from);
  memcpy(to, from, (size_t)count);
}

// Fewer than 64 bytes: two moves that may overlap in the middle.
#define MOVE_ENDS(size)                        \
  do {                                         \
    char first[size], last[size];              \
    memcpy(first, from, size);                 \
    memcpy(last, from + count - (size), size); \
    memcpy(to, first, size);                   \
    memcpy(to + count - (size), last, size);   \
  } while (0)
static void short_run(char *restrict to, const char *restrict from, int64_t count) {
  if (count >= 32)
    MOVE_ENDS(32);
  else if (count >= 16)
    MOVE_ENDS(16);
  else if (count >= 8)
    MOVE_ENDS(8);
  else if (count >= 4)
    MOVE_ENDS(4);
  else
    for (int64_t i = 0; i < count; i++) to[i] = from[i];
}

// ---- one loop ----

static void stream_runs(const tsr_byte_box *box, const char *from, char *to) {
  const tsr_copy_loop *loop = &box->loops[box->loop_count - 1];
  for (int64_t i = 0; i < loop->count; i++, from += loop->from, to += loop->to)
    stream_run(to, from, box->run);
}

static void long_runs(const tsr_byte_box *box, const char *from, char *to) {
  const tsr_copy_loop *loop = &box->loops[box->loop_count - 1];
  for (int64_t i = 0; i < loop->count; i++, from += loop->from, to += loop->to)
    memcpy(to, from, (size_t)box->run);
}

static void short_runs(const tsr_byte_box *box, const char *from, char *to) {
  const tsr_copy_loop *loop = &box->loops[box->loop_count - 1];
  for (int64_t i = 0; i < loop->count; i++, from += loop->from, to += loop->to)
    short_run(to, from, box->run);
}

#define STRIDED(width)                                                                         \
  static void strided_##width(const tsr_byte_box *box, const char *restrict from,              \
                              char *restrict to) {                                             \
    const tsr_copy_loop *loop = &box->loops[box->loop_count - 1];                              \
    const int64_t count = loop->count, from_step = loop->from, to_step = loop->to;             \
    for (int64_t i = 0; i < count; i++) memcpy(to + i * to_step, from + i * from_step, width); \
  }
STRIDED(1)
STRIDED(2)
STRIDED(4)
STRIDED(8)
STRIDED(16)

// One short run read again and again and written side by side: a buffer is filled with it once.
static void repeat_run(const tsr_byte_box *box, const char *from, char *to) {
  enum { BUFFER = 4096 };
  _Alignas(LINE) char buffer[BUFFER];
  const int64_t run = box->run, total = run * box->loops[box->loop_count - 1].count;
  int64_t whole = BUFFER / run * run;
  if (whole > total) whole = total;
  memcpy(buffer, from, (size_t)run);
  for (int64_t done = run; done < whole;) {
    const int64_t next = done < whole - done ? done : whole - done;
    memcpy(buffer + done, buffer, (size_t)next);
    done += next;
  }
  for (int64_t done = 0; done < total; done += whole) {
    const int64_t count = total - done < whole ? total - done : whole;
    if (box->stores == TSR_STORES_STREAMED)
      stream_run(to + done, buffer, count);
    else
      memcpy(to + done, buffer, (size_t)count);
  }
}

// ---- two loops: transposes ----

// Squares of N x N elements that fill N registers of 16 bytes: row i goes in, column i comes out.
// Each round interleaves the first half of the rows with the second; log2 N rounds transpose.
typedef uint8_t v1 __attribute__((vector_size(16)));
typedef uint16_t v2 __attribute__((vector_size(16)));
typedef uint32_t v4 __attribute__((vector_size(16)));
typedef uint64_t v8 __attribute__((vector_size(16)));

#define LOW_1(a, b) \
  __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH_1(a, b) \
  __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define LOW_2(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_2(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW_4(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH_4(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define LOW_8(a, b) __builtin_shufflevector(a, b, 0, 2)
#define HIGH_8(a, b) __builtin_shufflevector(a, b, 1, 3)

#define SQUARE(width)                                                              \
  static inline void square_##width(const char *from, int64_t from_step, char *to, \
                                    int64_t to_step) {                             \
    enum { N = 16 / (width) };                                                     \
    v##width rows[N], mixed[N];                                                    \
    for (int i = 0; i < N; i++) memcpy(&rows[i], from + i * from_step, 16);        \
    for (int round = 1; round < N; round *= 2) {                                   \
      for (int i = 0; i < N / 2; i++) {                                            \
        mixed[2 * i] = LOW_##width(rows[i], rows[i + N / 2]);                      \
        mixed[2 * i + 1] = HIGH_##width(rows[i], rows[i + N / 2]);                 \
      }                                                                            \
      for (int i = 0; i < N; i++) rows[i] = mixed[i];                              \
    }                                                                              \
    for (int i = 0; i < N; i++) memcpy(to + i * to_step, &rows[i], 16);            \
  }
SQUARE(1)
SQUARE(2)
SQUARE(4)
SQUARE(8)

// Elements read backwards and written forwards, by vectors.
#define TURN_1(a) \
  __builtin_shufflevector(a, a, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define TURN_2(a) __builtin_shufflevector(a, a, 7, 6, 5, 4, 3, 2, 1, 0)
#define TURN_4(a) __builtin_shufflevector(a, a, 3, 2, 1, 0)
#define TURN_8(a) __builtin_shufflevector(a, a, 1, 0)
#define BACKWARDS(width)                                                            \
  static void backwards_##width(const tsr_byte_box *box, const char *restrict from, \
                                char *restrict to) {                                \
    enum { N = 16 / (width) };                                                      \
    const int64_t count = box->loops[box->loop_count - 1].count;                    \
    int64_t i = 0;                                                                  \
    for (; i + N <= count; i += N) {                                                \
      v##width a;                                                                   \
      memcpy(&a, from - (i + N - 1) * (width), 16);                                 \
      a = TURN_##width(a);                                                          \
      memcpy(to + i * (width), &a, 16);                                             \
    }                                                                               \
    for (; i < count; i++) memcpy(to + i * (width), from - i * (width), width);     \
  }
BACKWARDS(1)
BACKWARDS(2)
BACKWARDS(4)
BACKWARDS(8)

// Two loops are transposed if one is contiguous in the target (`line`) and the next one in the
// source. A transposed tile: its row i goes to line i of the target.
typedef struct transpose_tile {
  _Alignas(LINE) char rows[LINE][LINE];
} transpose_tile;

// Writes whole lines at once, streamed if requested.
static void put_tile(const transpose_tile *t, char *to, int64_t to_step, int64_t rows,
                     int64_t bytes, tsr_copy_stores stores) {
  if (bytes == LINE && stores == TSR_STORES_STREAMED && (intptr_t)to % LINE == 0 &&
      to_step % LINE == 0) {
    for (int64_t i = 0; i < rows; i++) stream_line(to + i * to_step, t->rows[i]);
  } else if (bytes == LINE) {
    for (int64_t i = 0; i < rows; i++) memcpy(to + i * to_step, t->rows[i], LINE);
  } else {
    for (int64_t i = 0; i < rows; i++) short_run(to + i * to_step, t->rows[i], bytes);
  }
}

// The tile of the next lines is read after a row of tiles: too late for the processor to guess.
static inline void prefetch_lines(const char *from, int64_t step, int64_t count) {
  for (int64_t i = 0; i < count; i++) __builtin_prefetch(from + i * step);
}

// A whole tile by wider registers, where the processor has them.
static inline bool turn_wide(int width, const char *from, int64_t from_step, int64_t lines,
                             int64_t across, transpose_tile *out) {
#if defined TSR_COPY_AVX2
  if (width == 4 && lines == 16 && across == 16 && __builtin_cpu_supports("avx2")) {
    tsr_turn_4_avx2(from, from_step, out->rows[0], LINE);
    return true;
  }
#endif
  (void)width, (void)from, (void)from_step, (void)lines, (void)across, (void)out;
  return false;
}

// A tile: squares, then the rest of lines and of whole lines. Tiles go along a block of the source,
// then to the next lines: pages of the target stay known.
#define TRANSPOSE(width)                                                                          \
  static void turn_##width(const char *from, int64_t from_step, int64_t lines, int64_t across,    \
                           transpose_tile *out) {                                                 \
    enum { N = 16 / (width) };                                                                    \
    if (turn_wide(width, from, from_step, lines, across, out)) return;                            \
    const int64_t whole = lines / N * N, squares = across / N * N;                                \
    for (int64_t j = 0; j < whole; j += N)                                                        \
      for (int64_t i = 0; i < squares; i += N)                                                    \
        square_##width(from + j * from_step + i * (width), from_step, &out->rows[i][j * (width)], \
                       LINE);                                                                     \
    for (int64_t j = 0; j < lines; j++)                                                           \
      for (int64_t i = j < whole ? squares : 0; i < across; i++)                                  \
        memcpy(&out->rows[i][j * (width)], from + j * from_step + i * (width), width);            \
  }                                                                                               \
  static void transpose_##width(const tsr_byte_box *box, const char *from, char *to) {            \
    const tsr_copy_loop *line = &box->loops[box->loop_count - 2], *next = line + 1;               \
    enum { SIDE = LINE / (width), BLOCK = 256 };                                                  \
    transpose_tile t;                                                                             \
    for (int64_t block = 0; block < next->count; block += BLOCK) {                                \
      const int64_t end = tsr_least(block + BLOCK, next->count);                                  \
      for (int64_t j = 0; j < line->count; j += SIDE) {                                           \
        const int64_t lines = tsr_least(line->count - j, SIDE);                                   \
        for (int64_t i = block; i < end; i += SIDE) {                                             \
          const int64_t across = tsr_least(end - i, SIDE);                                        \
          const char *tile = from + j * line->from + i * (width);                                 \
          prefetch_lines(tile + SIDE * line->from, line->from,                                    \
                         tsr_least(line->count - j - SIDE, SIDE));                                \
          turn_##width(tile, line->from, lines, across, &t);                                      \
          put_tile(&t, to + i * next->to + j * (width), next->to, across, lines * (width),        \
                   box->stores);                                                                  \
        }                                                                                         \
      }                                                                                           \
    }                                                                                             \
  }
TRANSPOSE(1)
TRANSPOSE(2)
TRANSPOSE(4)
TRANSPOSE(8)

// ---- which loops, and in which order ----

typedef void kernel(const tsr_byte_box *box, const char *from, char *to);

static void move_loop(tsr_byte_box *box, int from, int to) {
  const tsr_copy_loop loop = box->loops[from];
  for (int i = from; i < to; i++) box->loops[i] = box->loops[i + 1];
  for (int i = from; i > to; i--) box->loops[i] = box->loops[i - 1];
  box->loops[to] = loop;
}

static int64_t size_of(int64_t step) { return step < 0 ? -step : step; }

// Moves loops with small target strides innermost, so that short runs are written in order.
static void sort_loops(tsr_byte_box *box) {
  for (int i = 1; i < box->loop_count; i++) {
    int place = i;
    while (place > 0 && size_of(box->loops[place - 1].to) < size_of(box->loops[i].to)) place--;
    move_loop(box, i, place);
  }
}

// Whether one loop is contiguous in the target and another in the source; moves these innermost.
static bool find_transpose(tsr_byte_box *box) {
  int line = -1, across = -1;
  for (int i = 0; i < box->loop_count; i++) {
    const int64_t from = box->loops[i].from;
    if (box->loops[i].to == box->run && from != box->run && from != 0 && from != -box->run)
      line = i;
    if (box->loops[i].from == box->run && box->loops[i].to != box->run) across = i;
  }
  if (line < 0 || across < 0) return false;
  move_loop(box, line, box->loop_count - 1);
  move_loop(box, across - (line < across), box->loop_count - 1);
  return true;
}

// Kernels by the width of an element. A transpose has two loops, the others one.
typedef struct element_kernels {
  int64_t width;
  kernel *strided, *transpose, *backwards;
} element_kernels;
static const element_kernels kernels_of[] = {
    {1, strided_1, transpose_1, backwards_1}, {2, strided_2, transpose_2, backwards_2},
    {4, strided_4, transpose_4, backwards_4}, {8, strided_8, transpose_8, backwards_8},
    {16, strided_16, NULL, strided_16},
};

// The kernel of runs shorter than a line, and how many of the innermost loops it handles.
static kernel *short_kernel(tsr_byte_box *box, int *out_loops) {
  const tsr_copy_loop *inner = &box->loops[box->loop_count - 1];
  enum { MANY = 8 };  // what pays for the buffer
  if (inner->from == 0 && inner->to == box->run && inner->count >= MANY) return repeat_run;
  for (size_t i = 0; i < sizeof kernels_of / sizeof *kernels_of; i++) {
    const element_kernels *k = &kernels_of[i];
    if (k->width != box->run) continue;
    if (inner->from == -box->run && inner->to == box->run) return k->backwards;
    if (!k->transpose || !find_transpose(box)) return k->strided;
    *out_loops = 2;
    return k->transpose;
  }
  return short_runs;
}

// Whether runs have whole lines of the target to stream.
static bool has_lines(const tsr_byte_box *box) {
  if (box->run >= 2 * LINE) return true;
  if (box->run < LINE || (intptr_t)box->target % LINE) return false;
  for (int i = 0; i < box->loop_count; i++) {
    if (box->loops[i].to % LINE) return false;
  }
  return true;
}

// The kernel for a box, and how many of the innermost loops it handles.
static kernel *choose(tsr_byte_box *box, int *out_loops) {
  *out_loops = 1;
  if (!box->loop_count) box->loops[box->loop_count++] = (tsr_copy_loop){1, 0, 0};
  if (box->stores == TSR_STORES_STREAMED && has_lines(box)) return stream_runs;
  if (box->run >= LINE) return long_runs;
  sort_loops(box);
  return short_kernel(box, out_loops);
}

void tsr_copy_bytes(tsr_byte_box *box) {
  int inner;
  kernel *copy = choose(box, &inner);
  const int outer = box->loop_count - inner;
  int64_t turns[TSR_MAX_RANK] = {0};
  const char *from = box->source;
  char *to = box->target;
  for (;;) {
    copy(box, from, to);
    int i = outer - 1;
    for (; i >= 0; i--) {
      const tsr_copy_loop *loop = &box->loops[i];
      from += loop->from, to += loop->to;
      if (++turns[i] < loop->count) break;
      from -= loop->from * loop->count, to -= loop->to * loop->count;
      turns[i] = 0;
    }
    if (i < 0) return;
  }
}

// ---- bits ----

// Up to 8 bits from a bit offset; reads a second byte only if needed.
static unsigned bits_at(const unsigned char *bytes, int64_t at, int64_t count) {
  const int shift = (int)(at % 8);
  unsigned value = (unsigned)bytes[at / 8] >> shift;
  if (shift + count > 8) value |= (unsigned)bytes[at / 8 + 1] << (8 - shift);
  return value;
}

// Up to 8 bits, within one byte of the target.
static void put_bits(unsigned char *bytes, int64_t at, int64_t count, unsigned value) {
  const int shift = (int)(at % 8);
  const unsigned mask = ((1U << count) - 1) << shift;
  unsigned char *byte = bytes + at / 8;
  *byte = (unsigned char)((*byte & ~mask) | (value << shift & mask));
}

// Eight bytes from a bit offset; the ninth byte exists, since the last bits are in it.
static uint64_t word_at(const unsigned char *bytes, int64_t at) {
  uint64_t word = 0;
  const int shift = (int)(at % 8);
  bytes += at / 8;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(&word, bytes, sizeof word);
#else
  for (int i = 0; i < 8; i++) word |= (uint64_t)bytes[i] << (8 * i);
#endif
  return shift ? word >> shift | (uint64_t)bytes[8] << (64 - shift) : word;
}

static void put_word(unsigned char *bytes, uint64_t word) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(bytes, &word, sizeof word);
#else
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(word >> (8 * i));
#endif
}

void tsr_copy_bits(const void *source, int64_t from, void *target, int64_t to, int64_t count) {
  const unsigned char *in = source;
  unsigned char *out = target;
  if (to % 8 && count) {  // up to the next byte of the target
    const int64_t head = count < 8 - to % 8 ? count : 8 - to % 8;
    put_bits(out, to, head, bits_at(in, from, head));
    from += head, to += head, count -= head;
  }
  if (from % 8 == 0) {
    memcpy(out + to / 8, in + from / 8, (size_t)(count / 8));
    from += count / 8 * 8, to += count / 8 * 8, count %= 8;
  }
  for (; count >= 64; from += 64, to += 64, count -= 64) put_word(out + to / 8, word_at(in, from));
  for (; count >= 8; from += 8, to += 8, count -= 8)
    out[to / 8] = (unsigned char)bits_at(in, from, 8);
  if (count) put_bits(out, to, count, bits_at(in, from, count));
}
