// A redistribution as text, JSON and SVG: both plans, their certificates, and which is cheaper.
#include <stdio.h>
#include <string.h>

#include "base/text_internal.h"
#include "element/dtype_internal.h"
#include "json/json_fields.h"
#include "mesh/mesh_internal.h"
#include "report/report.h"
#include "sequence/sequence_internal.h"
#include "spec/spec_internal.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"

// Copies, and rows of the matrix, that are printed without --copies.
enum { MOST_COPIES = 16, MOST_MATRIX = 16 };

void tsr_redistribution_deinit(tsr_redistribution *change) {
  tsr_layout_release(change->from);
  tsr_layout_release(change->to);
  tsr_copy_plan_release(change->plan);
  tsr_traffic_deinit(&change->traffic);
  tsr_sequence_release(change->sequence);
  tsr_sequence_release(change->shardy);
  tsr_text_deinit(&change->no_plan);
  tsr_text_deinit(&change->no_sequence);
  tsr_relabelling_deinit(&change->relabelling);
}

static void add_indented(const char *text, tsr_text *out) {
  while (*text) {
    const size_t length = strcspn(text, "\n");
    tsr_text_add(out, "   ");
    tsr_text_add_bytes(out, text, length);
    tsr_text_add_char(out, '\n');
    text += length + (text[length] == '\n');
  }
}

static tsr_status add_spec(const tsr_layout *layout, tsr_text *out) {
  const tsr_spec *spec = tsr_sharding_spec(tsr_layout_sharding(layout));
  return tsr_spec_print(spec, TSR_FORM_SHORT, out);
}

// "f32 (8, 16): x, _ -> _, x".
static tsr_status add_title(const tsr_redistribution *change, const char *arrow, tsr_text *out) {
  tsr_text_addf(out, "%s ", tsr_dtype_info_of(change->dtype)->name);
  tsr_shape_print(&change->shape, out);
  tsr_text_add(out, ": ");
  TSR_TRY(add_spec(change->from, out));
  tsr_text_addf(out, " %s ", arrow);
  return add_spec(change->to, out);
}

// The meshes of both sides.
static void add_meshes(const tsr_redistribution *change, tsr_text *out) {
  const tsr_mesh *from = tsr_layout_mesh(change->from), *to = tsr_layout_mesh(change->to);
  tsr_text_add(out, "mesh ");
  tsr_mesh_print(from, out);
  if (tsr_mesh_equal(from, to)) return;
  tsr_text_add(out, " to mesh ");
  tsr_mesh_print(to, out);
}

// ---- copies ----

// Position in the target's buffer of the last element that a copy writes.
static int64_t last_place(const tsr_copy *copy) {
  int64_t place = copy->to + copy->length - 1;
  for (int i = 0; i < copy->loop_count; i++)
    place += (copy->loops[i].count - 1) * copy->loops[i].to;
  return place;
}

// The box of the tensor that a copy fills, from its first and last element; false if the shard or
// the copy is not a box.
static bool box_of(const tsr_layout *to, int64_t position, const tsr_copy *copy, tsr_range *out) {
  const int64_t shard = tsr_layout_shard(to, position);
  tsr_range held[TSR_MAX_RANK];
  tsr_status status = tsr_layout_box(to, shard, held);
  if (status) {
    tsr_status_free(status);
    return false;
  }
  tsr_shape buffer;
  tsr_layout_buffer_shape(to, shard, &buffer);
  int64_t first = copy->to, last = last_place(copy), elements = 1;
  for (int d = buffer.rank - 1; d >= 0; d--) {
    out[d].lo = held[d].lo + first % buffer.dims[d];
    out[d].hi = held[d].lo + last % buffer.dims[d] + 1;
    first /= buffer.dims[d];
    last /= buffer.dims[d];
    elements *= out[d].hi > out[d].lo ? out[d].hi - out[d].lo : 0;
  }
  return elements == tsr_copy_elements(copy);
}

