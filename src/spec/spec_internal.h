// Specs, for other rooms: from entries, as JSON, and the constraints of eformer and t5x. The rest
// is in tessera/spec.h.
#ifndef TESSERA_SPEC_SPEC_INTERNAL_H
#define TESSERA_SPEC_SPEC_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "json/json.h"
#include "tessera/api.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"
#include "tessera/topology.h"

// One entry per dimension: `entries[i]` is "" or NULL (uncut), "?" (unconstrained), axes joined by
// '+', or any other entry of the short form.
TSR_MUST_USE tsr_status tsr_spec_of(const char *const *entries, int count, tsr_spec **out_spec);

uint64_t tsr_spec_hash(const tsr_spec *spec);

// The JSON form of the golden files: a list of null, "axis", ["a", "b"], {"unconstrained": true}.
// A spec without such a form is written as its short text. Reading accepts any notation as a
// string.
TSR_MUST_USE tsr_status tsr_spec_from_json(const tsr_json *value, tsr_spec **out_spec);
void tsr_spec_to_json(const tsr_spec *spec, tsr_json_writer *writer);

// The axes used by any of the specs, in entries or sets, each once, in order of first use:
// get_names_from_partition_spec. The names point into the specs; the caller frees the list.
TSR_MUST_USE tsr_status tsr_spec_axis_names(const tsr_spec *const *specs, int64_t spec_count,
                                            const char ***out_names, int *out_count);

const char *tsr_change_text(tsr_change_kind kind);  // "axis not in the mesh"

// The spec side of eformer's with_sharding_constraint: like tsr_spec_correct, but an empty spec or
// no mesh means no constraint (`*out_spec` is NULL).
TSR_MUST_USE tsr_status tsr_spec_constrain(const tsr_spec *spec, const tsr_mesh *mesh,
                                           const tsr_shape *shape,
                                           const tsr_correct_options *options, tsr_spec **out_spec,
                                           tsr_changes *out_changes);

#endif
