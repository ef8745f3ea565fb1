// `tessera calibrate`: measures the cost of messages, and writes it as a topology.
#include <stdlib.h>
#include <string.h>

#include "base/pool_internal.h"
#include "base/text_internal.h"
#include "comm/comm_internal.h"
#include "command/command.h"
#include "json/json.h"
#include "json/json_fields.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/topology.h"
#include "topology/topology_internal.h"

// A fit whose mean error is above this is reported as rough.
static const double rough = 0.25;

// A kind of link, measured between devices `a` and `b`.
typedef struct link_kind {
  tsr_level level;
  const char *name;
  int64_t a, b;  // -1 = there are no two devices
  tsr_comm_fit fit;
} link_kind;

typedef struct calibration {
  const char *engine;
  int ranks;
  int64_t devices;
  link_kind links[2];  // within a process, between ranks
  tsr_topology *topology;
} calibration;

// ---- measuring ----

// Two devices of the first process that has two, and the first devices of two ranks.
static void choose_pairs(const tsr_comm *comm, link_kind *local, link_kind *far) {
  *local = (link_kind){.level = TSR_LEVEL_HOST, .name = "devices of a process", .a = -1, .b = -1};
  *far = (link_kind){.level = TSR_LEVEL_NET, .name = "ranks", .a = -1, .b = -1};
  for (int r = 0; r < tsr_comm_rank_count(comm); r++) {
    const int64_t first = tsr_comm_first_device(comm, r);
    const int64_t count = tsr_comm_first_device(comm, r + 1) - first;
    if (count >= 2 && local->a < 0) {
      local->a = first;
      local->b = first + 1;
    }
    if (count >= 1 && far->a >= 0 && far->b < 0) far->b = first;
    if (count >= 1 && far->a < 0) far->a = first;
  }
}

static tsr_status measure(tsr_comm *comm, int64_t most, calibration *out) {
  choose_pairs(comm, &out->links[0], &out->links[1]);
  for (int i = 0; i < 2; i++) {
    link_kind *link = &out->links[i];
    if (link->b >= 0) TSR_TRY(tsr_comm_measure_between(comm, link->a, link->b, most, &link->fit));
  }
  return NULL;
}

// This machine with the measured links; other links keep their defaults.
static tsr_status make_topology(const tsr_comm *comm, calibration *out) {
  const int64_t count = out->devices;
  tsr_topology *machine = NULL;
  TSR_TRY(tsr_topology_detect(&machine));
  tsr_link links[TSR_LEVEL_COUNT];
  for (int level = 0; level < TSR_LEVEL_COUNT; level++)
    links[level] = *tsr_topology_link(machine, (tsr_level)level);
  for (int i = 0; i < 2; i++)
    if (out->links[i].b >= 0)
      links[out->links[i].level] = (tsr_link){out->links[i].fit.alpha, out->links[i].fit.beta};
  tsr_device *devices = calloc((size_t)count, sizeof *devices);
  for (int64_t d = 0; devices && d < count; d++)
    devices[d] = (tsr_device){
        .id = d, .process = tsr_comm_rank_of(comm, d), .slice = TSR_NO_SLICE, .core = TSR_NO_CORE};
  const tsr_topology_desc desc = {.size = sizeof desc,
                                  .platform = tsr_topology_platform(machine),
                                  .kind = tsr_topology_kind(machine),
                                  .device_count = count,
                                  .devices = devices,
                                  .memory_per_device = tsr_topology_memory_per_device(machine) /
                                                       count * tsr_topology_device_count(machine),
                                  .links = links};
  tsr_status status = devices ? tsr_topology_create(&desc, &out->topology)
                              : tsr_fail(NO_MEMORY, "%lld devices", (long long)count);
  free(devices);
  tsr_topology_release(machine);
  return status;
}

// ---- as a table ----

static void print_line(const link_kind *link, tsr_text *out) {
  const tsr_comm_fit *fit = &link->fit;
  tsr_text_addf(out, "   alpha %s, ", tsr_format_seconds(fit->alpha).text);
  if (fit->beta > 0)
    tsr_text_addf(out, "beta %.3g ns/B (%.3g GB/s)\n", fit->beta * 1e9, 1e-9 / fit->beta);
  else
    tsr_text_add(out, "beta too small to measure\n");
  tsr_text_addf(out, "   mean error of the fit %.0f %%; rounds differed by up to %.0f %%\n",
                100 * fit->error, 100 * fit->noise);
  if (fit->error > rough || fit->noise > 4 * rough)
    tsr_text_add(
        out, "   rough: the machine was busy, or caches distort the fit; repeat when it is idle\n");
}

static void print_link(const link_kind *link, tsr_text *out) {
  const tsr_comm_fit *fit = &link->fit;
  tsr_text_addf(out, "\n between %s (%lld and %lld)\n", link->name, (long long)link->a,
                (long long)link->b);
  tsr_text_addf(out, "   %10s  %10s  %10s  %8s\n", "bytes", "measured", "fitted", "residual");
  for (int i = 0; i < TSR_MEASURE_SIZES; i++) {
    const double line = fit->alpha + fit->beta * (double)fit->bytes[i];
    tsr_text_addf(out, "   %10lld  %10s  %10s  %+6.0f %%\n", (long long)fit->bytes[i],
                  tsr_format_seconds(fit->seconds[i]).text, tsr_format_seconds(line).text,
                  100 * (line / fit->seconds[i] - 1));
  }
  print_line(link, out);
}