static void add_box(const tsr_redistribution *change, int64_t position, const tsr_copy *copy,
                    tsr_text *out) {
  tsr_range box[TSR_MAX_RANK];
  tsr_text what = TSR_TEXT_EMPTY;
  const bool is_box = change->shape.rank && box_of(change->to, position, copy, box);
  for (int d = 0; is_box && d < change->shape.rank; d++)
    tsr_text_addf(&what, "%s%lld:%lld", d ? ", " : "[", (long long)box[d].lo, (long long)box[d].hi);
  tsr_text_add(&what, is_box ? "]" : "-");
  const int64_t runs = tsr_copy_elements(copy) / copy->length;
  tsr_text_addf(out, "%-24s  %lld x %lld, from %lld to %lld\n", tsr_text_string(&what),
                (long long)runs, (long long)copy->length, (long long)copy->from,
                (long long)copy->to);
  tsr_text_deinit(&what);
}

static tsr_status print_copies_into(const tsr_redistribution *change, int64_t position,
                                    tsr_text *out) {
  tsr_copies copies;
  TSR_TRY(tsr_copies_init_into(&copies, change->plan, position));
  tsr_status status = NULL;
  for (tsr_copy copy; !status && tsr_copies_next(&copies, &copy);) {
    int64_t bytes = 0;
    status = tsr_dtype_bytes(change->dtype, tsr_copy_elements(&copy), &bytes);
    tsr_text_addf(out, "   %6lld  %6lld  %10lld  ", (long long)copy.source, (long long)copy.target,
                  (long long)bytes);
    add_box(change, position, &copy, out);
  }
  tsr_copies_deinit(&copies);
  return status;
}

static tsr_status print_copies(const tsr_redistribution *change, tsr_text *out) {
  tsr_text_addf(out, "\n   %6s  %6s  %10s  %-24s  %s\n", "from", "to", "bytes", "what",
                "runs of elements, and where in the buffers");
  for (int64_t p = 0; p < tsr_layout_device_count(change->to); p++)
    TSR_TRY(print_copies_into(change, p, out));
  return NULL;
}

// ---- the direct way ----

static void print_matrix(const tsr_traffic *traffic, tsr_text *out) {
  char cell[32];
  tsr_text_add(out, "\n   from \\ to");
  for (int t = 0; t < traffic->rows; t++) tsr_text_addf(out, "  %8s", traffic->labels[t]);
  tsr_text_add_char(out, '\n');
  for (int s = 0; s < traffic->rows; s++) {
    tsr_text_addf(out, "   %9s", traffic->labels[s]);
    for (int t = 0; t < traffic->rows; t++) {
      snprintf(cell, sizeof cell, s == t ? "(%s)" : "%s",
               tsr_format_bytes(tsr_traffic_at(traffic, s, t)).text);
      tsr_text_addf(out, "  %8s", tsr_traffic_at(traffic, s, t) ? cell : "-");
    }
    tsr_text_add_char(out, '\n');
  }
}

static tsr_status print_direct(const tsr_redistribution *change, bool all_copies, tsr_text *out) {
  tsr_text_add(out, " direct\n");
  if (!change->plan) {
    tsr_text_addf(out, "   none: %s\n", tsr_text_string(&change->no_plan));
    return NULL;
  }
  tsr_text lines = TSR_TEXT_EMPTY;
  tsr_certificate_print(&change->certificate, &lines);
  add_indented(tsr_text_string(&lines), out);
  tsr_text_deinit(&lines);
  if (change->traffic.timed)
    tsr_text_addf(out, "   time by the links        %s on the busiest device\n",
                  tsr_format_seconds(change->traffic.seconds).text);
  if (change->traffic.rows && change->traffic.device_count <= MOST_MATRIX)
    print_matrix(&change->traffic, out);
  if (all_copies || change->certificate.copies <= MOST_COPIES) return print_copies(change, out);
  tsr_text_addf(out, "\n   --copies lists the %lld copies\n",
                (long long)change->certificate.copies);
  return NULL;
}

