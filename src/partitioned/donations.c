// Donated arguments written into the attributes of a function.
#include "partitioned/donations.h"

#include <string.h>

#include "propagate/edits.h"

static const char aliasing[] = "tf.aliasing_output", donor[] = "jax.buffer_donor";

static tsr_status dict_of(tsr_ir *ir, const tsr_attr *before, const tsr_donation *donation,
                          const tsr_attr **out_dict) {
  const int64_t count = before ? before->count : 0;
  tsr_named_attr *entries = tsr_ir_alloc(ir, ((size_t)count + 1) * sizeof *entries);
  int64_t kept = 0;
  TSR_NEED(entries);
  for (int64_t i = 0; i < count; i++)
    if (strcmp(before->entries[i].name, aliasing) != 0 &&
        strcmp(before->entries[i].name, donor) != 0)
      entries[kept++] = before->entries[i];
  if (donation->donated) {
    const bool aliased = donation->aliased >= 0;
    const char *name = aliased ? aliasing : donor;
    const tsr_type *i32 = tsr_type_integer(ir, 32, TSR_SIGNLESS);
    TSR_NEED(i32);
    const tsr_attr *value =
        aliased ? tsr_attr_integer(ir, i32, donation->aliased) : tsr_attr_bool(ir, true);
    entries[kept] = (tsr_named_attr){tsr_ir_name(ir, name, strlen(name)), value};
    TSR_NEED(value && entries[kept].name ? value : NULL);
    kept++;
  }
  *out_dict = tsr_attr_dict(ir, entries, kept);
  TSR_NEED(*out_dict);
  return NULL;
}

tsr_status tsr_donations_write(tsr_ir *ir, tsr_op *func, const tsr_donation *donations) {
  const int count = tsr_func_type(func)->input_count;
  const tsr_attr **dicts = tsr_ir_alloc(ir, ((size_t)count + 1) * sizeof *dicts);
  TSR_NEED(dicts);
  for (int i = 0; i < count; i++)
    TSR_TRY(dict_of(ir, tsr_func_arg_attrs(func, i), &donations[i], &dicts[i]));
  const tsr_attr *list = tsr_attr_array(ir, dicts, count);
  TSR_NEED(list);
  return tsr_op_attr_set(ir, func, "arg_attrs", list);
}
