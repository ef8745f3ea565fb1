// `tessera show`: which device holds which piece of a tensor.
#include "base/text_internal.h"
#include "command/command.h"
#include "element/dtype_internal.h"
#include "json/json.h"
#include "layout/layout_internal.h"
#include "mesh/mesh_internal.h"
#include "spec/spec_internal.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sharding.h"

// Limits of the picture and the table; --all lifts that of devices.
enum { MOST_DEVICES = 64, MOST_TEXT_ROWS = 24, MOST_SPANS = 64, MOST_PIECES = 6 };

// The mesh of --mesh, or that of a DTensor's text.
static tsr_status open_mesh(const cli_args *args, tsr_mesh **out_mesh) {
  tsr_shape unused;
  bool known = true;
  tsr_topology *topology = NULL;
  if (cli_has(args, "mesh")) return cli_open_mesh(args, out_mesh);
  if (cli_has(args, "topology")) TSR_TRY(tsr_topology_open(cli_value(args, "topology"), &topology));
  const tsr_status status = cli_find_context(args->positional[1], cli_value(args, "from"), topology,
                                             out_mesh, &unused, &known);
  tsr_topology_release(topology);
  return status || *out_mesh ? status : cli_open_mesh(args, out_mesh);
}

static tsr_status open_layout(const cli_args *args, tsr_layout **out_layout) {
  tsr_shape shape;
  TSR_TRY(tsr_shape_parse(args->positional[0], &shape));
  tsr_policy policy = TSR_POLICY_ERROR;
  if (cli_has(args, "policy")) TSR_TRY(tsr_policy_parse(cli_value(args, "policy"), &policy));
  tsr_mesh *mesh = NULL;
  tsr_status status = open_mesh(args, &mesh);
  if (!status)
    status = cli_read_layout(args->positional[1], cli_value(args, "from"), mesh, &shape, policy,
                             out_layout);
  tsr_mesh_release(mesh);
  return status;
}

// ---- pieces ----

static void write_piece(tsr_json_writer *writer, const tsr_layout *layout, const tsr_piece *piece) {
  const int rank = tsr_layout_rank(layout);
  tsr_json_begin_object(writer);
  tsr_json_write_key(writer, "ranges");
  tsr_ranges_to_json(piece->ranges, rank, writer);
  tsr_json_add_int(writer, "offset", piece->offset);
  tsr_json_add_ints(writer, "strides", piece->strides, (size_t)rank);
  tsr_json_add_bool(writer, "owned", piece->owned);
  tsr_json_end_object(writer);
}

static tsr_status write_device(tsr_json_writer *writer, const tsr_layout *layout,
                               int64_t position) {
  const int64_t shard = tsr_layout_shard(layout, position);
  tsr_shape shape;
  tsr_layout_shard_shape(layout, shard, &shape);
  tsr_pieces pieces;
  TSR_TRY(tsr_pieces_init(&pieces, layout, shard));
  tsr_json_begin_object(writer);
  tsr_json_add_int(writer, "device", tsr_layout_device_at(layout, position));
  tsr_json_add_int(writer, "position", position);
  tsr_json_add_int(writer, "process", tsr_mesh_process(tsr_layout_mesh(layout), position));
  tsr_json_add_int(writer, "shard", shard);
  tsr_json_add_int(writer, "replica", tsr_layout_replica_id(layout, position));
  tsr_json_add_ints(writer, "shard_shape", shape.dims, (size_t)shape.rank);
  tsr_json_add_array(writer, "pieces");
  for (tsr_piece piece; tsr_pieces_next(&pieces, &piece);) write_piece(writer, layout, &piece);
  tsr_json_end_array(writer);
  tsr_json_end_object(writer);
  tsr_pieces_deinit(&pieces);
  return NULL;
}