// ---- collectives ----

static tsr_status print_sequence(const tsr_redistribution *change, tsr_text *out) {
  tsr_text_add(out, "\n collectives\n");
  if (!change->sequence) {
    tsr_text_addf(out, "   none: %s\n", tsr_text_string(&change->no_sequence));
    return NULL;
  }
  tsr_text lines = TSR_TEXT_EMPTY;
  tsr_status status = tsr_sequence_print(change->sequence, &lines);
  add_indented(tsr_text_string(&lines), out);
  tsr_text_deinit(&lines);
  return status;
}

// Shardy's greedy order is printed only if it costs more.
static void print_shardy(const tsr_redistribution *change, tsr_text *out) {
  if (!change->sequence || !change->shardy) return;
  const tsr_sequence_certificate *own = tsr_sequence_certificate_of(change->sequence);
  const tsr_sequence_certificate *greedy = tsr_sequence_certificate_of(change->shardy);
  if (greedy->bytes_moved <= own->bytes_moved) return;
  tsr_text_addf(out,
                "   Shardy's greedy order: %lld step%s, %lld bytes moved (%.3g times as many)\n",
                (long long)greedy->step_count, greedy->step_count == 1 ? "" : "s",
                (long long)greedy->bytes_moved,
                own->bytes_moved ? (double)greedy->bytes_moved / (double)own->bytes_moved : 0.0);
}

static void print_verdict(const tsr_redistribution *change, tsr_text *out) {
  tsr_text_add(out, "\n cheaper: ");
  if (!change->plan || !change->sequence) {
    tsr_text_addf(out, "%s, the only plan\n", change->plan ? "direct" : "collectives");
    return;
  }
  const tsr_sequence_certificate *sequence = tsr_sequence_certificate_of(change->sequence);
  if (change->traffic.timed) {
    const bool direct = change->traffic.seconds <= sequence->seconds;
    const tsr_unit_text a = tsr_format_seconds(change->traffic.seconds);
    const tsr_unit_text b = tsr_format_seconds(sequence->seconds);
    if (!strcmp(a.text, b.text))
      tsr_text_addf(out, "neither, both take %s by the links\n", a.text);
    else
      tsr_text_addf(out, "%s, %s against %s by the links\n", direct ? "direct" : "collectives",
                    direct ? a.text : b.text, direct ? b.text : a.text);
    return;
  }
  const int64_t more = sequence->bytes_moved - change->certificate.bytes_moved;
  if (more > 0)
    tsr_text_addf(out, "direct, by %lld bytes\n", (long long)more);
  else
    tsr_text_add(out, "neither, both move the same bytes\n");
}

static tsr_status print_relabelling(const tsr_redistribution *change, tsr_text *out) {
  const tsr_relabelling *r = &change->relabelling;
  tsr_text_addf(out, "\n relabelled\n   %lld bytes move instead of %lld (lower bound %lld)\n",
                (long long)r->bytes_after, (long long)r->bytes_before, (long long)r->bytes_bound);
  if (r->bytes_after == r->bytes_before) return NULL;
  tsr_layout *layout = NULL;
  TSR_TRY(tsr_layout_with_devices(change->to, r->devices, &layout));
  tsr_text_add(out, "   target mesh ");
  tsr_mesh_print(tsr_layout_mesh(layout), out);
  tsr_text_add_char(out, '\n');
  tsr_layout_release(layout);
  return NULL;
}

tsr_status tsr_redistribution_print(const tsr_redistribution *change, bool all_copies,
                                    tsr_text *out) {
  int64_t bytes = 0;
  TSR_TRY(tsr_shape_bytes(&change->shape, change->dtype, &bytes));
  tsr_text_add_char(out, ' ');
  TSR_TRY(add_title(change, "->", out));
  tsr_text_addf(out, "  (%s)\n ", tsr_format_bytes(bytes).text);
  add_meshes(change, out);
  tsr_text_add(out, "\n\n");
  TSR_TRY(print_direct(change, all_copies, out));
  TSR_TRY(print_sequence(change, out));
  print_shardy(change, out);
  print_verdict(change, out);
  return change->relabelled ? print_relabelling(change, out) : NULL;
}

