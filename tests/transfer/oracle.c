#include "transfer/oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/engine/mesh.h"
#include "tessera/engine/sharding.h"
#include "tessera/spec.h"

enum { MAX_STATES = 4096, TEXT = 24 };

typedef struct atom {
  int axis;
  int64_t pre, size, stride;
} atom;

// A state is text: for each dimension the letters of its atoms, then '/', then the unreduced ones
// in order: "ab//c" is a and b on dimension 0, nothing on dimension 1, c unreduced.
typedef struct state {
  char text[TEXT];
} state;

struct oracle {
  oracle_desc desc;
  int64_t devices;
  int atom_count, count;
  atom atoms[ORACLE_ATOMS];
  state states[MAX_STATES];
  double *cost;  // [from * count + to]
};

// ---- reading states ----

static const char *list_at(const char *text, int list) {
  for (; list; text++)
    if (*text == '/') list--;
  return text;
}

static int list_length(const char *list) { return (int)strcspn(list, "/"); }

static int64_t list_product(const oracle *all, const char *text, int list) {
  const char *at = list_at(text, list);
  int64_t product = 1;
  for (int i = list_length(at); i-- > 0;) product *= all->atoms[at[i] - 'a'].size;
  return product;
}

static double local_bytes(const oracle *all, const char *text) {
  double bytes = (double)all->desc.element_bytes;
  for (int d = 0; d < all->desc.shape.rank; d++) {
    const int64_t size = all->desc.shape.dims[d] / list_product(all, text, d);
    bytes *= (double)size;
  }
  return bytes;
}

static bool is_legal(const oracle *all, const char *text) {
  for (int d = 0; d < all->desc.shape.rank; d++)
    if (all->desc.shape.dims[d] % list_product(all, text, d)) return false;
  return true;
}

// The number a device's digits make in a list.
static int64_t number_at(const oracle *all, const char *list, int64_t device) {
  int64_t number = 0;
  for (int i = 0; i < list_length(list); i++) {
    const atom *a = &all->atoms[list[i] - 'a'];
    number = number * a->size + device / a->stride % a->size;
  }
  return number;
}

// ---- all states ----

static void add_states(oracle *all, char *lists, int atom_at) {
  const int lists_count = all->desc.shape.rank + 1;
  if (atom_at == all->atom_count) {
    if (!is_legal(all, lists)) return;
    assert_true(all->count < MAX_STATES);
    strcpy(all->states[all->count++].text, lists);
    return;
  }
  add_states(all, lists, atom_at + 1);
  for (int l = 0; l < lists_count; l++) {
    const bool set = l + 1 == lists_count;
    if (set && !all->desc.unreduced) continue;
    const int length = list_length(list_at(lists, l));
    for (int place = set ? length : 0; place <= length; place++) {
      char with[TEXT];
      const size_t at = (size_t)(list_at(lists, l) - lists) + (size_t)place;
      memcpy(with, lists, at);
      with[at] = (char)('a' + atom_at);
      strcpy(with + at + 1, lists + at);
      add_states(all, with, atom_at + 1);
    }
  }
}

static int find_state(const oracle *all, const char *text) {
  for (int i = 0; i < all->count; i++)
    if (!strcmp(all->states[i].text, text)) return i;
  return -1;
}

// ---- edges ----

// Seconds of a collective over atoms, which are axes.
static double ask_seconds(const oracle *all, tsr_collective op, const char *atoms, int count,
                          double local) {
  const char *names[ORACLE_ATOMS];
  double seconds = 0;
  for (int i = 0; i < count; i++)
    names[i] = tsr_mesh_axis_at(all->desc.mesh, all->atoms[atoms[i] - 'a'].axis)->name;
  assert_ok(tsr_mesh_collective_cost(all->desc.mesh, op, names, count, (int64_t)local, &seconds));
  return seconds;
}

