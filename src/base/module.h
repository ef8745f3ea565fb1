// Modules: libraries of this project that are loaded when they are first needed, so that neither
// the library nor the command needs what they link (an MPI, a BLAS).
#ifndef TESSERA_BASE_MODULE_H
#define TESSERA_BASE_MODULE_H

#include <stdbool.h>

// Loads libtessera_<name> of this version from the folder of this code, from that of the command,
// from where an installed command has its libraries, or from where the system looks. A name with a
// slash is the path of a file. `global` shares its symbols with libraries that are loaded later.
// NULL if there is none, and where it cannot be loaded: dlerror then says why, for files that
// exist. It stays loaded until dlclose.
void *tsr_module_load(const char *name, bool global);
// The address of a function or object in a module, copied to `*out_address` (a pointer); false if
// it has none.
bool tsr_module_find(void *module, const char *symbol, void *out_address);

#endif
