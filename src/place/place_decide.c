// Decides where an array goes: a spec is corrected and bound to a mesh, and with the shape gives
// the layout. Nothing moves here.
#include "base/sized.h"
#include "layout/layout.h"
#include "layout/layout_internal.h"
#include "place/place.h"
#include "spec/sharding.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/engine/layout.h"

tsr_status tsr_place_config_init(tsr_place_config *how, const char *call,
                                 const tsr_place_options *options) {
  *how = (tsr_place_config){.call = call,
                            .correct = {.size = sizeof how->correct},
                            .reshard = {.size = sizeof how->reshard}};
  tsr_place_options read;
  if (tsr_sized_legible(tsr_place_options, options)) how->comm = options->comm;
  TSR_TRY(tsr_sized_read(tsr_place_options, options, &read));
  how->comm = read.comm;
  TSR_TRY(tsr_policy_check(read.policy));
  how->policy = read.policy;
  TSR_TRY(tsr_sized_read(tsr_correct_options, read.correct, &how->correct));
  return tsr_sized_read(tsr_reshard_options, read.reshard, &how->reshard);
}

// ---- decisions ----

// The report has the final spec: a policy may trim.
tsr_status tsr_decide_sharding(const tsr_sharding *sharding, const tsr_shape *shape,
                               const tsr_place_config *how, tsr_placement_decision *decision) {
  TSR_TRY(tsr_layout_create(sharding, shape, how->policy, &decision->layout));
  tsr_place_report *report = &decision->report;
  if (!report->wanted) report->wanted = tsr_spec_retain(tsr_sharding_spec(sharding));
  report->spec = tsr_spec_retain(tsr_sharding_spec(tsr_layout_sharding(decision->layout)));
  return NULL;
}

static tsr_status bind(const tsr_spec *spec, const tsr_mesh *mesh, const tsr_shape *shape,
                       const tsr_place_config *how, bool only_auto,
                       tsr_placement_decision *decision) {
  tsr_sharding *sharding = NULL;
  TSR_TRY(tsr_sharding_bind(mesh, spec, false, &sharding));
  tsr_status status = only_auto ? tsr_sharding_check_auto(sharding) : NULL;
  if (!status) status = tsr_decide_sharding(sharding, shape, how, decision);
  tsr_sharding_release(sharding);
  return status;
}

// Under any policy but ERROR sizes need not divide.
static tsr_status decide(const tsr_spec *spec, const tsr_mesh *mesh, const tsr_shape *shape,
                         const tsr_place_config *how, bool only_auto,
                         tsr_placement_decision *decision) {
  tsr_correct_options options = how->correct;
  tsr_spec *corrected = NULL;
  options.uneven |= how->policy != TSR_POLICY_ERROR;
  decision->report.wanted = tsr_spec_retain(spec);
  TSR_TRY(tsr_spec_correct(spec, mesh, shape, &options, &corrected, &decision->report.changes));
  tsr_status status = bind(corrected, mesh, shape, how, only_auto, decision);
  tsr_spec_release(corrected);
  return status;
}

tsr_status tsr_decide_spec(const tsr_spec *spec, const tsr_mesh *mesh, const tsr_shape *shape,
                           const tsr_place_config *how, tsr_placement_decision *decision) {
  return decide(spec, mesh, shape, how, false, decision);
}

tsr_status tsr_decide_constraint(const tsr_spec *spec, const tsr_mesh *mesh, const tsr_shape *shape,
                                 const tsr_place_config *how, tsr_placement_decision *decision) {
  if (!mesh) mesh = tsr_mesh_current();
  if (mesh && tsr_spec_desc_of(spec)->dim_count)
    return decide(spec, mesh, shape, how, true, decision);
  decision->report.wanted = tsr_spec_retain(spec);
  decision->report.outcome = mesh ? TSR_OUTCOME_EMPTY_SPEC : TSR_OUTCOME_NO_MESH;
  return NULL;
}

void tsr_decide_layout(const tsr_layout *layout, tsr_placement_decision *decision) {
  if (!layout) {
    decision->report.outcome = TSR_OUTCOME_NOT_ASKED;
    return;
  }
  const tsr_sharding *wanted = tsr_layout_requested(layout), *got = tsr_layout_sharding(layout);
  decision->layout = tsr_layout_retain(layout);
  if (wanted) decision->report.wanted = tsr_spec_retain(tsr_sharding_spec(wanted));
  if (got) decision->report.spec = tsr_spec_retain(tsr_sharding_spec(got));
}