static tsr_status print_json(const tsr_layout *layout, int64_t only, tsr_text *out) {
  const tsr_shape shape = tsr_layout_shape(layout);
  tsr_json_writer writer;
  tsr_json_begin_document(&writer, out);
  tsr_json_add_ints(&writer, "shape", shape.dims, (size_t)shape.rank);
  tsr_json_write_key(&writer, "spec");
  tsr_spec_to_json(tsr_sharding_spec(tsr_layout_sharding(layout)), &writer);
  tsr_json_write_key(&writer, "mesh");
  tsr_mesh_to_json(tsr_layout_mesh(layout), &writer);
  tsr_json_add_string(&writer, "policy", tsr_policy_name(tsr_layout_policy(layout)));
  tsr_json_add_int(&writer, "shards", tsr_layout_shard_count(layout));
  tsr_json_add_array(&writer, "devices");
  const int64_t count = tsr_layout_device_count(layout);
  for (int64_t p = only < 0 ? 0 : only; p < (only < 0 ? count : only + 1); p++)
    TSR_TRY(write_device(&writer, layout, p));
  tsr_json_end_array(&writer);
  tsr_json_end_document(&writer);
  return NULL;
}

// ---- tables ----

// `frame` is the format of a row, as text or HTML.
static tsr_status print_row(const tsr_layout *layout, int64_t position, const char *frame,
                            tsr_text *out) {
  const int64_t shard = tsr_layout_shard(layout, position);
  tsr_text shape_text = TSR_TEXT_EMPTY, pieces = TSR_TEXT_EMPTY;
  tsr_shape shape;
  tsr_layout_shard_shape(layout, shard, &shape);
  tsr_shape_print(&shape, &shape_text);
  tsr_status status = tsr_shard_print_pieces(layout, shard, MOST_PIECES, &pieces);
  if (!status)
    tsr_text_addf(out, frame, (long long)tsr_layout_device_at(layout, position),
                  (long long)tsr_mesh_process(tsr_layout_mesh(layout), position), (long long)shard,
                  (long long)tsr_layout_replica_id(layout, position), tsr_text_string(&shape_text),
                  tsr_text_string(&pieces));
  tsr_text_deinit(&shape_text);
  tsr_text_deinit(&pieces);
  return status;
}

static tsr_status print_table(const tsr_layout *layout, int64_t first, int64_t end, bool html,
                              tsr_text *out) {
  const char *frame = html ? "<tr><td>%lld</td><td>%lld</td><td>%lld</td><td>%lld</td><td>%s</td>"
                             "<td>%s</td></tr>\n"
                           : " %6lld  %7lld  %6lld  %7lld  %-14s  %s\n";
  tsr_text_add(out, html ? "<table><tr><th>device</th><th>process</th><th>shard</th>"
                           "<th>replica</th><th>shape</th><th>holds</th></tr>\n"
                         : " device  process   shard  replica  shape           holds\n");
  for (int64_t p = first; p < end; p++) TSR_TRY(print_row(layout, p, frame, out));
  if (html) tsr_text_add(out, "</table>\n");
  return NULL;
}

static tsr_status print_devices(const tsr_layout *layout, bool all, bool html, tsr_text *out) {
  const int64_t count = tsr_layout_device_count(layout);
  const int64_t shown = all || count <= MOST_DEVICES ? count : MOST_DEVICES;
  TSR_TRY(print_table(layout, 0, shown, html, out));
  if (shown < count)
    tsr_text_addf(out, html ? "<p>and %lld more devices</p>\n" : " and %lld more devices (--all)\n",
                  (long long)(count - shown));
  return NULL;
}

