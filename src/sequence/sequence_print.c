// Sequences as text, one line per step, and as JSON.
#include "base/text_internal.h"
#include "json/json.h"
#include "mesh/mesh.h"
#include "sequence/sequence.h"
#include "sequence/sequence_internal.h"
#include "spec/spec_internal.h"
#include "tessera/dtype.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "tessera/shape.h"
#include "tessera/spec.h"

// ---- text ----

static void print_axes(const tsr_sequence_step *step, tsr_text *out) {
  const tsr_mesh *mesh = tsr_sharding_mesh(step->sharding);
  for (int i = 0; i < step->axis_count; i++) {
    const tsr_axis_ref ref = tsr_sub_axis_ref(mesh, &step->axes[i]);
    tsr_text_add(out, i ? "+" : " ");
    tsr_text_add(out, ref.name);
    if (ref.size) tsr_text_addf(out, ":(%lld)%lld", (long long)ref.pre, (long long)ref.size);
  }
}

static void print_dims(const tsr_sequence_step *step, tsr_text *out) {
  if (step->split_dim >= 0 && step->concat_dim >= 0)
    tsr_text_addf(out, ", dimension %d to %d", step->concat_dim, step->split_dim);
  else if (step->split_dim >= 0)
    tsr_text_addf(out, ", dimension %d", step->split_dim);
  else if (step->concat_dim >= 0)
    tsr_text_addf(out, ", dimension %d", step->concat_dim);
}

static tsr_status print_step(const tsr_sequence_step *step, int64_t number, tsr_text *out) {
  tsr_text_addf(out, "%lld  %s", (long long)number, tsr_step_kind_name(step->kind));
  print_axes(step, out);
  print_dims(step, out);
  tsr_text_add(out, ": ");
  tsr_shape_print(&step->in_shape, out);
  tsr_text_add(out, " -> ");
  tsr_shape_print(&step->out_shape, out);
  tsr_text_add(out, ", now [");
  TSR_TRY(tsr_spec_print(tsr_sharding_spec(step->sharding), TSR_FORM_SHORT, out));
  tsr_text_addf(out, "], %lld bytes", (long long)step->bytes);
  if (tsr_mesh_topology(tsr_sharding_mesh(step->sharding)))
    tsr_text_addf(out, ", %.3g s", step->seconds);
  tsr_text_add_char(out, '\n');
  return NULL;
}

tsr_status tsr_sequence_print(const tsr_sequence *sequence, tsr_text *out) {
  const tsr_sequence_certificate *certificate = tsr_sequence_certificate_of(sequence);
  for (int64_t i = 0; i < certificate->step_count; i++)
    TSR_TRY(print_step(tsr_sequence_step_at(sequence, i), i + 1, out));
  tsr_text_addf(out,
                "%lld step%s, %lld bytes moved (at least %lld), %lld bytes at most on a device",
                (long long)certificate->step_count, certificate->step_count == 1 ? "" : "s",
                (long long)certificate->bytes_moved, (long long)certificate->bytes_lower_bound,
                (long long)certificate->peak_bytes);
  if (tsr_mesh_topology(tsr_sharding_mesh(tsr_sequence_to(sequence))))
    tsr_text_addf(out, ", %.3g s", certificate->seconds);
  tsr_text_add(out, certificate->optimal ? ", optimal\n" : "\n");
  return tsr_text_check(out);
}

// ---- JSON ----

static void write_axes(const tsr_sequence_step *step, tsr_json_writer *writer) {
  const tsr_mesh *mesh = tsr_sharding_mesh(step->sharding);
  tsr_json_begin_array(writer);
  for (int i = 0; i < step->axis_count; i++) {
    tsr_json_begin_array(writer);
    tsr_json_write_string(writer, tsr_mesh_axis_at(mesh, step->axes[i].axis)->name);
    tsr_json_write_int(writer, step->axes[i].pre);
    tsr_json_write_int(writer, step->axes[i].size);
    tsr_json_end_array(writer);
  }
  tsr_json_end_array(writer);
}

static void write_dim(tsr_json_writer *writer, const char *key, int dim) {
  if (dim < 0) return;
  tsr_json_add_int(writer, key, dim);
}

static void write_shape(tsr_json_writer *writer, const char *key, const tsr_shape *shape) {
  tsr_json_add_ints(writer, key, shape->dims, (size_t)shape->rank);
}

static void write_spec(tsr_json_writer *writer, const char *key, const tsr_sharding *sharding) {
  tsr_json_write_key(writer, key);
  tsr_spec_to_json(tsr_sharding_spec(sharding), writer);
}

static void write_step(const tsr_sequence_step *step, tsr_json_writer *writer) {
  tsr_json_begin_object(writer);
  tsr_json_add_string(writer, "kind", tsr_step_kind_name(step->kind));
  tsr_json_write_key(writer, "axes");
  write_axes(step, writer);
  write_dim(writer, "split_dim", step->split_dim);
  write_dim(writer, "concat_dim", step->concat_dim);
  write_shape(writer, "in_shape", &step->in_shape);
  write_shape(writer, "out_shape", &step->out_shape);
  write_spec(writer, "sharding", step->sharding);
  tsr_json_add_int(writer, "bytes", step->bytes);
  tsr_json_add_int(writer, "device_bytes", step->device_bytes);
  if (tsr_mesh_topology(tsr_sharding_mesh(step->sharding)))
    tsr_json_add_double(writer, "seconds", step->seconds);
  tsr_json_end_object(writer);
}

static void write_certificate(const tsr_sequence *sequence, tsr_json_writer *writer) {
  const tsr_sequence_certificate *certificate = tsr_sequence_certificate_of(sequence);
  tsr_json_begin_object(writer);
  tsr_json_add_int(writer, "steps", certificate->step_count);
  tsr_json_add_int(writer, "bytes_moved", certificate->bytes_moved);
  tsr_json_add_int(writer, "bytes_lower_bound", certificate->bytes_lower_bound);
  tsr_json_add_int(writer, "peak_bytes", certificate->peak_bytes);
  if (tsr_mesh_topology(tsr_sharding_mesh(tsr_sequence_to(sequence))))
    tsr_json_add_double(writer, "seconds", certificate->seconds);
  tsr_json_add_bool(writer, "optimal", certificate->optimal);
  tsr_json_end_object(writer);
}

void tsr_sequence_to_json(const tsr_sequence *sequence, tsr_json_writer *writer) {
  const tsr_shape shape = tsr_sequence_shape(sequence);
  tsr_json_begin_object(writer);
  write_spec(writer, "from", tsr_sequence_from(sequence));
  write_spec(writer, "to", tsr_sequence_to(sequence));
  write_shape(writer, "shape", &shape);
  tsr_json_add_string(writer, "dtype", tsr_dtype_name(tsr_sequence_dtype(sequence), TSR_NAMES_OWN));
  tsr_json_add_array(writer, "steps");
  for (int64_t i = 0; i < tsr_sequence_step_count(sequence); i++)
    write_step(tsr_sequence_step_at(sequence, i), writer);
  tsr_json_end_array(writer);
  tsr_json_write_key(writer, "certificate");
  write_certificate(sequence, writer);
  tsr_json_end_object(writer);
}
