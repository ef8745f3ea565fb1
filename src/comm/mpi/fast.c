// All-reduce by MPI's own operation, if the caller allows any order (tsr_comm_options.fast): for
// networks that reduce in transit. Each rank reduces its members; MPI reduces the partials, on a
// communicator of the group's ranks that is created once and kept.
//
// Only where MPI's semantics are ours: sums and products, and all operations on integers. MPI does
// not define min and max of NaN.
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "comm/mpi/cell.h"
#include "comm/mpi/mpi_engine.h"
#include "tessera/dtype.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/pool.h"
#include "tessera/engine/reduce.h"
#include "tessera/engine/transport.h"
#include "tessera/reduction.h"
#include "tessera/status.h"

enum { CHUNK_BYTES = 32 << 20, STRETCH = 16 << 10, CREATE_TAG = 2 };

static MPI_Datatype type_of(tsr_dtype partial) {
  static const struct {
    tsr_dtype dtype;
    MPI_Datatype type;
  } types[] = {
      {TSR_F32, MPI_FLOAT},    {TSR_F64, MPI_DOUBLE},   {TSR_I8, MPI_INT8_T},
      {TSR_I16, MPI_INT16_T},  {TSR_I32, MPI_INT32_T},  {TSR_I64, MPI_INT64_T},
      {TSR_U8, MPI_UINT8_T},   {TSR_U16, MPI_UINT16_T}, {TSR_U32, MPI_UINT32_T},
      {TSR_U64, MPI_UINT64_T},
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i].dtype == partial) return types[i].type;
  return MPI_DATATYPE_NULL;
}

static MPI_Op op_of(tsr_reduction op, bool is_float) {
  static const MPI_Op ops[TSR_REDUCTION_COUNT] = {
      [TSR_REDUCE_SUM] = MPI_SUM, [TSR_REDUCE_PRODUCT] = MPI_PROD, [TSR_REDUCE_MIN] = MPI_MIN,
      [TSR_REDUCE_MAX] = MPI_MAX, [TSR_REDUCE_AND] = MPI_BAND,     [TSR_REDUCE_OR] = MPI_BOR,
  };
  const bool ordered = op == TSR_REDUCE_MIN || op == TSR_REDUCE_MAX;
  return is_float && ordered ? MPI_OP_NULL : ops[op];
}

bool tsr_mpi_fast_allows(const tsr_reduce_job *job) {
  const tsr_dtype partial = tsr_reduce_partial_dtype(job->dtype);
  const bool is_float = tsr_dtype_info_of(partial)->kind == TSR_CLASS_FLOAT;
  return !job->scatter && type_of(partial) != MPI_DATATYPE_NULL &&
         op_of(job->op, is_float) != MPI_OP_NULL;
}

// ---- communicators of ranks ----

static bool has_ranks(const tsr_mpi_subcomm *subcomm, const tsr_mpi_group *group) {
  if (subcomm->count != group->party_count) return false;
  for (int i = 0; i < subcomm->count; i++)
    if (subcomm->ranks[i] != group->parties[i].rank) return false;
  return true;
}

static tsr_status make_subcomm(const tsr_mpi *mpi, const tsr_mpi_group *group,
                               tsr_mpi_subcomm *out) {
  MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
  for (int i = 0; i < group->party_count; i++) out->ranks[i] = group->parties[i].rank;
  tsr_status status = tsr_mpi_check(MPI_Comm_group(mpi->data, &all), "MPI_Comm_group");
  if (!status)
    status = tsr_mpi_check(MPI_Group_incl(all, out->count, out->ranks, &some), "MPI_Group_incl");
  // All of them are here: they have just agreed on this call.
  if (!status)
    status = tsr_mpi_check(MPI_Comm_create_group(mpi->data, some, CREATE_TAG, &out->comm),
                           "MPI_Comm_create_group");
  if (some != MPI_GROUP_NULL) MPI_Group_free(&some);
  if (all != MPI_GROUP_NULL) MPI_Group_free(&all);
  return status;
}

static tsr_status find_subcomm(tsr_mpi *mpi, const tsr_mpi_group *group, MPI_Comm *out_comm) {
  for (int64_t i = 0; i < mpi->subcomm_count; i++)
    if (has_ranks(&mpi->subcomms[i], group)) {
      *out_comm = mpi->subcomms[i].comm;
      return NULL;
    }
  void *list =
      tsr_grow(mpi->subcomms, mpi->subcomm_count, &mpi->subcomm_capacity, sizeof *mpi->subcomms);
  if (!list) return tsr_fail(NO_MEMORY, "communicators of groups");
  mpi->subcomms = list;
  tsr_mpi_subcomm *made = &mpi->subcomms[mpi->subcomm_count];
  *made = (tsr_mpi_subcomm){.count = group->party_count};
  made->ranks = malloc((size_t)group->party_count * sizeof *made->ranks);
  if (!made->ranks) return tsr_fail(NO_MEMORY, "a communicator of a group");
  tsr_status status = make_subcomm(mpi, group, made);
  if (status) {
    free(made->ranks);
    return status;
  }
  mpi->subcomm_count++;
  *out_comm = made->comm;
  return NULL;
}

// ---- the members of this rank ----