// ---- as data ----

static void write_copy(const tsr_copy *copy, tsr_json_writer *writer) {
  static const tsr_json_field fields[] =
      TSR_JSON_FIELDS(tsr_copy, source, target, from, to, length);
  tsr_json_begin_inline_object(writer);
  tsr_json_add_fields(writer, fields, copy);
  tsr_json_add_array(writer, "loops");
  for (int i = 0; i < copy->loop_count; i++)
    tsr_json_write_ints(
        writer, (const int64_t[]){copy->loops[i].count, copy->loops[i].from, copy->loops[i].to}, 3);
  tsr_json_end_array(writer);
  tsr_json_end_object(writer);
}

static tsr_status write_copies(const tsr_redistribution *change, tsr_json_writer *writer) {
  tsr_json_add_array(writer, "copies");
  for (int64_t p = 0; p < tsr_layout_device_count(change->to); p++) {
    tsr_copies copies;
    TSR_TRY(tsr_copies_init_into(&copies, change->plan, p));
    for (tsr_copy copy; tsr_copies_next(&copies, &copy);) write_copy(&copy, writer);
    tsr_copies_deinit(&copies);
  }
  tsr_json_end_array(writer);
  return NULL;
}

static tsr_status write_direct(const tsr_redistribution *change, bool all_copies,
                               tsr_json_writer *writer) {
  tsr_json_begin_object(writer);
  if (!change->plan) {
    tsr_json_add_string(writer, "none", tsr_text_string(&change->no_plan));
    tsr_json_end_object(writer);
    return NULL;
  }
  tsr_json_write_key(writer, "certificate");
  tsr_certificate_to_json(&change->certificate, writer);
  if (change->traffic.timed) tsr_json_add_double(writer, "seconds", change->traffic.seconds);
  if (all_copies || change->certificate.copies <= MOST_COPIES)
    TSR_TRY(write_copies(change, writer));
  tsr_json_end_object(writer);
  return NULL;
}

static void write_sequence(const tsr_sequence *sequence, const char *reason,
                           tsr_json_writer *writer) {
  if (sequence) {
    tsr_sequence_to_json(sequence, writer);
    return;
  }
  tsr_json_begin_object(writer);
  tsr_json_add_string(writer, "none", reason);
  tsr_json_end_object(writer);
}

static void write_relabelling(const tsr_relabelling *r, tsr_json_writer *writer) {
  static const tsr_json_field fields[] =
      TSR_JSON_FIELDS(tsr_relabelling, bytes_before, bytes_after, bytes_bound);
  tsr_json_add_object(writer, "relabelling");
  tsr_json_add_fields(writer, fields, r);
  tsr_json_add_ints(writer, "devices", r->devices, (size_t)r->device_count);
  tsr_json_end_object(writer);
}

static void write_side(const char *key, const tsr_layout *layout, tsr_json_writer *writer) {
  tsr_json_add_object(writer, key);
  tsr_json_write_key(writer, "spec");
  tsr_spec_to_json(tsr_sharding_spec(tsr_layout_sharding(layout)), writer);
  tsr_json_write_key(writer, "mesh");
  tsr_mesh_to_json(tsr_layout_mesh(layout), writer);
  tsr_json_end_object(writer);
}

