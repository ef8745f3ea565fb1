// The current mesh of a thread: a scope of base that holds one reference.
#include "base/scope.h"
#include "mesh/mesh_internal.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/scope.h"
#include "tessera/mesh.h"

static void release(void *mesh) { tsr_mesh_release(mesh); }

tsr_status tsr_mesh_enter(const tsr_mesh *mesh, tsr_scope *out_scope) {
  tsr_mesh *held = tsr_mesh_retain(mesh);
  const tsr_status status = tsr_scope_enter(TSR_SCOPE_MESH, held, release, out_scope);
  if (status) tsr_mesh_release(held);
  return status;
}

const tsr_mesh *tsr_mesh_current(void) { return tsr_scope_current(TSR_SCOPE_MESH); }

bool tsr_mesh_is_current(void) { return tsr_mesh_current() != NULL; }

tsr_status tsr_mesh_require(const tsr_mesh **out_mesh) {
  const tsr_mesh *mesh = tsr_mesh_current();
  if (!mesh) return tsr_fail(NO_MESH_ACTIVE, "no mesh is active; enter one with tsr_mesh_enter");
  *out_mesh = mesh;
  return NULL;
}

bool tsr_mesh_current_has(const char *const *names, int name_count) {
  const tsr_mesh *mesh = tsr_mesh_current();
  for (int i = 0; i < name_count; i++)
    if (!mesh || tsr_mesh_axis_find(mesh, names[i]) < 0) return false;
  return true;
}
