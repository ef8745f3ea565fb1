// Engines by name. Each MPI has an engine library of its own, loaded here, so that neither this
// library nor the command needs an MPI to start.
//
// The launcher determines the MPI, by the environment variables it sets. base/module.h says where
// its library is looked for.
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/module.h"
#include "comm/comm_internal.h"
#include "tessera/comm.h"

typedef tsr_status open_function(int64_t device_count, const tsr_comm_options *options,
                                 tsr_comm **out_comm);

// Variables that launchers set, and their MPI. PMIx is Open MPI's, PMI is MPICH's.
static const struct {
  const char *variable, *mpi;
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "openmpi"},
    {"PMIX_RANK", "openmpi"},
    {"PMI_RANK", "mpich"},
    {"PMI_SIZE", "mpich"},
};

static const char *const known[] = {"openmpi", "mpich"};

static const char *launcher_mpi(void) {
  for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
    if (getenv(launchers[i].variable)) return launchers[i].mpi;
  return NULL;
}

bool tsr_comm_is_launched(void) { return launcher_mpi() != NULL; }

// The MPI to load: TESSERA_MPI, else the launcher's; NULL without a launcher.
static const char *wanted_mpi(void) {
  const char *said = secure_getenv("TESSERA_MPI");
  return said && *said ? said : launcher_mpi();
}

// MPI's own plug-ins need its symbols to be global.
static void *load_mpi(const char *mpi) {
  if (strchr(mpi, '/')) return tsr_module_load(mpi, true);
  char name[NAME_MAX];
  const int used = snprintf(name, sizeof name, "mpi_%s", mpi);
  return used > 0 && used < (int)sizeof name ? tsr_module_load(name, true) : NULL;
}

static tsr_status load(const char *mpi, void **out_library) {
  void *library = NULL;
  if (mpi) {
    library = load_mpi(mpi);
  } else {
    for (size_t i = 0; !library && i < sizeof known / sizeof *known; i++)
      library = load_mpi(known[i]);
  }
  if (!library) {
    const char *why = dlerror();
    return tsr_fail(NOT_FOUND, "the engine for %s cannot be loaded: %s",
                    mpi ? mpi : "openmpi or mpich", why ? why : "it is not installed");
  }
  *out_library = library;
  return NULL;
}

// Both share structures, so the versions must be equal.
static tsr_status check_version(void *library) {
  const char *(*version)(void) = NULL;
  if (tsr_module_find(library, "tsr_version", &version) && !strcmp(version(), TSR_VERSION))
    return NULL;
  return tsr_fail(UNSUPPORTED, "the engine is of Tessera %s, wanted %s",
                  version ? version() : "(unknown)", TSR_VERSION);
}

static tsr_status open_mpi(int64_t device_count, const tsr_comm_options *options,
                           tsr_comm **out_comm) {
  void *library = NULL;
  TSR_TRY(load(wanted_mpi(), &library));
  // Stays loaded: an MPI cannot be unloaded.
  TSR_TRY(check_version(library));
  open_function *function = NULL;
  if (!tsr_module_find(library, "tsr_comm_open_mpi", &function))
    return tsr_fail(NOT_FOUND, "the engine has no function tsr_comm_open_mpi");
  return function(device_count, options, out_comm);
}

tsr_status tsr_comm_open(const char *engine, int64_t device_count, const tsr_comm_options *options,
                         tsr_comm **out_comm) {
  // 0 devices = one per rank: here one.
  if (!strcmp(engine, "threads"))
    return tsr_comm_create(device_count ? device_count : 1, options, out_comm);
  if (!strcmp(engine, "mpi")) return open_mpi(device_count, options, out_comm);
  return tsr_fail(BAD_ARGUMENT, "engine \"%s\", wanted threads or mpi", engine);
}
