// Modules are found by the place of the code that loads them, then as the system finds libraries.
#include "base/module.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tessera/api.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define SUFFIX ".so." TEXT(TSR_VERSION_MAJOR) "." TEXT(TSR_VERSION_MINOR)

enum { PLACES = 4 };

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
  static const char here_mark = 0;
  int count = 0;
  Dl_info here;
  if (dladdr(&here_mark, &here) && here.dli_fname && strchr(here.dli_fname, '/'))
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

static void *load_named(const char *name, int flags) {
  char folders[PLACES][PATH_MAX];
  const int count = list_folders(folders);
  for (int i = 0; i < count; i++) {
    char path[PATH_MAX];
    const int used = snprintf(path, sizeof path, "%slibtessera_%s" SUFFIX, folders[i], name);
    if (used < 0 || used >= (int)sizeof path) continue;
    if (folders[i][0] && access(path, R_OK)) continue;  // dlerror reports existing files only
    void *library = dlopen(path, flags);
    if (library || folders[i][0]) return library;
  }
  return NULL;
}

void *tsr_module_load(const char *name, bool global) {
  const int flags = RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL);
  return strchr(name, '/') ? dlopen(name, flags) : load_named(name, flags);
}

bool tsr_module_find(void *module, const char *symbol, void *out_address) {
  void *address = dlsym(module, symbol);
  memcpy(out_address, &address, sizeof address);
  return address != NULL;
}
