// Whatever the text of a map: no crash; a map that comes out of it survives printing, and what it
// makes of a small model can be told, turned around and read.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "map/map.h"
#include "map/map_internal.h"
#include "plan/tree_internal.h"
#include "tessera/checkpoint/map.h"
#include "tessera/rules.h"
#include "tessera/shape.h"
#include "tessera/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const tsr_fact facts[] = {{"heads", 4}, {"kv_heads", 2}, {"head_dim", 2}, {"experts", 3}};
static const tsr_map_options options = {
    .size = sizeof options, .facts = facts, .fact_count = sizeof facts / sizeof *facts};

static tsr_tree *make_tree(void) {
  static const int64_t dims[] = {8, 4, 3, 2};
  static const char *const names[] = {"q.weight",  "k.weight", "l.0.e.0.w", "l.0.e.1.w",
                                      "l.1.e.0.w", "v",        "s",         "layers.7.b"};
  tsr_tensor tensors[sizeof names / sizeof *names];
  tsr_tree *tree = NULL;
  for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
    tensors[i] = (tsr_tensor){.path = names[i],
                              .dtype = i == 5 ? TSR_U4 : TSR_F16,
                              .rank = i == 6 ? 0 : 2 + i % 3,
                              .dims = dims};
  tsr_status status = tsr_tree_create(tensors, sizeof names / sizeof *names, &tree);
  assert(!status);
  return tree;
}

static void check_printing(const tsr_map *map) {
  tsr_text first = TSR_TEXT_EMPTY, second = TSR_TEXT_EMPTY;
  tsr_map *again = NULL;
  tsr_map_print(map, &first);
  tsr_status status = tsr_map_parse(tsr_text_string(&first), "again", &again);
  assert(!status && tsr_map_count(again) == tsr_map_count(map));
  tsr_map_print(again, &second);
  assert(!strcmp(tsr_text_string(&first), tsr_text_string(&second)));
  tsr_map_release(again);
  tsr_text_deinit(&first);
  tsr_text_deinit(&second);
}

// Every place of a tensor is in exactly one of its pieces.
static void check_pieces(const tsr_mapping *mapping) {
  for (int64_t i = 0; i < mapping->count; i++) {
    const tsr_mapped *mapped = &mapping->items[i];
    int64_t elements = 0, found = 0;
    tsr_status status = tsr_shape_count(&mapped->shape, &elements);
    assert(!status);
    for (int64_t p = 0; p < mapped->piece_count; p++) {
      const tsr_map_piece piece = tsr_map_kept_open(&mapped->pieces[p]);
      found += tsr_map_piece_elements(&piece);
      assert(piece.to >= 0 && piece.to + tsr_map_piece_span(&piece) < elements);
    }
    assert(found == elements);
  }
}

static void check_mapping(const tsr_map *map) {
  tsr_tree *tree = make_tree();
  tsr_mapping *mapping = NULL, *inverse = NULL;
  tsr_status status = tsr_map_apply(map, tree, &options, &mapping);
  if (!status) {
    check_pieces(mapping);
    status = tsr_mapping_invert(mapping, &inverse);
    if (!status) {
      check_pieces(inverse);
      assert(tsr_tree_equal(tsr_mapping_tree(inverse), tree));
    }
  }
  assert(!status || *tsr_status_text(status));
  tsr_status_free(status);
  tsr_mapping_release(inverse);
  tsr_mapping_release(mapping);
  tsr_tree_release(tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  tsr_map *map = NULL;
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  tsr_status status = tsr_map_parse(text, "fuzz", &map);
  free(text);
  if (status) {
    assert(*tsr_status_text(status) && !map);
    tsr_status_free(status);
    return 0;
  }
  check_printing(map);
  check_mapping(map);
  tsr_map_release(map);
  return 0;
}
