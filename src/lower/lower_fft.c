// stablehlo.fft.
#include "kernel/fft.h"
#include "lower/lowering.h"

static const tsr_fft_kind kinds[] = {
    [TSR_FFT_TYPE_FFT] = TSR_FFT,
    [TSR_FFT_TYPE_IFFT] = TSR_IFFT,
    [TSR_FFT_TYPE_RFFT] = TSR_RFFT,
    [TSR_FFT_TYPE_IRFFT] = TSR_IRFFT,
};

tsr_status tsr_lower_fft(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *in = tsr_operand_type(op, 0), *out = tsr_op_result(op, 0)->type;
  const tsr_attr *lengths = tsr_op_attr(op, "fft_length");
  const int dims = (int)tsr_attr_int_count(lengths);
  const tsr_fft_kind kind = kinds[tsr_op_int(op, "fft_type", TSR_FFT_TYPE_FFT)];
  const tsr_type *spectrum = kind == TSR_RFFT ? out : in;
  if (!tsr_type_runs(in) || !tsr_type_runs(out) || dims < 1 || dims > TSR_FFT_DIMS ||
      (spectrum->dtype != TSR_C64 && spectrum->dtype != TSR_C128))
    return tsr_fail(UNSUPPORTED, "%s: its operand must be complex, f32 or f64, of 1 to %d lengths",
                    tsr_op_title(lowering, op), TSR_FFT_DIMS);
  int64_t batches = 1, sizes[TSR_FFT_DIMS] = {0};
  for (int i = 0; i < in->rank - dims; i++) batches *= in->dims[i];
  for (int i = 0; i < dims; i++) sizes[i] = tsr_attr_int_at(lengths, i);
  tsr_fft *fft = NULL;
  TSR_TRY_NOTE(tsr_fft_plan(&lowering->schedule->arena, kind, spectrum->dtype == TSR_C64, batches,
                            dims, sizes, &fft),
               "%s", tsr_op_title(lowering, op));
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_kernel(lowering, op, tsr_fft_run, NULL, 0, &step));
  step->description = fft;
  step->scratch_bytes = tsr_fft_scratch_bytes(fft);
  step->temp_bytes = tsr_fft_temp_bytes(fft);
  step->flops = tsr_fft_flops(fft);
  return NULL;
}
