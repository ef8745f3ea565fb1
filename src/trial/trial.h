// Programs tried out: values for their arguments, runs of them, and what came out of it. The
// command and the tests of the corpus share this room, so that both mean the same by "equal".
//
// Messages go to texts; nothing here prints.
#ifndef TESSERA_TRIAL_TRIAL_H
#define TESSERA_TRIAL_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "json/json.h"
#include "report/report.h"
#include "tessera/comm.h"
#include "tessera/engine/buffer.h"
#include "tessera/program/executable.h"
#include "tessera/status.h"
#include "tessera/text.h"

// ---- the arguments or the results of an executable, with memory ----

typedef struct tsr_trial_value {
  const char *name;  // as the executable calls it
  tsr_dtype dtype;   // TSR_DTYPE_NONE: an argument that the program does not use
  tsr_shape shape;   // of the whole tensor
  tsr_range *box;    // owned: the part of it that `data` has; NULL = all of it
  bool filled;       // `data` is also that of another list, which fills it
  int64_t count;     // elements of `data`
  int64_t bytes;     // in memory: an element narrower than a byte takes one
  bool missing;      // the file that was read does not have it
  int64_t next;      // an argument: the result that takes its memory; -1 = none
  tsr_buffer *data;  // owned
} tsr_trial_value;

typedef struct tsr_trial_values {
  bool results;  // "out0" and so on, otherwise "arg0"
  int64_t count;
  tsr_trial_value *items;
} tsr_trial_values;

// Descriptions and memory; the elements are not set. The executable must outlive them.
TSR_MUST_USE tsr_status tsr_trial_values_create(const tsr_executable *executable, bool results,
                                                tsr_trial_values *out_values);
// Descriptions without memory.
TSR_MUST_USE tsr_status tsr_trial_values_describe(const tsr_executable *executable, bool results,
                                                  tsr_trial_values *out_values);
void tsr_trial_values_deinit(tsr_trial_values *values);
// "arg3" or "out3".
typedef struct tsr_trial_name {
  char text[32];
} tsr_trial_name;
tsr_trial_name tsr_trial_value_name(const tsr_trial_values *values, int64_t index);
void tsr_trial_type_print(const tsr_trial_value *value, tsr_text *out);  // "f32[8, 16]"

// ---- where elements come from and go to ----

// From a checkpoint of any format with whole tensors: arg0 and so on, or by the names of the
// arguments. A missing tensor, another shape or another dtype is refused. The other function sets
// `missing` for values without a tensor, and refuses a file that has none of them.
TSR_MUST_USE tsr_status tsr_trial_values_read(tsr_trial_values *values, const char *path);
TSR_MUST_USE tsr_status tsr_trial_values_read_some(tsr_trial_values *values, const char *path);
// A line about the tensors of a file that are none of the values; nothing if there are none.
TSR_MUST_USE tsr_status tsr_trial_values_unused(const tsr_trial_values *values, const char *path,
                                                tsr_text *out);
// The program for arguments of the shapes that the tensors of a file have; one whose sizes are all
// known comes back as it is.
TSR_MUST_USE tsr_status tsr_trial_refine(const tsr_program *program, const char *path,
                                         tsr_program **out_program);
// To a safetensors file, which is replaced in one step. Types that the format lacks are refused.
TSR_MUST_USE tsr_status tsr_trial_values_write(const tsr_trial_values *values, const char *path);
// Floats from a normal distribution, integers from 0 to 9 (from -5 to 4 if they are signed and
// narrower than 32 bits), bools. They depend on seed, argument and index only.
TSR_MUST_USE tsr_status tsr_trial_values_random(tsr_trial_values *values, uint64_t seed);

// ---- a folder with a program and what belongs to it ----

// Differences that are allowed; types of integers and bools are always equal.
typedef struct tsr_trial_tolerance {
  double absolute, relative;  // |got - want| <= absolute + relative * |want|; < 0 = by the type
  bool exact;                 // the same bits
  // An absolute error by the type is that of the largest number of the value: sums that nearly
  // cancel have errors of what was summed.
  bool scaled;
} tsr_trial_tolerance;
#define TSR_TRIAL_TOLERANCE \
  { -1, -1, false, false }

typedef struct tsr_trial_case {
  char *program;          // its path
  char *inputs, *wanted;  // safetensors files; NULL = none
  tsr_trial_tolerance tolerance;
  tsr_json_doc *facts;  // case.json; NULL = none
  bool generated;       // facts has a formula for inputs, and sums of the results
} tsr_trial_case;

// Whether a path is a folder that holds a program.
bool tsr_trial_is_case(const char *path);
// `artifact` takes program.mlirbc instead of program.mlir.
TSR_MUST_USE tsr_status tsr_trial_case_open(const char *folder, bool artifact,
                                            tsr_trial_case *out_case);
void tsr_trial_case_deinit(tsr_trial_case *trial);
// Arguments by the formula of a case: hashes of index and argument, scaled.
TSR_MUST_USE tsr_status tsr_trial_values_generate(tsr_trial_values *values,
                                                  const tsr_trial_case *trial);

// ---- comparing ----

typedef struct tsr_trial_verdict {
  int64_t values, elements;   // compared
  int64_t differing_values;   // that hold a difference
  int64_t differing;          // elements, or sums and samples
  double absolute, relative;  // the largest errors among finite numbers
} tsr_trial_verdict;

// Compares results with those of a file, and adds a line to `out` for each value that differs.
// Results that the file does not have are not compared; one of them at least must be there.
TSR_MUST_USE tsr_status tsr_trial_compare(const tsr_trial_values *got, const char *path,
                                          const tsr_trial_tolerance *tolerance, tsr_text *out,
                                          tsr_trial_verdict *out_verdict);
