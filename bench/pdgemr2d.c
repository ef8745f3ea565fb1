// Block-cyclic redistribution, against ScaLAPACK. Both compute in each round who sends what,
// as a program that redistributes once would; the results are compared before the first round.
// bench: 4096 x 4096 f64 on a 2 x 2 grid, blocks of 64 x 64 to 32 x 128
// rival: pdgemr2d of ScaLAPACK
// bar: 1.0 x
#include "mpi_rounds.h"
#include "tessera/comm.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/layout.h"
#include "tessera/spec.h"
#include "transfer/transfer_internal.h"

enum { N = 4096, GRID = 2, RANKS = GRID * GRID };

// ScaLAPACK's, as Fortran has them.
void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb,
               const int *row_source, const int *column_source, const int *context,
               const int *leading, int *info);
void pdgemr2d_(const int *m, const int *n, const double *a, const int *ia, const int *ja,
               const int *desc_a, double *b, const int *ib, const int *jb, const int *desc_b,
               const int *context);

typedef struct work {
  tsr_comm *comm;
  tsr_layout *from, *to;
  int context, desc_from[9], desc_to[9];
  double *in, *out;
} work;

// ---- ours ----

static int compare_copies(const void *a, const void *b) {
  const tsr_copy *x = a, *y = b;
  if (x->target != y->target) return x->target < y->target ? -1 : 1;
  if (x->source != y->source) return x->source < y->source ? -1 : 1;
  return (x->to > y->to) - (x->to < y->to);
}

// All copies into and out of the device of this rank, in the order that both ends have.
static tsr_status list_copies(const tsr_copy_plan *plan, int64_t device, tsr_copy **out_copies,
                              int64_t *out_count) {
  tsr_copies into, out_of;
  TSR_TRY(tsr_copies_init_into(&into, plan, device));
  TSR_TRY(tsr_copies_init_out_of(&out_of, plan, device));
  const int64_t most = tsr_copies_count(&into) + tsr_copies_count(&out_of);
  tsr_copy *copies = malloc((size_t)most * sizeof *copies);
  int64_t count = 0;
  if (!copies) return tsr_fail(NO_MEMORY, "copies");
  while (tsr_copies_next(&into, &copies[count])) count++;
  while (count < most && tsr_copies_next(&out_of, &copies[count]))
    if (copies[count].target != device) count++;
  tsr_copies_deinit(&into);
  tsr_copies_deinit(&out_of);
  qsort(copies, (size_t)count, sizeof *copies, compare_copies);
  *out_copies = copies;
  *out_count = count;
  return NULL;
}

static tsr_status ours(void *context) {
  const work *w = context;
  tsr_copy_plan *plan = NULL;
  tsr_copy *copies = NULL;
  int64_t count = 0;
  TSR_TRY(tsr_copy_plan_create(w->from, w->to, NULL, &plan));
  TSR_TRY(list_copies(plan, tsr_comm_rank(w->comm), &copies, &count));
  const void *in = w->in;
  void *out = w->out;
  const tsr_exchange part = {
      .copies = copies, .copy_count = count, .bits = 64, .in = &in, .out = &out};
  tsr_status status = tsr_comm_exchange(w->comm, &part, 1);
  free(copies);
  tsr_copy_plan_release(plan);
  return status;
}

// A column-major matrix is a row-major one of its transpose: columns come first.
static tsr_status make_layout(const tsr_mesh *mesh, const char *text, tsr_layout **out_layout) {
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  TSR_TRY(tsr_spec_parse(text, TSR_FORM_ANY, &spec));
  TSR_TRY(tsr_sharding_bind(mesh, spec, false, &sharding));
  tsr_status status = tsr_layout_create(sharding, TSR_SHAPE(N, N), TSR_POLICY_ERROR, out_layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  return status;
}

static tsr_status prepare_ours(work *w) {
  tsr_mesh *mesh = NULL;
  TSR_TRY(tsr_comm_create_mpi(MPI_COMM_WORLD, 1, NULL, &w->comm));
  TSR_TRY(tsr_mesh_parse("row=2,column=2", NULL, &mesh));
  TSR_TRY(make_layout(mesh, "column/cyclic(64), row/cyclic(64)", &w->from));
  TSR_TRY(make_layout(mesh, "column/cyclic(128), row/cyclic(32)", &w->to));
  tsr_mesh_release(mesh);
  return NULL;
}

// ---- theirs ----

static tsr_status theirs(void *context) {
  const work *w = context;
  const int n = N, one = 1;
  pdgemr2d_(&n, &n, w->in, &one, &one, w->desc_from, w->out, &one, &one, w->desc_to, &w->context);
  return NULL;
}

static void describe(int context, int rows, int columns, int *desc) {
  const int n = N, zero = 0, leading = N / GRID;
  int info = 0;
  descinit_(desc, &n, &n, &rows, &columns, &zero, &zero, &context, &leading, &info);
}

static void prepare_theirs(work *w) {
  Cblacs_get(-1, 0, &w->context);
  Cblacs_gridinit(&w->context, "Row", GRID, GRID);
  describe(w->context, 64, 64, w->desc_from);
  describe(w->context, 32, 128, w->desc_to);
}

// ---- both ----

static tsr_status compare(work *w, int rank) {
  const size_t bytes = (size_t)N * N / RANKS * sizeof(double);
  void *kept = malloc(bytes), *made = w->out;
  if (!kept) return tsr_fail(NO_MEMORY, "results");
  tsr_status status = theirs(w);
  memcpy(kept, w->out, bytes);
  memset(w->out, 0, bytes);
  if (!status) status = ours(w);
  if (!status && memcmp(kept, made, bytes))
    status = tsr_fail(BAD_ARGUMENT, "rank %d: the results differ", rank);
  free(kept);
  return status;
}

int main(int argc, char **argv) {
  mpi_rounds_begin(argc, argv, "4");
  work w = {0};
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const size_t count = (size_t)N * N / RANKS;
  w.in = malloc(count * sizeof *w.in);
  w.out = calloc(count, sizeof *w.out);
  if (!w.in || !w.out) abort();
  for (size_t i = 0; i < count; i++) w.in[i] = (double)rank * (double)count + (double)i;
  mpi_rounds_fail(prepare_ours(&w));
  prepare_theirs(&w);
  mpi_rounds_fail(compare(&w, rank));
  const bool rival = argc > 1 && !strcmp(argv[1], "rival");
  mpi_rounds_serve(rival ? theirs : ours, &w);
  tsr_layout_release(w.from);
  tsr_layout_release(w.to);
  tsr_comm_release(w.comm);
  free(w.in);
  free(w.out);
  MPI_Finalize();
  return 0;
}
