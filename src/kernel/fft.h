// Fourier transforms over the last dims of a tensor, of f32, f64, c64 and c128, of any length.
#ifndef TESSERA_KERNEL_FFT_H
#define TESSERA_KERNEL_FFT_H

#include <stdbool.h>

#include "base/arena.h"
#include "tile/kernel_call.h"

typedef enum tsr_fft_kind { TSR_FFT, TSR_IFFT, TSR_RFFT, TSR_IRFFT } tsr_fft_kind;

enum { TSR_FFT_DIMS = 3 };

typedef struct tsr_fft tsr_fft;

// Plans a transform of `batches` x lengths, which are those of the numbers in time: real ones for
// RFFT and IRFFT, whose spectra have lengths[dims - 1] / 2 + 1 numbers in the last dim. All memory
// of the plan is from the arena.
TSR_MUST_USE tsr_status tsr_fft_plan(tsr_arena *arena, tsr_fft_kind kind, bool single,
                                     int64_t batches, int dims, const int64_t *lengths,
                                     tsr_fft **out_fft);
int64_t tsr_fft_scratch_bytes(const tsr_fft *fft);  // for each worker
int64_t tsr_fft_temp_bytes(const tsr_fft *fft);
int64_t tsr_fft_flops(const tsr_fft *fft);
tsr_status tsr_fft_run(const void *description, const tsr_kernel_call *call);  // a tsr_kernel_fn

#endif
