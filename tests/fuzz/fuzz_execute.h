// What the targets that run programs share. A program runs on one worker, on three, and with a step
// for every op: the results are the same bits each time, up to the bits of a NaN.
#ifndef TESSERA_TESTS_FUZZ_FUZZ_EXECUTE_H
#define TESSERA_TESTS_FUZZ_FUZZ_EXECUTE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element/convert_elements.h"
#include "program/program_internal.h"
#include "tessera/own.h"
#include "trial/trial.h"

enum { MOST_MEMORY = 1 << 24, MOST_WORK = 1 << 26 };

typedef struct fuzz_run {
  tsr_executable *executable;
  tsr_trial_values arguments, results;
} fuzz_run;

static void fuzz_run_deinit(fuzz_run *run) {
  tsr_trial_values_deinit(&run->arguments);
  tsr_trial_values_deinit(&run->results);
  tsr_executable_release(run->executable);
}

// Whether it is too much work to run, so that fuzzing goes on.
static bool is_long(const tsr_executable *executable) {
  tsr_executable_info info = TSR_EXECUTABLE_INFO;
  tsr_status_free(tsr_executable_describe(executable, &info));
  return info.flops > MOST_WORK || info.bytes_moved > MOST_WORK;
}

static tsr_status fuzz_compile(const tsr_program *program, int workers, fuzz_run *out_run) {
  tsr_compile_options options = TSR_COMPILE_OPTIONS;
  options.workers = workers;
  options.max_memory = MOST_MEMORY;
  TSR_TRY(tsr_executable_compile(program, &options, &out_run->executable));
  TSR_TRY(tsr_trial_values_create(out_run->executable, false, &out_run->arguments));
  TSR_TRY(tsr_trial_values_create(out_run->executable, true, &out_run->results));
  return tsr_trial_values_random(&out_run->arguments, 1);
}

// Runs on memory of exactly the size of each value, so that a sanitizer sees the ends.
static tsr_status fuzz_start(fuzz_run *run) {
  const tsr_trial_values *sides[] = {&run->arguments, &run->results};
  void **addresses[2];
  for (int s = 0; s < 2; s++) {
    addresses[s] = calloc((size_t)sides[s]->count + 1, sizeof **addresses);
    for (int64_t i = 0; i < sides[s]->count; i++) {
      const tsr_trial_value *value = &sides[s]->items[i];
      addresses[s][i] = value->bytes ? malloc((size_t)value->bytes) : NULL;
      if (value->bytes && !s)
        memcpy(addresses[s][i], tsr_buffer_data(value->data), (size_t)value->bytes);
    }
  }
  tsr_status status =
      tsr_executable_run(run->executable, (const void *const *)addresses[0], addresses[1]);
  for (int s = 0; s < 2; s++) {
    for (int64_t i = 0; i < sides[s]->count; i++) {
      const tsr_trial_value *value = &sides[s]->items[i];
      if (s && !status && value->bytes)
        memcpy(tsr_buffer_data(value->data), addresses[s][i], (size_t)value->bytes);
      free(addresses[s][i]);
    }
    free(addresses[s]);
  }
  return status;
}

static bool is_nan_both(tsr_dtype dtype, const char *a, const char *b) {
  double x, y;
  tsr_convert_run(dtype, a, 0, TSR_F64, &x, 0, 1);
  tsr_convert_run(dtype, b, 0, TSR_F64, &y, 0, 1);
  return isnan(x) && isnan(y);
}

static bool is_same(const tsr_trial_value *a, const tsr_trial_value *b) {
  const char *x = tsr_buffer_data(a->data), *y = tsr_buffer_data(b->data);
  if (!a->bytes || !memcmp(x, y, (size_t)a->bytes)) return true;
  const tsr_dtype real = a->dtype == TSR_C64 ? TSR_F32 : a->dtype == TSR_C128 ? TSR_F64 : a->dtype;
  const tsr_dtype_info *info = tsr_dtype_info_of(real);
  if (info->kind != TSR_CLASS_FLOAT || info->sub_byte) return false;
  for (int64_t at = 0; at < a->bytes; at += info->bits / 8)
    if (memcmp(x + at, y + at, (size_t)info->bits / 8) && !is_nan_both(real, x + at, y + at))
      return false;
  return true;
}

static void check_same(const fuzz_run *one, const fuzz_run *other, const char *what,
                       const char *text) {
  for (int64_t i = 0; i < one->results.count; i++) {
    if (is_same(&one->results.items[i], &other->results.items[i])) continue;
    fprintf(stderr, "result %lld differs %s\n%s\n", (long long)i, what, text ? text : "");
    abort();
  }
}

// Compiles and runs another form of a program, and compares with `one`.
static tsr_status run_again(const tsr_program *program, int workers, const fuzz_run *one,
                            const char *what, const char *text) {
  fuzz_run other = {0};
  tsr_status status = fuzz_compile(program, workers, &other);
  if (!status && !is_long(other.executable)) {
    status = fuzz_start(&other);
    if (!status) check_same(one, &other, what, text);
  }
  fuzz_run_deinit(&other);
  return status;
}

// The program with a step for every op.
static tsr_status unfused(const tsr_program *program, tsr_program **out_program) {
  static const char name[] = "tessera.unfused";
  tsr_ir *ir = tsr_program_copy_ir(program);
  const char *made = ir ? tsr_ir_name(ir, name, strlen(name)) : NULL;
  if (!made || !tsr_op_set_attr(ir, ir->module, made, tsr_attr_unit(ir))) abort();
  return tsr_program_wrap(ir, "unfused", TSR_PROGRAM_BUILT, out_program);
}

// `text` is shown where results differ.
static tsr_status fuzz_execute(const tsr_program *program, const char *text) {
  TSR_OWN(program, apart);
  fuzz_run one = {0};
  tsr_status status = fuzz_compile(program, 1, &one);
  if (!status && !is_long(one.executable)) {
    status = fuzz_start(&one);
    if (!status) status = run_again(program, 3, &one, "on three workers", text);
    if (!status) status = unfused(program, &apart);
    if (!status) status = run_again(apart, 1, &one, "where nothing is fused", text);
  }
  fuzz_run_deinit(&one);
  return status;
}

#endif