tsr_status tsr_redistribution_to_json(const tsr_redistribution *change, bool all_copies,
                                      tsr_json_writer *writer) {
  tsr_json_add_ints(writer, "shape", change->shape.dims, (size_t)change->shape.rank);
  tsr_json_add_string(writer, "dtype", tsr_dtype_info_of(change->dtype)->name);
  write_side("from", change->from, writer);
  write_side("to", change->to, writer);
  tsr_json_write_key(writer, "direct");
  TSR_TRY(write_direct(change, all_copies, writer));
  tsr_json_write_key(writer, "collectives");
  write_sequence(change->sequence, tsr_text_string(&change->no_sequence), writer);
  if (change->shardy) {
    tsr_json_write_key(writer, "shardy");
    tsr_sequence_to_json(change->shardy, writer);
  }
  if (change->relabelled) write_relabelling(&change->relabelling, writer);
  return NULL;
}

tsr_status tsr_redistribution_print_svg(const tsr_redistribution *change, tsr_text *out) {
  if (!change->plan)
    return tsr_fail(BAD_ARGUMENT, "--svg needs a direct plan, but %s",
                    tsr_text_string(&change->no_plan));
  if (!change->traffic.rows)
    return tsr_fail(TOO_LARGE, "%lld copies between %lld devices are too many to draw",
                    (long long)change->certificate.copies,
                    (long long)tsr_layout_device_count(change->to));
  const tsr_certificate *c = &change->certificate;
  tsr_text title = TSR_TEXT_EMPTY, subtitle = TSR_TEXT_EMPTY;
  tsr_status status = add_title(change, "→", &title);
  add_meshes(change, &subtitle);
  tsr_text_addf(&subtitle, ": %s move in %lld messages (lower bound %s), %s stay",
                tsr_format_bytes(c->bytes_moved).text, (long long)c->messages,
                tsr_format_bytes(c->bytes_lower_bound).text, tsr_format_bytes(c->bytes_local).text);
  if (!status)
    tsr_traffic_print_svg(&change->traffic, tsr_text_string(&title), tsr_text_string(&subtitle),
                          out);
  tsr_text_deinit(&title);
  tsr_text_deinit(&subtitle);
  return status;
}

// ---- a run ----

static void print_timing(const char *name, const tsr_redistribution_timing *t, tsr_text *out) {
  tsr_text_addf(out, "   %-12s %s written in %s", name, tsr_format_bytes(t->bytes_written).text,
                tsr_format_seconds(t->seconds).text);
  if (t->seconds > 0)
    tsr_text_addf(out, ", %.3g GB/s, %.2f of memcpy", 1e-9 * (double)t->bytes_written / t->seconds,
                  t->memcpy_seconds / t->seconds);
  tsr_text_add_char(out, '\n');
}

void tsr_redistribution_run_print(const tsr_redistribution_run *run, tsr_text *out) {
  tsr_text_addf(out, "\n run by %s: %d rank%s, %d worker%s each\n", run->engine, run->ranks,
                run->ranks == 1 ? "" : "s", run->workers, run->workers == 1 ? "" : "s");
  if (run->direct) print_timing("direct", &run->by_direct, out);
  if (run->collectives) print_timing("collectives", &run->by_collectives, out);
  tsr_text_addf(out, "   verified: %lld elements unchanged", (long long)run->verified_elements);
  tsr_text_add(out, run->direct ? ", bytes moved as certified\n" : "\n");
}

static void write_timing(const char *key, const tsr_redistribution_timing *t,
                         tsr_json_writer *writer) {
  static const tsr_json_field fields[] =
      TSR_JSON_FIELDS(tsr_redistribution_timing, bytes_written, seconds, memcpy_seconds);
  tsr_json_add_object(writer, key);
  tsr_json_add_fields(writer, fields, t);
  tsr_json_end_object(writer);
}

void tsr_redistribution_run_to_json(const tsr_redistribution_run *run, tsr_json_writer *writer) {
  static const tsr_json_field fields[] =
      TSR_JSON_FIELDS(tsr_redistribution_run, engine, ranks, workers, verified_elements);
  tsr_json_add_object(writer, "run");
  tsr_json_add_fields(writer, fields, run);
  if (run->direct) write_timing("direct", &run->by_direct, writer);
  if (run->collectives) write_timing("collectives", &run->by_collectives, writer);
  tsr_json_end_object(writer);
}
