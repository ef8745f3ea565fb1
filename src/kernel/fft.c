// Runs planned Fourier transforms: axis after axis, the lines of each in tasks.
#include "kernel/fft.h"

#include "base/arithmetic.h"
#include "kernel/fft_internal.h"

enum { TASK = 1 << 14, WORTH = 1 << 15 };  // complex numbers

static const tsr_fft_functions *functions_of(const tsr_fft *fft, const tsr_fft_axis *axis) {
  if (axis->method == TSR_FFT_ALONE) return fft->single ? &tsr_fft_f32_alone : &tsr_fft_f64_alone;
#ifdef TSR_FFT_AVX2
  if (__builtin_cpu_supports("avx2")) return fft->single ? &tsr_fft_f32_avx2 : &tsr_fft_f64_avx2;
#endif
  return fft->single ? &tsr_fft_f32 : &tsr_fft_f64;
}

// Part of an axis in tasks: `count` lines, columns, rows or numbers, `chunk` in each task.
typedef struct fft_part {
  const tsr_fft_axis *axis;
  const tsr_kernel_call *call;
  void (*run)(const tsr_fft_axis *axis, const char *in, char *out, int64_t first, int64_t count,
              char *scratch);
  void (*ends)(const tsr_fft_axis *axis, const char *in, char *out, int64_t first, int64_t count);
  const char *in;
  char *out;
  int64_t count, chunk;
} fft_part;

static tsr_status run_task(void *context, int64_t index, int worker) {
  const fft_part *part = context;
  const int64_t first = index * part->chunk;
  const int64_t count = tsr_least(part->chunk, part->count - first);
  if (part->ends)
    part->ends(part->axis, part->in, part->out, first, count);
  else
    part->run(part->axis, part->in, part->out, first, count,
              tsr_kernel_scratch(part->call, worker));
  return NULL;
}

// `length`: the numbers of one line, column or row; `lanes`: how many are computed together.
static tsr_status run_part(fft_part part, int64_t length, int64_t lanes) {
  if (length <= TSR_FFT_WIDE_MOST) lanes *= TSR_FFT_WIDE;
  part.chunk = (TASK / (length * lanes) + 1) * lanes;
  const int64_t tasks = (part.count + part.chunk - 1) / part.chunk;
  const bool worth = part.count * length > WORTH;
  return tsr_pool_run(worth ? part.call->pool : NULL, tasks, run_task, &part);
}

static tsr_status run_split_line(const tsr_fft *fft, const tsr_fft_axis *axis,
                                 const tsr_kernel_call *call, const char *in, char *out,
                                 char *temp) {
  const tsr_fft_functions *functions = functions_of(fft, axis);
  const int64_t height = axis->line.length, width = axis->rows.length;
  fft_part part = {.axis = axis, .call = call, .run = functions->columns, .in = in, .out = temp};
  part.count = width;
  TSR_TRY(run_part(part, height, functions->lanes));
  part.run = functions->rows;
  part.in = temp;
  part.out = out;
  part.count = height;
  return run_part(part, width, functions->lanes);
}

// One long line with its ends.
static tsr_status run_long_line(const tsr_fft *fft, const tsr_fft_axis *axis,
                                const tsr_kernel_call *call, const char *in, char *out,
                                char *temp) {
  const tsr_fft_functions *functions = functions_of(fft, axis);
  const int64_t length = axis->line.length * axis->rows.length;
  char *second = temp + length * (fft->single ? 8 : 16);
  fft_part part = {.axis = axis, .call = call, .count = length};
  if (axis->ends == TSR_FFT_PAIRS_TO_SPECTRUM) {
    TSR_TRY(run_split_line(fft, axis, call, in, second, temp));
    part.ends = functions->to_spectrum;
    part.in = second;
    part.out = out;
    part.count = length + 1;
    return run_part(part, 1, 1);
  }
  if (axis->ends == TSR_FFT_SPECTRUM_TO_PAIRS) {
    part.ends = functions->from_spectrum;
    part.in = in;
    part.out = second;
    TSR_TRY(run_part(part, 1, 1));
    in = second;
  }
  return run_split_line(fft, axis, call, in, out, temp);
}

static tsr_status run_axis(const tsr_fft *fft, const tsr_fft_axis *axis,
                           const tsr_kernel_call *call, const char *in, char *out, char *temp) {
  const tsr_fft_functions *functions = functions_of(fft, axis);
  const int64_t lines = axis->outer * axis->inner, bytes = fft->single ? 8 : 16;
  if (axis->method != TSR_FFT_SPLIT) {
    const fft_part part = {
        .axis = axis, .call = call, .run = functions->lines, .in = in, .out = out, .count = lines};
    return run_part(part, tsr_fft_line_room(&axis->line), functions->lanes);
  }
  for (int64_t i = 0; i < lines; i++) {
    const int64_t outer = i / axis->inner, inner = i % axis->inner * bytes;
    TSR_TRY(run_long_line(fft, axis, call, in + outer * axis->in_bytes + inner,
                          out + outer * axis->out_bytes + inner, temp));
  }
  return NULL;
}

tsr_status tsr_fft_run(const void *description, const tsr_kernel_call *call) {
  const tsr_fft *fft = description;
  if (fft->empty) return NULL;
  char *spectrum = call->temp, *temp = spectrum ? spectrum + fft->spectrum_bytes : NULL;
  const char *in = call->inputs[0];
  for (int i = 0; i < fft->axis_count; i++) {
    const bool last = i == fft->axis_count - 1;
    char *out = fft->spectrum_bytes && !last ? spectrum : call->outputs[0];
    TSR_TRY(run_axis(fft, &fft->axes[i], call, in, out, temp));
    in = out;
  }
  return NULL;
}
