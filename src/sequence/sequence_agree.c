// How much of what devices need they hold already.
//
// Under a spot, a device's index along a dimension is the number made of its digits (one per atom
// of the list, major to minor). If the sizes of two lists line up, indices are equal exactly if the
// digits are equal one by one. Each equality joins two atoms, and the fraction of devices that
// satisfy all of them follows from the number of joins: no device is visited. Lists that do not
// line up (2 x 3 against 3 x 2) are compared by enumerating the atoms involved.
#include <string.h>

#include "sequence/sequence.h"

// ---- two spots, list by list ----

typedef struct spot_pair {
  const tsr_space *space;
  int list_count;
  struct {
    int a_count, b_count;
    const uint8_t *a, *b;
  } lists[TSR_MAX_LISTS];
  uint8_t a_terms[TSR_MAX_SUB_AXES], b_terms[TSR_MAX_SUB_AXES];
} spot_pair;

static int64_t product_of(const tsr_space *space, const uint8_t *atoms, int count) {
  int64_t product = 1;
  for (int i = 0; i < count; i++) product *= tsr_space_size(space, atoms[i]);
  return product;
}

// Partial results have no order: an atom that stays unreduced is paired with itself, the others in
// order.
static int only_in(const uint8_t *atoms, int count, const uint8_t *others, int other_count,
                   uint8_t *out) {
  int kept = 0;
  for (int i = 0; i < count; i++)
    if (!other_count || !memchr(others, atoms[i], (size_t)other_count)) out[kept++] = atoms[i];
  return kept;
}

static void pair_spots(spot_pair *pair, const tsr_space *space, const tsr_spot *a,
                       const tsr_spot *b) {
  const uint8_t *x = a->atoms, *y = b->atoms;
  pair->space = space;
  pair->list_count = space->list_count;
  for (int l = 0; l < space->list_count; l++) {
    pair->lists[l].a_count = a->count[l];
    pair->lists[l].b_count = b->count[l];
    pair->lists[l].a = x;
    pair->lists[l].b = y;
    x += a->count[l];
    y += b->count[l];
  }
  const int last = space->list_count - 1;
  const uint8_t *u = pair->lists[last].a, *v = pair->lists[last].b;
  const int p = a->count[last], q = b->count[last];
  pair->lists[last].a_count = only_in(u, p, v, q, pair->a_terms);
  pair->lists[last].b_count = only_in(v, q, u, p, pair->b_terms);
  pair->lists[last].a = pair->a_terms;
  pair->lists[last].b = pair->b_terms;
}

// ---- lists that line up ----

static int find_root(const int8_t *parents, int atom) {
  while (parents[atom] >= 0) atom = (int)parents[atom];  // NOLINT(bugprone-signed-char-misuse)
  return atom;
}

// False if sizes do not line up. `wild` atoms of the first spot match anything: each of their
// digits is on some device.
static bool agree_lined_up(const spot_pair *pair, uint64_t wild, tsr_agreement *out) {
  const tsr_space *space = pair->space;
  int8_t parents[TSR_MAX_SUB_AXES];
  memset(parents, -1, sizeof parents);
  double same = 1, cells = 1;
  for (int l = 0; l < pair->list_count; l++) {
    const uint8_t *a = pair->lists[l].a, *b = pair->lists[l].b;
    const int p = pair->lists[l].a_count, q = pair->lists[l].b_count;
    if (l + 1 == pair->list_count) out->shared = same / cells;  // without the terms
    int i = 0;
    for (; i < p && i < q; i++) {
      const int64_t size = tsr_space_size(space, a[i]);
      if (size != tsr_space_size(space, b[i])) return false;
      cells *= (double)size;
      const int x = find_root(parents, a[i]), y = find_root(parents, b[i]);
      if (x == y || wild >> a[i] & 1) continue;
      parents[x] = (int8_t)y;
      same /= (double)size;
    }
    const bool first = i < p;
    for (; i < p || i < q; i++)
      if (!first || !(wild >> a[i] & 1))
        cells *= (double)tsr_space_size(space, first ? a[i] : b[i]);
  }
  out->same = same;
  return true;
}

// ---- lists that do not ----

// The overlap of two chunks of a dimension cut in p and in q, as a fraction of it.
static double common(int64_t i, int64_t p, int64_t j, int64_t q) {
  const int64_t lo = i * q > j * p ? i * q : j * p;
  const int64_t a_end = (i + 1) * q, b_end = (j + 1) * p;
  const int64_t hi = a_end < b_end ? a_end : b_end;
  return hi > lo ? (double)(hi - lo) / ((double)p * (double)q) : 0;
}

static int64_t number_of(const tsr_space *space, const uint8_t *atoms, int count,
                         const int64_t *digits) {
  int64_t number = 0;
  for (int i = 0; i < count; i++)
    number = number * tsr_space_size(space, atoms[i]) + digits[atoms[i]];
  return number;
}

static void add_device(const spot_pair *pair, const int64_t *digits, tsr_agreement *sums) {
  bool same = true;
  double shared = 1;
  for (int l = 0; l < pair->list_count; l++) {
    const uint8_t *a = pair->lists[l].a, *b = pair->lists[l].b;
    const int p = pair->lists[l].a_count, q = pair->lists[l].b_count;
    const int64_t i = number_of(pair->space, a, p, digits),
                  j = number_of(pair->space, b, q, digits);
    same = same && i == j;
    if (l + 1 < pair->list_count)
      shared *= common(i, product_of(pair->space, a, p), j, product_of(pair->space, b, q));
  }
  sums->same += same;
  sums->shared += shared;
}

