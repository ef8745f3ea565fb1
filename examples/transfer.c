// What must move to change a layout, known before anything moves: the copies into one device, the
// bytes of the whole and the least there can be, and the same change by collectives.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/engine.h>
#include <tessera/tessera.h>

static tsr_status run(void) {
  TSR_OWN(mesh, mesh);
  TSR_OWN(layout, from);
  TSR_OWN(layout, to);
  TSR_OWN(copy_plan, plan);
  TSR_OWN(copies, copies);
  TSR_OWN(sequence, sequence);
  TSR_OWN(text, text);
  TSR_TRY(tsr_mesh_parse("x=4", NULL, &mesh));
  TSR_TRY(tsr_layout_from_text(mesh, "x, _", TSR_SHAPE(8, 8), &from));
  TSR_TRY(tsr_layout_from_text(mesh, "_, x", TSR_SHAPE(8, 8), &to));
  TSR_TRY(tsr_copy_plan_create(from, to, NULL, &plan));

  TSR_TRY(tsr_copies_init_into(&copies, plan, 1));
  for (tsr_copy copy; tsr_copies_next(&copies, &copy);)
    printf("from device %" PRId64 " to %" PRId64 ": %" PRId64 " elements\n", copy.source,
           copy.target, tsr_copy_elements(&copy));

  tsr_certificate bytes = TSR_CERTIFICATE;
  TSR_TRY(tsr_copy_plan_certify(plan, TSR_F32, &bytes));
  printf("%" PRId64 " bytes move, %" PRId64 " must\n", bytes.bytes_moved, bytes.bytes_lower_bound);

  TSR_TRY(tsr_sequence_create(tsr_layout_sharding(from), tsr_layout_sharding(to), TSR_SHAPE(8, 8),
                              TSR_F32, NULL, &sequence));
  TSR_TRY(tsr_sequence_print(sequence, &text));
  printf("%s", tsr_text_string(&text));
  return NULL;
}

int main(void) { return tsr_status_exit(run()); }