static void print_table(const calibration *c, tsr_text *out) {
  tsr_text_addf(out, " engine %s: %d rank%s, %lld device%s\n", c->engine, c->ranks,
                c->ranks == 1 ? "" : "s", (long long)c->devices, c->devices == 1 ? "" : "s");
  for (int i = 0; i < 2; i++) {
    if (c->links[i].b >= 0)
      print_link(&c->links[i], out);
    else
      tsr_text_addf(out, "\n between %s: nothing to measure\n", c->links[i].name);
  }
}

// ---- as data ----

static void write_link(const link_kind *link, tsr_json_writer *writer) {
  static const tsr_json_field fields[] = TSR_JSON_FIELDS(tsr_comm_fit, alpha, beta, error, noise);
  const tsr_comm_fit *fit = &link->fit;
  tsr_json_begin_object(writer);
  tsr_json_add_string(writer, "level", tsr_level_name(link->level));
  tsr_json_add_ints(writer, "devices", (const int64_t[]){link->a, link->b}, 2);
  tsr_json_add_fields(writer, fields, fit);
  tsr_json_add_ints(writer, "bytes", fit->bytes, TSR_MEASURE_SIZES);
  tsr_json_add_inline_array(writer, "seconds");
  for (int i = 0; i < TSR_MEASURE_SIZES; i++) tsr_json_write_double(writer, fit->seconds[i]);
  tsr_json_end_array(writer);
  tsr_json_end_object(writer);
}

static void print_json(const calibration *c, tsr_text *out) {
  tsr_json_writer writer;
  tsr_json_begin_document(&writer, out);
  tsr_json_add_string(&writer, "engine", c->engine);
  tsr_json_add_int(&writer, "ranks", c->ranks);
  tsr_json_add_array(&writer, "links");
  for (int i = 0; i < 2; i++)
    if (c->links[i].b >= 0) write_link(&c->links[i], &writer);
  tsr_json_end_array(&writer);
  tsr_json_write_key(&writer, "topology");
  tsr_topology_to_json(c->topology, &writer);
  tsr_json_end_document(&writer);
}

// ---- the command ----

// Two devices for each rank, to have both kinds of links. MPI is not started yet, so the number of
// ranks comes from the launcher's variables.
static int64_t default_devices(const cli_args *args) {
  static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
  const char *engine = cli_value(args, "engine");
  if (!engine || strcmp(engine, "mpi") != 0) return tsr_cpu_count() > 2 ? tsr_cpu_count() : 2;
  for (int i = 0; variables[i]; i++) {
    const char *text = getenv(variables[i]);
    const long ranks = text ? strtol(text, NULL, 10) : 0;
    if (ranks > 0 && ranks < 1 << 16) return 2 * ranks;
  }
  return 2;
}

static tsr_status write_topology(const calibration *c, const char *path) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer writer;
  tsr_json_writer_init(&writer, &text, 2);
  tsr_topology_to_json(c->topology, &writer);
  tsr_text_add_char(&text, '\n');
  return cli_finish(NULL, &text, path);
}

static tsr_status print_all(const cli_args *args, const calibration *c) {
  const char *path = cli_value(args, "output");
  if (path) TSR_TRY(write_topology(c, path));
  if (path && !strcmp(path, "-")) return NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  if (cli_has(args, "json"))
    print_json(c, &text);
  else
    print_table(c, &text);
  if (path && !cli_has(args, "json"))
    tsr_text_addf(&text, "\n written to %s, for --topology\n", path);
  return cli_finish(NULL, &text, NULL);
}

static tsr_status calibrate(const cli_args *args, tsr_comm *comm, int64_t most) {
  calibration c = {.engine = tsr_comm_engine_name(comm),
                   .ranks = tsr_comm_rank_count(comm),
                   .devices = tsr_comm_device_count(comm)};
  TSR_TRY(measure(comm, most, &c));
  if (tsr_comm_rank(comm) != 0) return NULL;
  tsr_status status = make_topology(comm, &c);
  if (!status) status = print_all(args, &c);
  tsr_topology_release(c.topology);
  return status;
}

static tsr_status run_calibrate(cli_args *args) {
  int64_t devices = 0, most = 0;
  tsr_comm *comm = NULL;
  TSR_TRY(cli_int(args, "devices", default_devices(args), &devices));
  if (cli_has(args, "most")) TSR_TRY(cli_bytes(args, "most", &most));
  TSR_TRY(cli_open_comm(args, devices, &comm));
  tsr_status status = cli_end_together(args, comm, calibrate(args, comm, most));
  tsr_comm_release(comm);
  return status;
}

// clang-format off
static const cli_option options[] = {
    {"devices", 'd', "N", "1..", "number of devices (default: one per core; with MPI, two per rank)"},
    {"most", 0, "SIZE", NULL, "size of the largest message (default: 16M)"},
    {"output", 'o', "FILE", NULL, "write the topology to FILE (- is standard output)"},
    CLI_OPTION_JSON,
    CLI_OPTIONS_ENGINE,
    {0},
};
// clang-format on

const cli_command cli_cmd_calibrate = {
    .name = "calibrate",
    .summary = "measure the cost of messages on this machine, for --topology",
    .usage = "[options]",
    .options = options,
    .description =
        "A message of n bytes takes about alpha + beta * n seconds. Eight sizes are timed\n"
        "between two devices of a process and, under mpirun with --engine mpi, between two\n"
        "ranks; the fastest of five rounds counts. The file describes a machine with that many\n"
        "devices, and every --topology accepts it.\n",
    .examples =
        "tessera calibrate\n"
        "tessera calibrate --devices 8 -o here.json\n"
        "tessera redistribute --from x --to '_, x' -s 64,64 -m x=8 --topology here.json\n"
        "mpirun -n 4 tessera calibrate --engine mpi -o cluster.json\n",
    .run = run_calibrate,
};
