// Filling, reducing and distributing a cell, on the comm's workers. Elements are independent, so a
// cell is split into ranges, and a range again at the rows of a scattered input.
#include "comm/mpi/cell.h"

#include <stdlib.h>

#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"
#include "tessera/engine/reduce.h"
#include "tessera/status.h"

enum { FEW = 32, STRETCH_BYTES = 64 << 10 };

// Terms of one reduction; on the heap only if there are many.
typedef struct terms {
  tsr_reduce_term *list, few[FEW];
} terms;

static tsr_status terms_init(terms *t, int64_t size) {
  t->list = size <= FEW ? t->few : malloc((size_t)size * sizeof *t->list);
  return t->list ? NULL : tsr_fail(NO_MEMORY, "%lld terms of a reduction", (long long)size);
}

static void terms_deinit(terms *t) {
  if (t->list != t->few) free(t->list);
}

static const void *input_of(const tsr_mpi_job *job, const tsr_mpi_group *group, int64_t member) {
  return job->job->in[tsr_comm_local_index(job->comm, group->members[member])];
}

static void *output_of(const tsr_mpi_job *job, const tsr_mpi_group *group, int64_t member) {
  return job->job->out[tsr_comm_local_index(job->comm, group->members[member])];
}

// The offset of element `at` of the cell's result in an input, and the number of contiguous
// elements there, at most up to `end`.
static int64_t locate(const tsr_mpi_job *job, const tsr_mpi_cell *cell, int64_t at, int64_t end,
                      int64_t *out_count) {
  if (!job->job->scatter) {
    *out_count = end - at;
    return at;
  }
  const int64_t inner = job->job->inner, row = at / inner, column = at % inner;
  *out_count = end - at < inner - column ? end - at : inner - column;
  return (row * job->reducer.members + cell->slice) * inner + column;
}

// Members [first, last) of this rank as terms that read from element `from` on.
static int64_t add_members(const tsr_mpi_job *job, const tsr_mpi_group *group,
                           const tsr_reduce_node *node, int64_t from, tsr_reduce_term *out) {
  for (int64_t m = node->first; m < node->last; m++)
    out[m - node->first] =
        (tsr_reduce_term){.node = {m, m + 1}, .data = input_of(job, group, m), .from = from};
  return node->last - node->first;
}

// The tasks of one cell; each is a range of it.
typedef struct cell_tasks {
  const tsr_mpi_job *job;
  const tsr_mpi_cell *cell;
  unsigned char *message;
  unsigned char *const *messages;
  int64_t elements;  // of a task
} cell_tasks;

static void bounds(const cell_tasks *s, int64_t index, int64_t *out_begin, int64_t *out_end) {
  *out_begin = s->cell->begin + index * s->elements;
  *out_end = *out_begin + s->elements;
  if (*out_end > s->cell->end) *out_end = s->cell->end;
}

static tsr_status share_out(cell_tasks *s, tsr_task *task) {
  const int64_t all = s->cell->end - s->cell->begin;
  s->elements = (int64_t)STRETCH_BYTES * 8 / s->job->bits / 64 * 64;
  return tsr_pool_run(tsr_comm_pool(s->job->comm), (all + s->elements - 1) / s->elements, task, s);
}

// ---- filling ----

static tsr_status fill_node(const cell_tasks *s, const tsr_reduce_node *node, unsigned char *to,
                            int64_t begin, int64_t end) {
  const tsr_mpi_job *job = s->job;
  terms t;
  TSR_TRY(terms_init(&t, node->last - node->first));
  for (int64_t at = begin, count = 0; at < end; at += count) {
    const int64_t from = locate(job, s->cell, at, end, &count), place = at - s->cell->begin;
    if (node->last - node->first == 1) {
      const tsr_copy copy = {.from = from, .to = place, .length = count};
      tsr_copy_run(&copy, job->bits, input_of(job, s->cell->group, node->first), to);
    } else {
      const int64_t terms_here = add_members(job, s->cell->group, node, from, t.list);
      tsr_reduce_terms(&job->reducer, t.list, terms_here, count, true, to, place);
    }
  }
  terms_deinit(&t);
  return NULL;
}

static tsr_status fill_task(void *context, int64_t index, int worker) {
  (void)worker;
  const cell_tasks *s = context;
  const tsr_mpi_group *group = s->cell->group;
  const tsr_mpi_party *party = &group->parties[group->mine];
  int64_t begin = 0, end = 0;
  bounds(s, index, &begin, &end);
  for (int64_t i = 0; i < party->node_count; i++) {
    const size_t offset =
        tsr_mpi_party_offset(group, party, s->job->job->dtype, s->cell->end - s->cell->begin, i);
    TSR_TRY(fill_node(s, &group->nodes[party->first_node + i], s->message + offset, begin, end));
  }
  return NULL;
}