static tsr_status print_bytes(const tsr_layout *layout, const char *dtype_name, tsr_text *out) {
  tsr_dtype dtype = TSR_DTYPE_NONE;
  TSR_TRY(tsr_dtype_parse(dtype_name, &dtype));
  int64_t total = 0, most = 0;
  const tsr_shape shape = tsr_layout_shape(layout);
  TSR_TRY(tsr_shape_bytes(&shape, dtype, &total));
  for (int64_t s = 0; s < tsr_layout_shard_count(layout); s++) {
    int64_t bytes = 0;
    TSR_TRY(tsr_dtype_bytes(dtype, tsr_layout_buffer_elements(layout, s), &bytes));
    if (bytes > most) most = bytes;
  }
  tsr_text_addf(out, " %s: %lld bytes in total, at most %lld on a device\n\n",
                tsr_dtype_info_of(dtype)->name, (long long)total, (long long)most);
  return NULL;
}

// ---- the command ----

static tsr_status read_dims(const cli_args *args, int *row_dim, int *column_dim) {
  *row_dim = *column_dim = -1;
  if (!cli_has(args, "dims")) return NULL;
  int64_t dims[2];
  int count = 0;
  TSR_TRY(cli_ints("--dims", cli_value(args, "dims"), 2, dims, &count));
  if (count != 2 || dims[0] < 0 || dims[1] < 0 || dims[0] >= TSR_MAX_RANK ||
      dims[1] >= TSR_MAX_RANK)
    return tsr_fail(BAD_ARGUMENT, "--dims is \"%s\", wanted two dimensions such as 0,2",
                    cli_value(args, "dims"));
  *row_dim = (int)dims[0];
  *column_dim = (int)dims[1];
  return NULL;
}

static tsr_status print_picture_file(const tsr_figure *figure, const tsr_layout *layout, bool html,
                                     const char *path) {
  tsr_text text = TSR_TEXT_EMPTY, body = TSR_TEXT_EMPTY;
  tsr_status status = NULL;
  if (html) {
    status = print_devices(layout, true, true, &body);
    if (!status) tsr_figure_print_html(figure, tsr_text_string(&body), &text);
  } else {
    tsr_figure_print_svg(figure, &text);
  }
  tsr_text_deinit(&body);
  return cli_finish(status, &text, path);
}

static tsr_status print_picture(const cli_args *args, const tsr_layout *layout) {
  int row_dim, column_dim;
  TSR_TRY(read_dims(args, &row_dim, &column_dim));
  const char *svg = cli_value(args, "svg"), *html = cli_value(args, "html");
  const int width = cli_width();
  tsr_figure_limits limits = {MOST_TEXT_ROWS, width / 6, 8};
  if (svg || html) limits = (tsr_figure_limits){MOST_SPANS, MOST_SPANS, 24};
  tsr_figure figure = {0};
  TSR_TRY(tsr_figure_from_layout(layout, row_dim, column_dim, limits, &figure));
  tsr_status status = NULL;
  if (svg) status = print_picture_file(&figure, layout, false, svg);
  if (html && !status) status = print_picture_file(&figure, layout, true, html);
  tsr_text text = TSR_TEXT_EMPTY;
  if (!svg && !html) {
    tsr_figure_print_text(&figure, cli_use_color(args), width, &text);
    tsr_text_add_char(&text, '\n');
    if (cli_has(args, "dtype")) status = print_bytes(layout, cli_value(args, "dtype"), &text);
    if (!status) status = print_devices(layout, cli_has(args, "all"), false, &text);
    if (!status) status = cli_output_figure(&text, NULL);
  }
  tsr_text_deinit(&text);
  tsr_figure_deinit(&figure);
  return status;
}

static tsr_status find_device(const cli_args *args, const tsr_layout *layout,
                              int64_t *out_position) {
  *out_position = -1;
  if (!cli_has(args, "device")) return NULL;
  int64_t id = 0;
  TSR_TRY(cli_int(args, "device", 0, &id));
  *out_position = tsr_layout_device_find(layout, id);
  if (*out_position >= 0) return NULL;
  const tsr_mesh *mesh = tsr_layout_mesh(layout);
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_mesh_print(mesh, &text);
  tsr_status status =
      tsr_fail(UNKNOWN_DEVICE, "device %lld is not in mesh %s of %lld devices", (long long)id,
               tsr_text_string(&text), (long long)tsr_mesh_device_count(mesh));
  tsr_text_deinit(&text);
  return status;
}