// Compares results with others of the same executable, or one of the same signature; those that are
// `missing` are not compared.
TSR_MUST_USE tsr_status tsr_trial_compare_values(const tsr_trial_values *got,
                                                 const tsr_trial_values *want,
                                                 const tsr_trial_tolerance *tolerance,
                                                 tsr_text *out, tsr_trial_verdict *out_verdict);
// Compares results with the sums and samples of a generated case.
TSR_MUST_USE tsr_status tsr_trial_compare_sums(const tsr_trial_values *got,
                                               const tsr_trial_case *trial, tsr_text *out,
                                               tsr_trial_verdict *out_verdict);
// The inputs and what is wanted of a case; whichever of both it has.
TSR_MUST_USE tsr_status tsr_trial_case_fill(const tsr_trial_case *trial, tsr_trial_values *inputs);
TSR_MUST_USE tsr_status tsr_trial_case_compare(const tsr_trial_case *trial,
                                               const tsr_trial_values *got, tsr_text *out,
                                               tsr_trial_verdict *out_verdict);

// ---- running ----

TSR_MUST_USE tsr_status tsr_trial_run(const tsr_executable *executable,
                                      const tsr_trial_values *inputs,
                                      const tsr_trial_values *outputs);

typedef struct tsr_trial_times {
  int64_t runs;
  double median, least, most;  // seconds of a run
  double low, high;            // quartiles
  double processor;            // seconds of all threads, the median of a run
} tsr_trial_times;

// Runs at least once to warm up, then `runs` times. A result in the memory of a donated argument is
// that argument in the next run, as in training. Inputs and outputs change.
TSR_MUST_USE tsr_status tsr_trial_time(const tsr_executable *executable, tsr_trial_values *inputs,
                                       tsr_trial_values *outputs, int64_t runs,
                                       tsr_trial_times *out_times);

// ---- running on the devices of several processes ----

// The arguments or the results on the devices of a comm that are in this process.
typedef struct tsr_trial_shards {
  tsr_comm *comm;
  bool results;
  int64_t count;            // devices
  int64_t *positions;       // of each in the mesh
  tsr_trial_values *lists;  // of each: its shards
} tsr_trial_shards;

// Shards with memory, which devices with the same shard share; the elements are not set. The
// executable and the comm must outlive them.
TSR_MUST_USE tsr_status tsr_trial_shards_create(const tsr_executable *executable, tsr_comm *comm,
                                                bool results, tsr_trial_shards *out_shards);
void tsr_trial_shards_deinit(tsr_trial_shards *shards);
// Collective over the comm that the executable was compiled for.
TSR_MUST_USE tsr_status tsr_trial_shards_run(const tsr_executable *executable,
                                             const tsr_trial_shards *inputs,
                                             const tsr_trial_shards *outputs);
// Collective. Whole results on the rank with device 0, where `whole` has memory; elsewhere it has
// descriptions only.
TSR_MUST_USE tsr_status tsr_trial_shards_gather(const tsr_executable *executable,
                                                const tsr_trial_shards *shards,
                                                const tsr_trial_values *whole);
// Collective. Runs once to warm up, then `runs` times, from the same inputs; the times are those of
// this process.
TSR_MUST_USE tsr_status tsr_trial_shards_time(const tsr_executable *executable,
                                              const tsr_trial_shards *inputs,
                                              const tsr_trial_shards *outputs, int64_t runs,
                                              tsr_trial_times *out_times);

// ---- profiles ----

// One step of a profile, over all the times it ran.
typedef struct tsr_trial_step {
  int64_t step;
  char *name;  // owned
  int op_count;
  int64_t runs, flops, bytes;  // of all runs
  double seconds;
} tsr_trial_step;

typedef struct tsr_trial_profile {
  int64_t count, capacity;
  tsr_trial_step *steps;
  double seconds;  // of all steps
  // What ran, in order; names are the executable's.
  int64_t event_count, event_capacity;
  tsr_step_event *events;
  bool failed;  // without memory
} tsr_trial_profile;

// Runs once to warm up, then once with a clock at every step. The executable must outlive it.
TSR_MUST_USE tsr_status tsr_trial_profile_run(const tsr_executable *executable,
                                              const tsr_trial_values *inputs,
                                              const tsr_trial_values *outputs,
                                              tsr_trial_profile *out_profile);
void tsr_trial_profile_deinit(tsr_trial_profile *profile);
// The slowest steps first; `most` lines at most.
TSR_MUST_USE tsr_status tsr_trial_profile_print(const tsr_trial_profile *profile, int64_t most,
                                                tsr_text *out);
// JSON that Chrome and Perfetto open.
TSR_MUST_USE tsr_status tsr_trial_profile_trace(const tsr_trial_profile *profile, tsr_text *out);
void tsr_trial_profile_to_json(const tsr_trial_profile *profile, tsr_json_writer *json);

// ---- what commands print ----

// One line for each value: name, type, statistics and the first elements.
TSR_MUST_USE tsr_status tsr_trial_values_print(const tsr_trial_values *values, tsr_text *out);
TSR_MUST_USE tsr_status tsr_trial_values_to_json(const tsr_trial_values *values,
                                                 tsr_json_writer *json);
void tsr_trial_times_print(const tsr_trial_times *times, const tsr_executable_info *info,
                           tsr_text *out);
void tsr_trial_times_to_json(const tsr_trial_times *times, const tsr_executable_info *info,
                             tsr_json_writer *json);

// ---- redistribute --run ----

// Collective. Runs both plans, checks every element, and compares the bytes that copies move with
// the certificate.
tsr_status tsr_redistribution_try(const tsr_redistribution *change, tsr_comm *comm,
                                  tsr_redistribution_run *out_run);

#endif
