// Shortest augmenting paths with prices (Jonker and Volgenant), on classes instead of single
// members.
//
// Every left class has a price u and every right class a price v, with u + v at least the weight of
// every edge. Edges in use are tight (u + v equals the weight), and a right class with room has
// price 0. Initially u is the best edge of a class, and tight edges are filled in order. Then each
// remaining member takes the cheapest augmenting path, which ends at a class with room or with a
// member that stays unplaced. The sum of prices is an upper bound at any time.
#include "transfer/assign.h"

#include <stdlib.h>

#include "base/arithmetic.h"

enum { NONE = -1 };

// A class as a node of the search: left ones first, then right ones.
typedef struct class_node {
  int64_t price;      // u or v
  int64_t left_over;  // to place, or room
  int64_t distance;   // from the start of the search; INT64_MAX = not reached
  int64_t edge;       // by which it was reached
  int64_t heap;       // its place in the heap, or NONE
} class_node;

typedef struct path_search {
  const tsr_assign_problem *problem;
  class_node *nodes;           // owned
  int64_t *heap;               // of nodes, nearest first; owned
  int64_t *touched;            // nodes reached in this search; owned
  int64_t *first;              // left class -> its first edge, and one past the last
  int64_t *back, *back_first;  // right class -> its edges
  int64_t heap_count, touched_count, steps;
} path_search;

static class_node *right_node(const path_search *s, int64_t right) {
  return &s->nodes[s->problem->left_count + right];
}

// The reduced cost of an edge; 0 or more.
static int64_t slack(const path_search *s, const tsr_assign_edge *e) {
  return s->nodes[e->left].price - e->weight + right_node(s, e->right)->price;
}

// ---- a heap that knows where its nodes are ----

static void put(path_search *s, int64_t place, int64_t index) {
  s->heap[place] = index;
  s->nodes[index].heap = place;
}

static void rise(path_search *s, int64_t place) {
  const int64_t index = s->heap[place], distance = s->nodes[index].distance;
  while (place > 0) {
    const int64_t above = (place - 1) / 2;
    if (s->nodes[s->heap[above]].distance <= distance) break;
    put(s, place, s->heap[above]);
    place = above;
  }
  put(s, place, index);
}

static int64_t pop(path_search *s) {
  const int64_t nearest = s->heap[0], last = s->heap[--s->heap_count];
  s->nodes[nearest].heap = NONE;
  if (s->heap_count == 0) return nearest;
  const int64_t distance = s->nodes[last].distance;
  int64_t place = 0;
  for (int64_t below = 1; below < s->heap_count; below = 2 * place + 1) {
    if (below + 1 < s->heap_count &&
        s->nodes[s->heap[below + 1]].distance < s->nodes[s->heap[below]].distance)
      below++;
    if (s->nodes[s->heap[below]].distance >= distance) break;
    put(s, place, s->heap[below]);
    place = below;
  }
  put(s, place, last);
  return nearest;
}

static void reach(path_search *s, int64_t index, int64_t distance, int64_t edge) {
  class_node *n = &s->nodes[index];
  if (distance >= n->distance) return;
  if (n->distance == INT64_MAX) s->touched[s->touched_count++] = index;
  n->distance = distance;
  n->edge = edge;
  if (n->heap == NONE) {
    n->heap = s->heap_count;
    s->heap[s->heap_count++] = index;
  }
  rise(s, n->heap);
}

// ---- one path ----

// The nearest end of a path: a right class with room, or a left class that gives up a place at the
// cost of its price.
typedef struct goal {
  int64_t node, cost;
} goal;

static void look_from_left(path_search *s, int64_t left, goal *best) {
  const class_node *n = &s->nodes[left];
  if (n->price <= best->cost - n->distance) *best = (goal){left, n->distance + n->price};
  for (int64_t e = s->first[left]; e < s->first[left + 1]; e++) {
    const tsr_assign_edge *edge = &s->problem->edges[e];
    const int64_t more = slack(s, edge);
    if (more < best->cost - n->distance)
      reach(s, s->problem->left_count + edge->right, n->distance + more, e);
  }
  s->steps += s->first[left + 1] - s->first[left];
}

