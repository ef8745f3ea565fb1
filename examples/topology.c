// Two hosts with four GPUs each: how fast its links are, which devices work together along an
// axis, and what a collective over that axis costs.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/engine.h>
#include <tessera/tessera.h>

static void show_links(const tsr_topology *machine) {
  const tsr_level levels[] = {TSR_LEVEL_HOST, TSR_LEVEL_NET};
  for (int i = 0; i < 2; i++) {
    const tsr_link *link = tsr_topology_link(machine, levels[i]);
    printf("%s: %.1f us for 1 MB\n", tsr_level_name(levels[i]),
           1e6 * (link->alpha + 1e6 * link->beta));
  }
}

static tsr_status show_axis(const tsr_mesh *mesh, const char *axis) {
  TSR_OWN(groups, groups);
  double seconds = 0;
  TSR_TRY(tsr_mesh_groups(mesh, &axis, 1, &groups));
  TSR_TRY(tsr_mesh_collective_cost(mesh, TSR_COLLECTIVE_ALL_GATHER, &axis, 1, 1000000, &seconds));
  printf("%s: %" PRId64 " groups of %" PRId64 ", the first is", axis, groups.count, groups.size);
  for (int64_t i = 0; i < groups.size; i++) {
    const int64_t device = groups.members[i];
    printf(" %" PRId64, device);
  }
  printf("; an all-gather of 1 MB takes %.0f us\n", 1e6 * seconds);
  return NULL;
}

static tsr_status run(void) {
  TSR_OWN(topology, machine);
  TSR_OWN(mesh, mesh);
  TSR_TRY(tsr_topology_parse("gpu:2x4:h100", &machine));
  TSR_TRY(tsr_mesh_parse("data=2,model=4", machine, &mesh));
  show_links(machine);
  TSR_TRY(show_axis(mesh, "data"));
  return show_axis(mesh, "model");
}

int main(void) { return tsr_status_exit(run()); }