static void add_edge(oracle *all, const char *from, const char *to, tsr_collective op,
                     const char *atoms, int count, double bytes) {
  const int i = find_state(all, from), j = find_state(all, to);
  if (j < 0) return;
  const double local = local_bytes(all, from), held = local + local_bytes(all, to);
  if (all->desc.memory_cap && held > (double)all->desc.memory_cap) return;
  if (tsr_mesh_topology(all->desc.mesh))
    bytes = bytes > 0 ? ask_seconds(all, op, atoms, count, local) : 0;
  double *cost = &all->cost[i * all->count + j];
  if (bytes < *cost) *cost = bytes;
}

// `text` with `count` letters taken out at `at`, and `put` put in at `to` of what is left.
static void rewrite(const char *text, size_t at, size_t count, const char *put, size_t to,
                    char *out) {
  char left[TEXT];
  memcpy(left, text, at);
  strcpy(left + at, text + at + count);
  memcpy(out, left, to);
  strcpy(out + to, put);
  strcat(out, left + to);
}

static size_t list_end(const char *text, int list) {
  const char *at = list_at(text, list);
  return (size_t)(at - text) + (size_t)list_length(at);
}

static int64_t letters_size(const oracle *all, const char *letters) {
  int64_t size = 1;
  for (; *letters; letters++) size *= all->atoms[*letters - 'a'].size;
  return size;
}

static void add_suffix_edges(oracle *all, const char *text, int list, int count) {
  const double bytes = local_bytes(all, text) * (double)all->devices;
  const size_t at = list_end(text, list) - (size_t)count;
  char suffix[TEXT] = {0}, to[TEXT], left[TEXT];
  memcpy(suffix, text + at, (size_t)count);
  const double n = (double)letters_size(all, suffix);
  rewrite(text, at, (size_t)count, "", at, left);
  add_edge(all, text, left, TSR_COLLECTIVE_ALL_GATHER, suffix, count, bytes * (n - 1));
  for (int l = 0; l < all->desc.shape.rank; l++) {
    if (l == list) continue;
    rewrite(text, at, (size_t)count, suffix, list_end(left, l), to);
    add_edge(all, text, to, TSR_COLLECTIVE_ALL_TO_ALL, suffix, count, bytes * (n - 1) / n);
  }
}

// Where a letter belongs in the unreduced set, which is in order.
static size_t set_place(const oracle *all, const char *text, char letter) {
  size_t at = (size_t)(list_at(text, all->desc.shape.rank) - text);
  while (text[at] && text[at] < letter) at++;
  return at;
}

// Cuts with one letter; with several at once where memory is short. `letters` are free, or all
// unreduced.
static void add_cut_edges(oracle *all, const char *text, const char *set, const char *letters) {
  const int rank = all->desc.shape.rank;
  const double bytes = local_bytes(all, text) * (double)all->devices;
  for (const char *c = set; *c; c++) {
    if (strchr(letters, *c)) continue;
    char more[TEXT], left[TEXT], to[TEXT];
    strcpy(more, letters);
    strncat(more, c, 1);
    const bool terms = strchr(list_at(text, rank), *more) != NULL;
    size_t length = 0;
    for (const char *at = text; *at; at++)
      if (!strchr(more, *at)) left[length++] = *at;
    left[length] = '\0';
    const double n = (double)letters_size(all, more);
    for (int l = 0; l < rank; l++) {
      rewrite(left, 0, 0, more, list_end(left, l), to);
      add_edge(all, text, to, TSR_COLLECTIVE_REDUCE_SCATTER, more, (int)strlen(more),
               terms ? bytes * (n - 1) / n : 0);
    }
    if (all->desc.memory_cap) add_cut_edges(all, text, set, more);
  }
}

static void add_letter_edges(oracle *all, const char *text) {
  char free[TEXT] = "", to[TEXT];
  for (int i = 0; i < all->atom_count; i++) {
    const char c = (char)('a' + i);
    if (!strchr(text, c)) strncat(free, &c, 1);
  }
  add_cut_edges(all, text, free, "");
  add_cut_edges(all, text, list_at(text, all->desc.shape.rank), "");
  for (const char *c = free; *c; c++) {
    const char put[] = {*c, 0};
    rewrite(text, 0, 0, put, set_place(all, text, *c), to);
    add_edge(all, text, to, TSR_COLLECTIVE_ALL_REDUCE, put, 1, 0);
  }
}