static void look_from_right(path_search *s, int64_t right, goal *best) {
  const class_node *n = right_node(s, right);
  if (n->left_over > 0) {
    *best = (goal){s->problem->left_count + right, n->distance};
    return;
  }
  for (int64_t i = s->back_first[right]; i < s->back_first[right + 1]; i++) {
    const tsr_assign_edge *edge = &s->problem->edges[s->back[i]];
    if (edge->flow > 0) reach(s, edge->left, n->distance, s->back[i]);
  }
  s->steps += s->back_first[right + 1] - s->back_first[right];
}

static goal find_goal(path_search *s, int64_t start) {
  goal best = {start, s->nodes[start].price};
  s->heap_count = s->touched_count = 0;
  reach(s, start, 0, NONE);
  while (s->heap_count > 0 && s->nodes[s->heap[0]].distance < best.cost) {
    const int64_t index = pop(s);
    if (index < s->problem->left_count)
      look_from_left(s, index, &best);
    else
      look_from_right(s, index - s->problem->left_count, &best);
  }
  return best;
}

// Changes the prices of nodes nearer than the goal so that its path becomes tight.
static void change_prices(path_search *s, const goal *found) {
  for (int64_t i = 0; i < s->touched_count; i++) {
    class_node *n = &s->nodes[s->touched[i]];
    if (n->distance < found->cost)
      n->price += (s->touched[i] < s->problem->left_count ? -1 : 1) * (found->cost - n->distance);
  }
}

// The capacity of the path: walks its edges back from the goal, alternately used more and less.
static int64_t narrowest(const path_search *s, int64_t start, const goal *found) {
  int64_t most = s->nodes[start].left_over;
  const bool has_room = found->node >= s->problem->left_count;
  if (has_room && s->nodes[found->node].left_over < most) most = s->nodes[found->node].left_over;
  for (int64_t at = found->node; at != start;) {
    const tsr_assign_edge *edge = &s->problem->edges[s->nodes[at].edge];
    const bool is_left = at < s->problem->left_count;
    if (is_left && edge->flow < most) most = edge->flow;
    at = is_left ? s->problem->left_count + edge->right : edge->left;
  }
  return most;
}

static void move_along(path_search *s, int64_t start, const goal *found, int64_t amount) {
  for (int64_t at = found->node; at != start;) {
    tsr_assign_edge *edge = &s->problem->edges[s->nodes[at].edge];
    const bool is_left = at < s->problem->left_count;
    edge->flow += is_left ? -amount : amount;
    at = is_left ? s->problem->left_count + edge->right : edge->left;
  }
  s->nodes[start].left_over -= amount;
  // The end has less room, or one more member unplaced.
  s->nodes[found->node].left_over += found->node >= s->problem->left_count ? -amount : amount;
}

static void reset_search(path_search *s) {
  for (int64_t i = 0; i < s->touched_count; i++) {
    s->nodes[s->touched[i]].distance = INT64_MAX;
    s->nodes[s->touched[i]].heap = NONE;
  }
}

static void place_one(path_search *s, int64_t start) {
  const goal found = find_goal(s, start);
  change_prices(s, &found);
  if (found.node != start) move_along(s, start, &found, narrowest(s, start, &found));
  reset_search(s);
}

// ---- solving ----

static void fill_edge(path_search *s, tsr_assign_edge *edge) {
  class_node *left = &s->nodes[edge->left], *right = right_node(s, edge->right);
  const int64_t amount = left->left_over < right->left_over ? left->left_over : right->left_over;
  edge->flow += amount;
  left->left_over -= amount;
  right->left_over -= amount;
}

static void start_prices(path_search *s) {
  const tsr_assign_problem *p = s->problem;
  for (int64_t i = 0; i < p->left_count + p->right_count; i++)
    s->nodes[i] =
        (class_node){.left_over = i < p->left_count ? p->supply[i] : p->room[i - p->left_count],
                     .distance = INT64_MAX,
                     .heap = NONE};
  for (int64_t e = 0; e < p->edge_count; e++) {
    class_node *left = &s->nodes[p->edges[e].left];
    if (p->edges[e].weight > left->price) left->price = p->edges[e].weight;
    p->edges[e].flow = 0;
  }
  for (int64_t e = 0; e < p->edge_count; e++)
    if (slack(s, &p->edges[e]) == 0) fill_edge(s, &p->edges[e]);
}