tsr_status tsr_mpi_cell_fill(const tsr_mpi_job *job, const tsr_mpi_cell *cell,
                             unsigned char *message, const void **out_place) {
  const tsr_mpi_party *party = &cell->group->parties[cell->group->mine];
  const tsr_reduce_node *node = &cell->group->nodes[party->first_node];
  int64_t count = 0;
  const int64_t from = locate(job, cell, cell->begin, cell->end, &count);
  if (party->node_count == 1 && node->last - node->first == 1 && count == cell->end - cell->begin &&
      from * job->bits % 8 == 0) {
    *out_place =
        (const unsigned char *)input_of(job, cell->group, node->first) + from * job->bits / 8;
    return NULL;
  }
  cell_tasks s = {.job = job, .cell = cell, .message = message};
  *out_place = message;
  return share_out(&s, fill_task);
}

// ---- reducing ----

// Terms of the whole tree, in order of members: local ones in place, the others from messages.
static int64_t gather_terms(const cell_tasks *s, int64_t from, int64_t place,
                            tsr_reduce_term *out) {
  const tsr_mpi_group *group = s->cell->group;
  const int64_t elements = s->cell->end - s->cell->begin;
  int64_t count = 0;
  for (int64_t v = 0; v < group->node_count; v++) {
    const tsr_mpi_value *value = &group->in_order[v];
    const tsr_mpi_party *party = &group->parties[value->party];
    const tsr_reduce_node *node = &group->nodes[party->first_node + value->index];
    if (value->party == group->mine) {
      count += add_members(s->job, group, node, from, &out[count]);
      continue;
    }
    out[count++] = (tsr_reduce_term){
        .node = *node,
        .partial = node->last - node->first > 1,
        .data = s->messages[value->party] +
                tsr_mpi_party_offset(group, party, s->job->job->dtype, elements, value->index),
        .from = place};
  }
  return count;
}

// Copies elements [begin, end) of the result from the first local member to the others.
static void spread(const cell_tasks *s, int64_t begin, int64_t end) {
  const tsr_mpi_group *group = s->cell->group;
  const tsr_mpi_party *party = &group->parties[group->mine];
  const void *source = NULL;
  for (int64_t i = 0; i < party->node_count; i++) {
    const tsr_reduce_node *node = &group->nodes[party->first_node + i];
    for (int64_t m = node->first; m < node->last; m++) {
      void *out = output_of(s->job, group, m);
      const tsr_copy copy = {.from = begin, .to = begin, .length = end - begin};
      if (source && out != source) tsr_copy_run(&copy, s->job->bits, source, out);
      if (!source) source = out;
    }
  }
}

static int64_t first_member(const tsr_mpi_group *group) {
  return group->nodes[group->parties[group->mine].first_node].first;
}

static tsr_status reduce_task(void *context, int64_t index, int worker) {
  (void)worker;
  const cell_tasks *s = context;
  const tsr_mpi_job *job = s->job;
  const bool scatter = job->job->scatter;
  terms t;
  int64_t begin = 0, end = 0;
  bounds(s, index, &begin, &end);
  TSR_TRY(terms_init(&t, job->reducer.members));
  void *out =
      output_of(job, s->cell->group, scatter ? s->cell->slice : first_member(s->cell->group));
  for (int64_t at = begin, run = 0; at < end; at += run) {
    const int64_t from = locate(job, s->cell, at, end, &run);
    const int64_t count = gather_terms(s, from, at - s->cell->begin, t.list);
    tsr_reduce_terms(&job->reducer, t.list, count, run, false, out, at);
  }
  terms_deinit(&t);
  if (!scatter) spread(s, begin, end);
  return NULL;
}

tsr_status tsr_mpi_cell_reduce(const tsr_mpi_job *job, const tsr_mpi_cell *cell,
                               unsigned char *const *messages) {
  cell_tasks s = {.job = job, .cell = cell, .messages = messages};
  return share_out(&s, reduce_task);
}

static tsr_status spread_task(void *context, int64_t index, int worker) {
  (void)worker;
  const cell_tasks *s = context;
  int64_t begin = 0, end = 0;
  bounds(s, index, &begin, &end);
  spread(s, begin, end);
  return NULL;
}

unsigned char *tsr_mpi_cell_place(const tsr_mpi_job *job, const tsr_mpi_cell *cell) {
  return (unsigned char *)output_of(job, cell->group, first_member(cell->group)) +
         cell->begin * job->bits / 8;
}

tsr_status tsr_mpi_cell_spread(const tsr_mpi_job *job, const tsr_mpi_cell *cell) {
  const tsr_mpi_group *group = cell->group;
  const tsr_mpi_party *party = &group->parties[group->mine];
  const tsr_reduce_node *node = &group->nodes[party->first_node];
  if (party->node_count == 1 && node->last - node->first == 1) return NULL;
  cell_tasks s = {.job = job, .cell = cell};
  return share_out(&s, spread_task);
}