// The distinct atoms of all lists.
static int atoms_at_stake(const spot_pair *pair, uint8_t *out) {
  bool seen[TSR_MAX_SUB_AXES] = {false};
  int count = 0;
  for (int l = 0; l < pair->list_count; l++) {
    for (int i = 0; i < pair->lists[l].a_count; i++) seen[pair->lists[l].a[i]] = true;
    for (int i = 0; i < pair->lists[l].b_count; i++) seen[pair->lists[l].b[i]] = true;
  }
  for (int a = 0; a < TSR_MAX_SUB_AXES; a++)
    if (seen[a]) out[count++] = (uint8_t)a;
  return count;
}

static void agree_counted(const spot_pair *pair, const uint8_t *atoms, int count,
                          tsr_agreement *out) {
  int64_t digits[TSR_MAX_SUB_AXES] = {0};
  tsr_agreement sums = {0};
  double devices = 0;
  for (bool more = true; more; devices++) {
    add_device(pair, digits, &sums);
    int i = 0;
    while (i < count && ++digits[atoms[i]] == tsr_space_size(pair->space, atoms[i]))
      digits[atoms[i++]] = 0;
    more = i < count;
  }
  *out = (tsr_agreement){.same = sums.same / devices, .shared = sums.shared / devices};
}

static double smaller(double a, double b) { return a < b ? a : b; }

bool tsr_space_agree(const tsr_space *space, const tsr_spot *a, const tsr_spot *b, double limit,
                     tsr_agreement *out_agreement) {
  spot_pair pair;
  pair_spots(&pair, space, a, b);
  if (agree_lined_up(&pair, 0, out_agreement)) return true;
  uint8_t atoms[TSR_MAX_SUB_AXES];
  const int count = atoms_at_stake(&pair, atoms);
  if ((double)product_of(space, atoms, count) <= limit) {
    agree_counted(&pair, atoms, count, out_agreement);
    return true;
  }
  *out_agreement = (tsr_agreement){.same = 0, .shared = 1};
  for (int l = 0; l + 1 < pair.list_count; l++)
    out_agreement->shared *=
        smaller(1.0 / (double)product_of(space, pair.lists[l].a, pair.lists[l].a_count),
                1.0 / (double)product_of(space, pair.lists[l].b, pair.lists[l].b_count));
  return false;
}

void tsr_space_boxes(const tsr_space *space, const tsr_spot *a, const tsr_spot *b,
                     const int64_t *digits, int64_t *out_a, int64_t *out_b) {
  spot_pair pair;
  pair_spots(&pair, space, a, b);
  *out_a = 0;
  *out_b = 0;
  for (int l = 0; l < pair.list_count; l++) {
    const int64_t size = product_of(space, pair.lists[l].a, pair.lists[l].a_count);
    *out_a = *out_a * size + number_of(space, pair.lists[l].a, pair.lists[l].a_count, digits);
    *out_b = *out_b * size + number_of(space, pair.lists[l].b, pair.lists[l].b_count, digits);
  }
}

// ---- the bound ----

static uint64_t mask_of(const uint8_t *atoms, int count) {
  uint64_t mask = 0;
  for (int i = 0; i < count; i++) mask |= UINT64_C(1) << atoms[i];
  return mask;
}

// Upper bound on what devices share, on average, with the devices that differ in `wild` digits.
static double share_wildly(const tsr_space *space, const tsr_spot *from, const tsr_spot *to,
                           uint64_t wild, double limit) {
  tsr_agreement agreement;
  spot_pair pair;
  pair_spots(&pair, space, from, to);
  if (agree_lined_up(&pair, wild, &agreement)) return agreement.shared;
  double more = 1;
  for (int l = 0; l + 1 < pair.list_count; l++)
    for (int i = 0; i < pair.lists[l].a_count; i++)
      if (wild >> pair.lists[l].a[i] & 1) more *= (double)tsr_space_size(space, pair.lists[l].a[i]);
  tsr_space_agree(space, from, to, limit, &agreement);
  return agreement.shared * more;
}

// Devices that differ only along the target's unreduced atoms form a *column*: together they must
// know every element of their box.
//
// Replicas: an element that no device of a column has must be sent to it. Sums of t terms that no
// column has entirely: t - 1 messages precede the first complete sum of an element, and every other
// column receives one more. Without partial results a column is a device, and the bound is what
// devices lack.
double tsr_space_lower_bound(const tsr_space *space, const tsr_spot *from, const tsr_spot *to,
                             double elements, double limit) {
  const int last = space->list_count - 1;
  int cut = 0, shown = 0;
  for (int l = 0; l < last; l++) cut += to->count[l];
  for (int l = 0; l < last; l++) shown += from->count[l];
  const uint64_t wild = mask_of(to->atoms + cut, to->count[last]);
  const double width = (double)product_of(space, to->atoms + cut, to->count[last]);
  const double columns = space->devices / width;
  const double holders = columns / (double)product_of(space, to->atoms, cut);
  double terms = 1;
  for (int i = 0; i < from->count[last]; i++)
    if (!(wild >> from->atoms[shown + i] & 1))
      terms *= (double)tsr_space_size(space, from->atoms[shown + i]);
  if (terms > 1) return elements * (terms - 1 + holders - 1);
  const double left = holders - columns * share_wildly(space, from, to, wild, limit);
  return left > 0 ? elements * left : 0;
}
