// Opens any form of a topology that a user may write. Unlike the constructors, which must accept
// lists that builders reject, this checks that the machine is valid.
#include <string.h>
#include <unistd.h>

#include "base/text_internal.h"
#include "topology/topology_internal.h"

static tsr_status read_file(const char *path, tsr_topology **out_topology) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_read_file(path, &doc));
  tsr_status status = tsr_topology_from_json(tsr_json_root(doc), out_topology);
  tsr_json_destroy(doc);
  return tsr_note(status, "%s", path);
}

static tsr_status open_text(const char *text, tsr_topology **out_topology) {
  if (!strcmp(text, "machine")) return tsr_topology_detect(out_topology);
  if (strchr(text, '/') || tsr_ends_with(text, ".json")) return read_file(text, out_topology);
  tsr_status status = tsr_topology_parse(text, out_topology);
  if (tsr_status_cause(status) != TSR_CAUSE_UNKNOWN_PLATFORM) return status;
  tsr_status_free(status);
  if (*text && !access(text, R_OK)) return read_file(text, out_topology);
  return tsr_fail(UNKNOWN_PLATFORM,
                  "\"%s\" is neither a machine (cpu:8, gpu:4x8, tpu-v4:4x4x4, machine) nor a file",
                  text);
}

tsr_status tsr_topology_open(const char *text, tsr_topology **out_topology) {
  tsr_topology *topology = NULL;
  TSR_TRY(open_text(text, &topology));
  tsr_status status = tsr_topology_check(topology);
  if (status) {
    tsr_topology_release(topology);
    return tsr_note(status, "%s", text);
  }
  *out_topology = topology;
  return NULL;
}