// A chunk of one group's result, divided among the workers.
typedef struct chunk {
  const tsr_mpi_job *job;
  tsr_mpi_cell cell;
  tsr_reduce_term *members;  // of this rank, in order
  int64_t member_count;
  void *partial;
} chunk;

static int64_t list_members(const tsr_mpi_job *job, const tsr_mpi_group *group,
                            tsr_reduce_term *out) {
  const tsr_mpi_party *party = &group->parties[group->mine];
  int64_t count = 0;
  for (int64_t i = 0; i < party->node_count; i++) {
    const tsr_reduce_node *node = &group->nodes[party->first_node + i];
    for (int64_t m = node->first; m < node->last; m++, count++)
      out[count] = (tsr_reduce_term){
          .node = {count, count + 1},
          .data = job->job->in[tsr_comm_local_index(job->comm, group->members[m])]};
  }
  return count;
}

static tsr_status reduce_members(void *context, int64_t index, int worker) {
  (void)worker;
  const chunk *c = context;
  const int64_t place = index * STRETCH, left = c->cell.end - c->cell.begin - place;
  const tsr_reducer reducer = {c->job->job->dtype, c->job->job->op, c->member_count};
  tsr_reduce_term *terms = malloc((size_t)c->member_count * sizeof *terms);
  if (!terms) return tsr_fail(NO_MEMORY, "terms of a reduction");
  memcpy(terms, c->members, (size_t)c->member_count * sizeof *terms);
  for (int64_t i = 0; i < c->member_count; i++) terms[i].from = c->cell.begin + place;
  tsr_reduce_terms(&reducer, terms, c->member_count, left < STRETCH ? left : STRETCH, true,
                   c->partial, place);
  free(terms);
  return NULL;
}

static tsr_status round_result(void *context, int64_t index, int worker) {
  (void)worker;
  const chunk *c = context;
  const int64_t place = index * STRETCH, left = c->cell.end - c->cell.begin - place;
  const tsr_reduce_term whole = {
      .node = {0, c->job->reducer.members}, .partial = true, .data = c->partial, .from = place};
  tsr_reduce_terms(&c->job->reducer, &whole, 1, left < STRETCH ? left : STRETCH, false,
                   tsr_mpi_cell_place(c->job, &c->cell), place);
  return NULL;
}

static tsr_status reduce_chunk(tsr_mpi *mpi, chunk *c, MPI_Comm comm) {
  const tsr_dtype type = tsr_reduce_partial_dtype(c->job->job->dtype);
  const bool is_float = tsr_dtype_info_of(type)->kind == TSR_CLASS_FLOAT;
  const int64_t elements = c->cell.end - c->cell.begin, tasks = (elements + STRETCH - 1) / STRETCH;
  tsr_pool *pool = tsr_comm_pool(c->job->comm);
  MPI_Request request = MPI_REQUEST_NULL;
  TSR_TRY(tsr_pool_run(pool, tasks, reduce_members, c));
  TSR_TRY(tsr_mpi_check(MPI_Iallreduce(MPI_IN_PLACE, c->partial, (int)elements, type_of(type),
                                       op_of(c->job->job->op, is_float), comm, &request),
                        "MPI_Iallreduce"));
  TSR_TRY(tsr_mpi_one(mpi, &request));
  TSR_TRY(tsr_pool_run(pool, tasks, round_result, c));
  return tsr_mpi_cell_spread(c->job, &c->cell);
}

static tsr_status reduce_group(tsr_mpi *mpi, const tsr_mpi_job *job, const tsr_mpi_group *group,
                               tsr_reduce_term *members) {
  const int64_t all = job->job->inner;
  chunk c = {.job = job, .cell = {.group = group, .end = all}, .members = members};
  if (group->party_count == 1) return tsr_mpi_cell_reduce(job, &c.cell, NULL);
  const int bits = tsr_dtype_info_of(tsr_reduce_partial_dtype(job->job->dtype))->bits;
  int64_t step = (int64_t)CHUNK_BYTES * 8 / bits;
  if (step > all) step = all;
  MPI_Comm comm = MPI_COMM_NULL;
  TSR_TRY(find_subcomm(mpi, group, &comm));
  TSR_TRY(tsr_mpi_reserve(&mpi->slots[0], (size_t)(step * bits / 8)));
  c.partial = mpi->slots[0].bytes;
  c.member_count = list_members(job, group, members);
  for (int64_t at = 0; at < all; at += step) {
    c.cell.begin = at;
    c.cell.end = at + step < all ? at + step : all;
    TSR_TRY(reduce_chunk(mpi, &c, comm));
  }
  return NULL;
}

tsr_status tsr_mpi_reduce_fast(tsr_mpi *mpi, const tsr_mpi_job *job, const tsr_mpi_group *groups) {
  tsr_reduce_term *members = malloc((size_t)job->reducer.members * sizeof *members);
  if (!members) return tsr_fail(NO_MEMORY, "members of a group");
  tsr_status status = NULL;
  // One after the other, in the same order on all ranks, so that no two wait for each other.
  for (int64_t g = 0; !status && job->job->inner && g < job->job->groups->count; g++)
    if (groups[g].mine >= 0) status = reduce_group(mpi, job, &groups[g], members);
  free(members);
  return status;
}