static int by_weight(const void *left, const void *right) {
  const int64_t a = (*(tsr_assign_edge *const *)left)->weight;
  const int64_t b = (*(tsr_assign_edge *const *)right)->weight;
  return (a < b) - (a > b);
}

// The rest greedily, heaviest edges first.
static tsr_status place_rest(path_search *s) {
  const tsr_assign_problem *p = s->problem;
  tsr_assign_edge **edges = malloc(sizeof *edges * ((size_t)p->edge_count + 1));
  if (!edges) return tsr_fail(NO_MEMORY, "%lld edges", (long long)p->edge_count);
  for (int64_t e = 0; e < p->edge_count; e++) edges[e] = &p->edges[e];
  qsort(edges, (size_t)p->edge_count, sizeof(tsr_assign_edge *), by_weight);
  for (int64_t e = 0; e < p->edge_count; e++) fill_edge(s, edges[e]);
  free(edges);
  return NULL;
}

static void index_edges(path_search *s) {
  const tsr_assign_problem *p = s->problem;
  for (int64_t e = 0; e < p->edge_count; e++) {
    s->first[p->edges[e].left + 1]++;
    s->back_first[p->edges[e].right + 1]++;
  }
  for (int64_t i = 0; i < p->left_count; i++) s->first[i + 1] += s->first[i];
  for (int64_t i = 0; i < p->right_count; i++) s->back_first[i + 1] += s->back_first[i];
  for (int64_t e = p->edge_count - 1; e >= 0; e--)
    s->back[--s->back_first[p->edges[e].right + 1]] = e;
  for (int64_t i = 0; i < p->right_count; i++) s->back_first[i] = s->back_first[i + 1];
  s->back_first[p->right_count] = p->edge_count;
}

static tsr_status run(path_search *s) {
  const tsr_assign_problem *p = s->problem;
  start_prices(s);
  for (int64_t i = 0; i < p->left_count; i++)
    while (s->nodes[i].left_over > 0 && s->nodes[i].price > 0 && s->steps < p->steps)
      place_one(s, i);
  return s->steps < p->steps ? NULL : place_rest(s);
}

static void add_up(const path_search *s, int64_t *out_saved, int64_t *out_bound) {
  const tsr_assign_problem *p = s->problem;
  *out_saved = *out_bound = 0;
  for (int64_t e = 0; e < p->edge_count; e++)
    *out_saved =
        tsr_saturated_add(*out_saved, tsr_saturated_multiply(p->edges[e].flow, p->edges[e].weight));
  for (int64_t i = 0; i < p->left_count + p->right_count; i++) {
    const int64_t members = i < p->left_count ? p->supply[i] : p->room[i - p->left_count];
    *out_bound = tsr_saturated_add(*out_bound, tsr_saturated_multiply(members, s->nodes[i].price));
  }
}

tsr_status tsr_assign_solve(const tsr_assign_problem *problem, int64_t *out_saved,
                            int64_t *out_bound) {
  const size_t nodes = (size_t)(problem->left_count + problem->right_count);
  const size_t edges = (size_t)problem->edge_count;
  path_search s = {.problem = problem, .nodes = malloc(sizeof *s.nodes * (nodes + 1))};
  int64_t *words = calloc(3 * nodes + edges + 3, sizeof *words);
  tsr_status status = NULL;
  if (s.nodes && words) {
    s.heap = words;
    s.touched = words + nodes;
    s.first = words + 2 * nodes;
    s.back_first = s.first + problem->left_count + 1;
    s.back = s.back_first + problem->right_count + 1;
    index_edges(&s);
    status = run(&s);
    if (!status) add_up(&s, out_saved, out_bound);
  } else {
    status = tsr_fail(NO_MEMORY, "an assignment of %zu classes", nodes);
  }
  free(s.nodes);
  free(words);
  return status;
}