// JSON, SVG and HTML exclude each other, and pictures are limited in devices.
static tsr_status check_output(const cli_args *args, const tsr_layout *layout) {
  TSR_TRY(cli_check_one_of(args, (const char *const[]){"json", "svg", NULL}));
  TSR_TRY(cli_check_one_of(args, (const char *const[]){"json", "html", NULL}));
  TSR_TRY(cli_check_one_of(args, (const char *const[]){"device", "svg", NULL}));
  TSR_TRY(cli_check_one_of(args, (const char *const[]){"device", "html", NULL}));
  const int64_t devices = tsr_layout_device_count(layout);
  if (devices > CLI_MOST_DEVICES && !cli_has(args, "device"))
    return tsr_fail(TOO_LARGE, "%lld devices are too many to draw; --device shows one of them",
                    (long long)devices);
  return NULL;
}

static tsr_status show(cli_args *args, const tsr_layout *layout) {
  int64_t only = -1;
  TSR_TRY(check_output(args, layout));
  TSR_TRY(find_device(args, layout, &only));
  if (cli_has(args, "check")) TSR_TRY(tsr_layout_check(layout));
  tsr_text dropped = TSR_TEXT_EMPTY;
  tsr_layout_explain(layout, &dropped);
  fputs(tsr_text_string(&dropped), stderr);
  tsr_text_deinit(&dropped);
  if (!cli_has(args, "json") && only < 0) return print_picture(args, layout);
  return cli_has(args, "json") ? print_json(layout, only, &args->out)
                               : print_table(layout, only, only + 1, false, &args->out);
}

static tsr_status run_show(cli_args *args) {
  tsr_layout *layout = NULL;
  TSR_TRY(open_layout(args, &layout));
  tsr_status status = show(args, layout);
  tsr_layout_release(layout);
  return status;
}

// clang-format off
static const cli_option options[] = {
    CLI_OPTION_MESH,
    CLI_OPTION_TOPOLOGY,
    CLI_OPTION_NOTATION,
    CLI_OPTION_POLICY('p', "error"),
    {"device", 'd', "ID", NULL, "show only this device"},
    {"dims", 0, "ROW,COLUMN", NULL, "the two dimensions to draw (default: those cut most)"},
    {"dtype", 0, "TYPE", NULL, "element type, to show bytes per device"},
    {"all", 'a', NULL, NULL, "list every device"},
    {"check", 0, NULL, NULL, "prove that the pieces cover the tensor exactly once"},
    CLI_OPTION_JSON,
    CLI_OPTION_SVG,
    {"html", 0, "FILE", NULL, "write a page with the picture and the table"},
    CLI_OPTION_COLOR,
    {0},
};
// clang-format on

const cli_command cli_cmd_show = {
    .name = "show",
    .summary = "show which device holds which piece of a tensor",
    .usage = "SHAPE SPEC --mesh MESH [options]",
    .options = options,
    .description =
        "SPEC is written in any notation: short (data, _, fsdp+tp), JAX (P('data', None)),\n"
        "Shardy (#sdy.sharding<...>), XLA ({devices=[2,4]<=[8]}) or PyTorch ((Shard(dim=0),\n"
        "Replicate()), S(0)R, or a printed DTensor, whose mesh is used if --mesh is not given).\n"
        "Cuts that are not even are written after a slash: tp/cyclic(64), dp/sizes(3,3,2),\n"
        "tp/parts(q:4096/128, k:512/128*2); dp;tp nests.\n",
    .examples =
        "tessera show 8,16 'data, model' --mesh data=2,model=4\n"
        "tessera show 10,4 'dp;tp' --mesh dp=2,tp=4 --policy uneven\n"
        "tessera show 4096,4096 'fsdp, tp' -m fsdp=16,tp=8 --dtype bf16 --svg weight.svg\n",
    .run = run_show,
};
