// Every damaged file is refused with the message written beside it, and no two messages are alike.
#include <stdlib.h>
#include <string.h>

#include "corpus/corpus.h"

// ---- all cases of a kind ----

typedef struct tally {
  const corpus_kind *kind;
  int refused, failures, count;
  char *said[1024];  // owned
} tally;

static void check_own(tally *t, const corpus_block *b, const char *said) {
  for (int i = 0; i < t->count; i++)
    if (!strcmp(t->said[i], said)) {
      t->failures++;
      print_error("%s, case %s: another case says the same: %s\n", t->kind->name, b->name, said);
    }
  assert_true(t->count < (int)COUNT_OF(t->said));
  t->said[t->count++] = strdup(said);
}

static void check_case(tally *t, const corpus_block *b) {
  corpus_answer a = corpus_ask(t->kind, &b->folder);
  const char *said = tsr_text_string(&a.text), *wanted = tsr_text_string(&b->wanted);
  if (!b->name && a.refused) {
    t->failures++;
    print_error("%s, the good folder: %s\n", t->kind->name, said);
  } else if (b->name && strcmp(said, wanted) != 0) {
    t->failures++;
    print_error("%s, case %s\n  says   %s\n  wanted %s\n", t->kind->name, b->name, said, wanted);
  }
  if (b->name && !a.fsck_agrees) {
    t->failures++;
    print_error("%s, case %s: fsck %s\n", t->kind->name, b->name,
                a.refused ? "finds no error" : "finds an error");
  }
  if (b->name && a.refused) {
    check_own(t, b, said);
    t->refused++;
  }
  tsr_text_deinit(&a.text);
}

static void check_kind(const corpus_kind *kind) {
  char path[128];
  tally *t = calloc(1, sizeof *t);
  corpus_folder good = {0};
  corpus_block block;
  assert_non_null(t);
  t->kind = kind;
  char *text = corpus_read(kind, path);
  for (const char *at = text; corpus_block_next(at, &good, &block);) {
    check_case(t, &block);
    at = block.start + block.length + 1;
    corpus_block_end(&block, &good);
  }
  print_message("%s: %d damaged ones refused, each with its own message\n", kind->name, t->refused);
  const int failures = t->failures, refused = t->refused;
  for (int i = 0; i < t->count; i++) free(t->said[i]);
  corpus_folder_clear(&good);
  free(text);
  free(t);
  assert_int_equal(failures, 0);
  assert_true(refused >= kind->least);
}

static void check_named(const char *name) {
  for (int i = 0; i < corpus_kind_count; i++)
    if (!strcmp(corpus_kinds[i].name, name)) check_kind(&corpus_kinds[i]);
}

#define KIND(function, name)           \
  static void function(void **state) { \
    (void)state;                       \
    check_named(name);                 \
  }
KIND(safetensors, "safetensors")
KIND(indices, "index")
KIND(manifests, "manifest")
KIND(files_of_ranks, "ranks")
KIND(arrays, "npy")
KIND(archives, "npz")
KIND(plans, "plan")
KIND(maps, "map")
KIND(faults, "fsck")

SUITE(cases, TEST(safetensors), TEST(indices), TEST(manifests), TEST(files_of_ranks), TEST(arrays),
      TEST(archives), TEST(plans), TEST(maps), TEST(faults))
