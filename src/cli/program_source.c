// Programs as commands open them, and how they are distinguished from checkpoints.
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text_internal.h"
#include "bytecode/bytecode.h"
#include "bytecode/export_file.h"
#include "cli/sources.h"
#include "tessera/own.h"
#include "tessera/program/partitioned.h"

// ---- recognising ----

enum { HEAD_BYTES = 64 };

// A pipe is not waited for: without O_NONBLOCK, opening it blocks until it has a writer.
static bool read_head(const char *path, char *head, size_t *out_length) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat about;
  const bool regular = file >= 0 && !fstat(file, &about) && S_ISREG(about.st_mode);
  const ssize_t got = regular ? read(file, head, HEAD_BYTES) : -1;
  if (file >= 0) close(file);
  *out_length = got > 0 ? (size_t)got : 0;
  return got >= 0;
}

// A safetensors file begins with the length of its JSON header; others with a magic number.
static bool is_checkpoint_head(const char *head, size_t length) {
  return (length > 8 && head[8] == '{') || (length && head[0] == '{') ||
         (length > 5 && !memcmp(head, "\x93NUMPY", 6)) || (length > 1 && !memcmp(head, "PK", 2));
}

static bool is_text_head(const char *head, size_t length) {
  static const char *const begins[] = {"module", "func", "sdy.", "//", "#", "!", "\""};
  size_t at = 0;
  while (at < length && strchr(" \t\r\n", head[at])) at++;
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
    if (length - at >= strlen(begins[i]) && !memcmp(head + at, begins[i], strlen(begins[i])))
      return true;
  return false;
}

// The table of an export file may lie anywhere in it, so the whole file is needed.
static bool is_export_file(const char *path) {
  char *bytes = NULL;
  size_t length = 0;
  tsr_status status = tsr_file_read(path, &bytes, &length);
  const bool is = !status && tsr_export_is(bytes, length);
  tsr_status_free(status);
  free(bytes);
  return is;
}

// The file of a program that a folder holds, as those of `tessera run` do; NULL = it holds none.
static tsr_status find_in_folder(const char *folder, char **out_file) {
  static const char *const names[] = {"program.mlir", "program.mlirbc", "exported.bin"};
  struct stat about;
  *out_file = NULL;
  if (stat(folder, &about) || !S_ISDIR(about.st_mode)) return NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && !*out_file; i++) {
    tsr_text path = TSR_TEXT_EMPTY;
    tsr_text_addf(&path, "%s/%s", folder, names[i]);
    TSR_TRY(tsr_text_take(&path, out_file));
    if (!stat(*out_file, &about) && S_ISREG(about.st_mode)) continue;
    free(*out_file);
    *out_file = NULL;
  }
  return NULL;
}

static bool is_program_folder(const char *path) {
  char *file = NULL;
  tsr_status_free(find_in_folder(path, &file));
  const bool is = file != NULL;
  free(file);
  return is;
}

bool cli_is_program(const char *path) {
  char head[HEAD_BYTES];
  size_t length = 0;
  if (!strcmp(path, "-") || tsr_ends_with(path, ".mlir") || is_program_folder(path)) return true;
  if (!read_head(path, head, &length)) return false;
  if (tsr_bytecode_is(head, length)) return true;
  if (is_checkpoint_head(head, length)) return false;
  return is_text_head(head, length) || is_export_file(path);
}

// ---- opening ----

const char *cli_program_name(const char *path) { return strcmp(path, "-") != 0 ? path : "<stdin>"; }

tsr_status cli_open_program(const char *path, bool unchecked, tsr_program **out_program) {
  tsr_program_options options = TSR_PROGRAM_OPTIONS;
  char *bytes = NULL;
  size_t length = 0;
  options.unchecked = unchecked;
  if (strcmp(path, "-") != 0) {
    char *file = NULL;
    TSR_TRY(find_in_folder(path, &file));
    tsr_status status = tsr_program_open(file ? file : path, &options, out_program);
    free(file);
    return status;
  }
  TSR_TRY(tsr_file_read("/dev/stdin", &bytes, &length));
  tsr_status status =
      tsr_program_read(cli_program_name(path), bytes, length, &options, out_program);
  free(bytes);
  return status;
}

tsr_status cli_print_program(const cli_args *args, const tsr_program *program, tsr_text *out) {
  tsr_program_print_options options = TSR_PROGRAM_PRINT_OPTIONS;
  options.generic = cli_has(args, "generic");
  options.locations = cli_has(args, "locations");
  TSR_TRY(cli_int(args, "elide", 0, &options.elide_elements));
  return tsr_program_print(program, &options, out);
}

int64_t cli_device_count(const tsr_program *program) {
  int64_t most = 1;
  for (int64_t i = 0; i < tsr_program_mesh_count(program); i++) {
    tsr_mesh *mesh = NULL;
    tsr_status status = tsr_program_mesh_at(program, i, &mesh);
    tsr_status_free(status);
    if (status) continue;
    const int64_t count = tsr_mesh_device_count(mesh);
    if (count > most) most = count;
    tsr_mesh_release(mesh);
  }
  return most;
}

// Gives a program that names no mesh those that are written in its shardings: XLA's older ones, or
// Shardy's with meshes inside.
static tsr_status name_meshes(tsr_program **program) {
  TSR_OWN(program, named);
  if (cli_device_count(*program) > 1) return NULL;
  TSR_TRY(tsr_program_transform(*program, "import-gspmd,sdy-lift-inlined-meshes", &named));
  if (cli_device_count(named) < 2) return NULL;
  tsr_program_release(*program);
  *program = tsr_program_retain(named);
  return NULL;
}

tsr_status cli_put_on_mesh(const cli_args *args, tsr_program **program) {
  tsr_partition_options options = TSR_PARTITION_OPTIONS;
  TSR_OWN(mesh, mesh);
  TSR_OWN(partitioned, partitioned);
  if (!cli_has_mesh(args)) return name_meshes(program);
  TSR_TRY(cli_open_mesh(args, &mesh));
  options.mesh = mesh;
  TSR_TRY(tsr_program_partition(*program, &options, &partitioned));
  tsr_program *moved = tsr_program_retain(tsr_partitioned_lower(partitioned, TSR_LOWERED_WHOLE));
  tsr_program_release(*program);
  *program = moved;
  return NULL;
}
