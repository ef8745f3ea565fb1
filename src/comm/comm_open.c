// Engines by name. Each MPI has an engine library of its own, loaded here, so that neither this
// library nor the command needs an MPI to start.
//
// The launcher determines the MPI, by the environment variables it sets. The library is next to
// this code, or where an installed command has its libraries.
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tessera/comm.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define SUFFIX ".so." TEXT(TSR_VERSION_MAJOR) "." TEXT(TSR_VERSION_MINOR)

enum { PLACES = 4 };

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

// The MPI to load: TESSERA_MPI, else the launcher's; NULL without a launcher.
static const char *wanted_mpi(void) {
  const char *said = secure_getenv("TESSERA_MPI");
  if (said && *said) return said;
  for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
    if (getenv(launchers[i].variable)) return launchers[i].mpi;
  return NULL;
}

// The folder of a file, with the slash; "" if there is none.
static void folder_of(const char *file, char out[PATH_MAX]) {
  const char *slash = strrchr(file, '/');
  const size_t length = slash ? (size_t)(slash - file) + 1 : 0;
  if (length >= PATH_MAX) {
    out[0] = '\0';
    return;
  }
  memcpy(out, file, length);
  out[length] = '\0';
}

// The folders to search, the system's own ("") last; returns their number.
static int list_folders(char out[PLACES][PATH_MAX]) {
  int count = 0;
  Dl_info here;
  if (dladdr(launchers, &here) && here.dli_fname && strchr(here.dli_fname, '/'))
    folder_of(here.dli_fname, out[count++]);
  char program[PATH_MAX] = "", folder[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length > 0) {
    program[length] = '\0';
    folder_of(program, folder);
    memcpy(out[count++], folder, sizeof folder);
    const int used = snprintf(out[count], PATH_MAX, "%s" TSR_LIBRARIES_FROM_COMMAND "/", folder);
    if (used > 0 && used < PATH_MAX) count++;
  }
  out[count++][0] = '\0';
  return count;
}

// MPI's own plug-ins need its symbols to be global.
static void *load_file(const char *path) { return dlopen(path, RTLD_NOW | RTLD_GLOBAL); }

static void *load_named(const char *mpi) {
  char folders[PLACES][PATH_MAX];
  const int count = list_folders(folders);
  for (int i = 0; i < count; i++) {
    char path[PATH_MAX];
    const int used = snprintf(path, sizeof path, "%slibtessera_mpi_%s" SUFFIX, folders[i], mpi);
    if (used < 0 || used >= (int)sizeof path) continue;
    if (folders[i][0] && access(path, R_OK)) continue;  // dlerror reports existing files only
    void *library = load_file(path);
    if (library || folders[i][0]) return library;
  }
  return NULL;
}

static tsr_status load(const char *mpi, void **out_library) {
  void *library = NULL;
  if (mpi) {
    library = strchr(mpi, '/') ? load_file(mpi) : load_named(mpi);
  } else {
    for (size_t i = 0; !library && i < sizeof known / sizeof *known; i++)
      library = load_named(known[i]);
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
  void *symbol = dlsym(library, "tsr_version");
  memcpy(&version, &symbol, sizeof version);
  if (version && !strcmp(version(), TSR_VERSION)) return NULL;
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
  void *symbol = dlsym(library, "tsr_comm_open_mpi");
  memcpy(&function, &symbol, sizeof function);
  if (!function) return tsr_fail(NOT_FOUND, "the engine has no function tsr_comm_open_mpi");
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
