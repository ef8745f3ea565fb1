// A spec under construction, in the order of its text. All parsers fill a builder;
// tsr_spec_builder_finish makes the spec and checks it.
#ifndef TESSERA_SPEC_SPEC_BUILDER_H
#define TESSERA_SPEC_SPEC_BUILDER_H

#include "base/arena.h"
#include "tessera/spec.h"

typedef enum tsr_spec_set {
  TSR_SET_UNREDUCED,
  TSR_SET_REDUCED,
  TSR_SET_REPLICATED,
  TSR_SET_COUNT
} tsr_spec_set;

// A growing list; the builder has one for each kind of element.
typedef struct tsr_spec_list {
  void *items;
  int count;
  int64_t capacity;
} tsr_spec_list;

typedef struct tsr_spec_builder {
  tsr_arena names;
  tsr_spec_list dims, stages, axes, sizes, parts, sets[TSR_SET_COUNT];
  tsr_reduction reduction;
  const char *mesh_name;
} tsr_spec_builder;

#define TSR_SPEC_BUILDER_EMPTY \
  { .mesh_name = NULL }

// Add a dimension, uncut and closed; an even stage to the last dimension; an axis, a size or a part
// to the last stage.
TSR_MUST_USE tsr_status tsr_spec_builder_dim(tsr_spec_builder *builder);
TSR_MUST_USE tsr_status tsr_spec_builder_stage(tsr_spec_builder *builder);
TSR_MUST_USE tsr_status tsr_spec_builder_axis(tsr_spec_builder *builder, const tsr_axis_ref *ref);
TSR_MUST_USE tsr_status tsr_spec_builder_size(tsr_spec_builder *builder, int64_t size);
TSR_MUST_USE tsr_status tsr_spec_builder_part(tsr_spec_builder *builder, const tsr_part *part);
// Copy a stage of another spec; or only its cut, into the last stage.
TSR_MUST_USE tsr_status tsr_spec_builder_copy_stage(tsr_spec_builder *builder,
                                                    const tsr_stage *stage);
TSR_MUST_USE tsr_status tsr_spec_builder_copy_cut(tsr_spec_builder *builder,
                                                  const tsr_stage *stage);
TSR_MUST_USE tsr_status tsr_spec_builder_member(tsr_spec_builder *builder, tsr_spec_set set,
                                                const tsr_axis_ref *ref);
// Copies a name for the builder's lifetime. The builder copies no names itself.
TSR_MUST_USE tsr_status tsr_spec_builder_name(tsr_spec_builder *builder, const char *bytes,
                                              size_t length, const char **out_name);
// The last one added, to set its flags. There must be one.
tsr_spec_dim *tsr_spec_builder_last_dim(tsr_spec_builder *builder);
tsr_stage *tsr_spec_builder_last_stage(tsr_spec_builder *builder);

TSR_MUST_USE tsr_status tsr_spec_builder_finish(tsr_spec_builder *builder, tsr_spec **out_spec);
void tsr_spec_builder_deinit(tsr_spec_builder *builder);  // always, also after finish

#endif