// Every subset of the unreduced atoms can be reduced at once.
static void add_reduce_edges(oracle *all, const char *text) {
  const char *set = list_at(text, all->desc.shape.rank);
  const int size = (int)strlen(set);
  const double bytes = local_bytes(all, text) * (double)all->devices;
  for (int chosen = 1; chosen < 1 << size; chosen++) {
    char to[TEXT], gone[TEXT] = {0};
    size_t length = (size_t)(set - text), count = 0;
    memcpy(to, text, length);
    for (int i = 0; i < size; i++)
      if (chosen >> i & 1)
        gone[count++] = set[i];
      else
        to[length++] = set[i];
    to[length] = '\0';
    const double n = (double)letters_size(all, gone);
    add_edge(all, text, to, TSR_COLLECTIVE_ALL_REDUCE, gone, (int)count, 2 * bytes * (n - 1) / n);
  }
}

// Letters of the first that are not in the second.
static void without(const char *letters, const char *others, char *out) {
  for (; *letters; letters++)
    if (!strchr(others, *letters)) *out++ = *letters;
  *out = '\0';
}

static bool same_place(const oracle *all, const char *a, const char *b, int64_t device) {
  const int rank = all->desc.shape.rank;
  for (int d = 0; d < rank; d++)
    if (number_at(all, list_at(a, d), device) != number_at(all, list_at(b, d), device))
      return false;
  char x[TEXT], y[TEXT];
  without(list_at(a, rank), list_at(b, rank), x);
  without(list_at(b, rank), list_at(a, rank), y);
  return number_at(all, x, device) == number_at(all, y, device);
}

// What a letter's digit counts in a state: its list and weight, as one number; 0 when it is free.
static int64_t standing(const oracle *all, const char *text, char letter) {
  const char *found = strchr(text, letter);
  if (!found) return 0;
  int list = 1;
  for (const char *c = text; c < found; c++) list += *c == '/';
  if (list == all->desc.shape.rank + 1) return list;
  int64_t weight = 1;
  for (const char *c = found + 1; *c && *c != '/'; c++) weight *= all->atoms[*c - 'a'].size;
  return list + 100 * weight;
}

static void add_permute_edge(oracle *all, const char *a, const char *b) {
  for (int l = 0; l <= all->desc.shape.rank; l++)
    if (list_product(all, a, l) != list_product(all, b, l)) return;
  int64_t moving = 0;
  for (int64_t device = 0; device < all->devices; device++)
    moving += !same_place(all, a, b, device);
  char atoms[TEXT] = {0};
  int count = 0;
  for (int i = 0; i < all->atom_count; i++) {
    const char c = (char)('a' + i);
    if (standing(all, a, c) != standing(all, b, c)) atoms[count++] = c;
  }
  add_edge(all, a, b, TSR_COLLECTIVE_PERMUTE, atoms, count, local_bytes(all, a) * (double)moving);
}

static void add_edges(oracle *all, const char *text) {
  for (int l = 0; l < all->desc.shape.rank; l++)
    for (int count = 1; count <= list_length(list_at(text, l)); count++)
      add_suffix_edges(all, text, l, count);
  add_letter_edges(all, text);
  add_reduce_edges(all, text);
  for (int j = 0; j < all->count; j++) add_permute_edge(all, text, all->states[j].text);
}

// ---- making ----

