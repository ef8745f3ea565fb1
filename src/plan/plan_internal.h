// Plans, for other rooms: JSON, specs by number, companions. The rest is in tessera/plan.h.
#ifndef TESSERA_PLAN_PLAN_INTERNAL_H
#define TESSERA_PLAN_PLAN_INTERNAL_H

#include <stddef.h>

#include "plan/tree_internal.h"
#include "tessera/logical.h"
#include "tessera/mesh.h"
#include "tessera/plan.h"
#include "tessera/rules.h"
#include "tessera/spec.h"
#include "tessera/text.h"

const char *tsr_why_word(tsr_why why);  // "no_rule"
const char *tsr_why_text(tsr_why why);  // "no rule matched"

// The rules it was made by; NULL = none of that kind.
const tsr_rules *tsr_plan_rules(const tsr_plan *plan);
// The bytes at each mesh position, padding included: tsr_mesh_device_count of them.
TSR_MUST_USE tsr_status tsr_plan_device_bytes(const tsr_plan *plan, int64_t *out_bytes);
// Their minimum, maximum and sum.
typedef struct tsr_device_load {
  int64_t min, max;
  double total;
} tsr_device_load;
TSR_MUST_USE tsr_status tsr_plan_device_load(const tsr_plan *plan, tsr_device_load *out_load);
// The distinct specs of the plan, and the number of a row's wanted and final one among them.
int64_t tsr_plan_spec_count(const tsr_plan *plan);
const tsr_spec *tsr_plan_spec_at(const tsr_plan *plan, int64_t spec);
int64_t tsr_plan_final(const tsr_plan *plan, int64_t index);
// The same mesh, tensors, specs, policies and notes, made by the same rules.
bool tsr_plan_equal(const tsr_plan *a, const tsr_plan *b);
// A note as text: `rule 3 (llama.rules:12) "q_proj" -> tp, fsdp`, or `dimension 1: size 10 is not
// divisible by tp=4, so it is not cut`.
void tsr_plan_note_print(const tsr_plan *plan, int64_t index, const tsr_plan_note *note,
                         tsr_text *out);
// Tensors as tsr_tree_group_by groups them, as far as they also agree in specs and policy.
TSR_MUST_USE tsr_status tsr_plan_group(const tsr_plan *plan, tsr_tree_groups *out_groups);

// As docs/plan-schema.md describes, with the mesh's topology. Reading a written plan gives an equal
// one, and writing that the same bytes.
void tsr_plan_to_json(const tsr_plan *plan, tsr_json_writer *writer);
TSR_MUST_USE tsr_status tsr_plan_from_json(const tsr_json *value, tsr_plan **out_plan);
bool tsr_plan_is_json(const tsr_json *value);  // by its "schema"

// The same specs and reasons for another tree, matched by path: of a model that was cast or
// filtered. Fails with not_found for a tensor that the plan lacks, and with shapes_differ.
TSR_MUST_USE tsr_status tsr_plan_for_tree(const tsr_plan *plan, const tsr_tree *tree,
                                          tsr_plan **out_plan);

// The same plan with companions cut as the tensor they go with. Optimiser state (exp_avg, mu,
// master weights, ...) takes the row of its parameter; one-element tensors are not cut. Scales and
// zero points of quantised weights take the weight's cut, counted in blocks; a cut through a block
// fails (bad_cut). Forms that cannot be cut stay whole. Names decide: docs/companions.md. The plan
// must have a mesh.
TSR_MUST_USE tsr_status tsr_plan_companions(const tsr_plan *plan, tsr_plan **out_plan);

const char *tsr_finding_word(tsr_finding_kind kind);  // "unknown_axis"
const char *tsr_finding_text(tsr_finding_kind kind);  // "names an axis the mesh lacks"

#endif