static void find_atoms(oracle *all) {
  static const int64_t primes[] = {7, 5, 3, 2};
  int64_t stride = all->devices;
  for (int axis = 0; axis < tsr_mesh_axis_count(all->desc.mesh); axis++) {
    int64_t rest = tsr_mesh_axis_at(all->desc.mesh, axis)->size, pre = 1;
    for (size_t i = 0; i < COUNT_OF(primes); i++)
      for (const int64_t prime = primes[i]; rest % prime == 0; rest /= prime) {
        assert_true(all->atom_count < ORACLE_ATOMS);
        stride /= prime;
        all->atoms[all->atom_count++] = (atom){axis, pre, prime, stride};
        pre *= prime;
      }
  }
}

static void relax(oracle *all) {
  const int n = all->count;
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++) {
      const double first = all->cost[i * n + k];
      if (first >= HUGE_VAL) continue;
      for (int j = 0; j < n; j++) {
        const double way = first + all->cost[k * n + j];
        if (way < all->cost[i * n + j]) all->cost[i * n + j] = way;
      }
    }
}

oracle *oracle_create(const oracle_desc *desc) {
  oracle *all = calloc(1, sizeof *all);
  assert_non_null(all);
  all->desc = *desc;
  all->devices = tsr_mesh_device_count(desc->mesh);
  find_atoms(all);
  char empty[TEXT] = {0};
  memset(empty, '/', (size_t)desc->shape.rank);
  add_states(all, empty, 0);
  const size_t cells = (size_t)all->count * (size_t)all->count;
  all->cost = malloc(sizeof *all->cost * cells);
  assert_non_null(all->cost);
  for (size_t i = 0; i < cells; i++) all->cost[i] = HUGE_VAL;
  for (int i = 0; i < all->count; i++) {
    all->cost[i * all->count + i] = 0;
    add_edges(all, all->states[i].text);
  }
  relax(all);
  return all;
}

void oracle_destroy(oracle *all) {
  free(all->cost);
  free(all);
}

int oracle_count(const oracle *all) { return all->count; }
double oracle_cost(const oracle *all, int from, int to) {
  return all->cost[from * all->count + to];
}

bool oracle_is_partial(const oracle *all, int at) {
  return *list_at(all->states[at].text, all->desc.shape.rank);
}

// Atoms of one axis stand one after the other, in order, or are all in no list.
bool oracle_is_whole(const oracle *all, int at) {
  const char *text = all->states[at].text;
  for (int i = 0; i + 1 < all->atom_count; i++) {
    if (all->atoms[i].axis != all->atoms[i + 1].axis) continue;
    const char *a = strchr(text, 'a' + i), *b = strchr(text, 'a' + i + 1);
    if (!a != !b || (a && b != a + 1)) return false;
  }
  return true;
}

// ---- shardings ----

static void write_list(const oracle *all, const char *list, char *out) {
  const int length = list_length(list);
  for (int i = 0; i < length; i++) {
    const atom *a = &all->atoms[list[i] - 'a'];
    const tsr_axis *axis = tsr_mesh_axis_at(all->desc.mesh, a->axis);
    const bool whole = a->size == axis->size;
    out += whole ? sprintf(out, "%s%s", i ? "+" : "", axis->name)
                 : sprintf(out, "%s%s:(%d)%d", i ? "+" : "", axis->name, (int)a->pre, (int)a->size);
  }
  if (!length) strcpy(out, "_");
}

tsr_sharding *oracle_sharding(const oracle *all, int at) {
  const char *text = all->states[at].text;
  const int rank = all->desc.shape.rank;
  char spec[256] = "", list[64];
  for (int d = 0; d < rank; d++) {
    write_list(all, list_at(text, d), list);
    strcat(strcat(spec, d ? ", " : ""), list);
  }
  if (oracle_is_partial(all, at)) {
    write_list(all, list_at(text, rank), list);
    strcat(strcat(spec, " | unreduced="), list);
  }
  tsr_spec *parsed = NULL;
  tsr_sharding *sharding = NULL;
  assert_ok(tsr_spec_parse(spec, TSR_FORM_SHORT, &parsed));
  assert_ok(tsr_sharding_bind(all->desc.mesh, parsed, false, &sharding));
  tsr_spec_release(parsed);
  return sharding;
}
