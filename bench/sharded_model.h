// A model cut by rows into files for ranks, whose contents are a function of tensor and element.
#ifndef TESSERA_BENCH_SHARDED_MODEL_H
#define TESSERA_BENCH_SHARDED_MODEL_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/plan.h"
#include "tessera/rules.h"

typedef struct sharded_model {
  int tensors, ranks;
  int64_t rows, columns;  // of each tensor, in f32; rows divide by ranks
} sharded_model;

static inline int64_t sharded_bytes(const sharded_model *m) {
  return m->tensors * m->rows * m->columns * 4;
}

// Element `i` of a tensor, as 32 bits that are no NaN.
static inline uint32_t sharded_word(int tensor, int64_t i) {
  const uint64_t mixed = ((uint64_t)tensor << 40) + (uint64_t)i;
  return (uint32_t)(mixed * UINT64_C(0x9e3779b97f4a7c15) >> 32) & 0xbfffffffU;
}

static inline void sharded_fill(uint32_t *words, int tensor, int64_t first, int64_t count) {
  for (int64_t i = 0; i < count; i++) words[i] = sharded_word(tensor, first + i);
}

static inline int sharded_write_header(const sharded_model *m, FILE *file) {
  const int64_t slice = m->rows / m->ranks * m->columns * 4;
  char *text = malloc((size_t)m->tensors * 160 + 64);
  if (!text) return -1;
  size_t length = (size_t)sprintf(text, "{");
  for (int i = 0; i < m->tensors; i++)
    length += (size_t)sprintf(text + length,
                              "%s\"t.%03d\":{\"dtype\":\"F32\",\"shape\":[%" PRId64 ",%" PRId64
                              "],\"data_offsets\":[%" PRId64 ",%" PRId64 "]}",
                              i ? "," : "", i, m->rows / m->ranks, m->columns, i * slice,
                              (i + 1) * slice);
  length += (size_t)sprintf(text + length, "}");
  while (length % 8) text[length++] = ' ';
  const uint64_t size = length;
  const int bad = fwrite(&size, 8, 1, file) != 1 || fwrite(text, 1, length, file) != length;
  free(text);
  return bad ? -1 : 0;
}

static inline int sharded_write_rank(const sharded_model *m, const char *folder, int rank) {
  char path[512];
  enum { WORDS = 1 << 18 };
  uint32_t *words = malloc(sizeof *words * WORDS);
  const int64_t slice = m->rows / m->ranks * m->columns;
  const int length =
      snprintf(path, sizeof path, "%s/model-rank-%d-part-0.safetensors", folder, rank);
  FILE *file = length < (int)sizeof path ? fopen(path, "wb") : NULL;
  int bad = !file || !words || sharded_write_header(m, file);
  for (int i = 0; i < m->tensors && !bad; i++)
    for (int64_t at = 0; at < slice && !bad; at += WORDS) {
      const int64_t count = slice - at < WORDS ? slice - at : WORDS;
      sharded_fill(words, i, rank * slice + at, count);
      bad = fwrite(words, 4, (size_t)count, file) != (size_t)count;
    }
  if (file && fclose(file)) bad = 1;
  free(words);
  return bad ? -1 : 0;
}

// All files, in a folder that is there. 0 = done.
static inline int sharded_write(const sharded_model *m, const char *folder) {
  int bad = 0;
  for (int rank = 0; rank < m->ranks && !bad; rank++) bad = sharded_write_rank(m, folder, rank);
  return bad;
}

// The plan of the same tensors by rules such as "t -> x, _".
static inline tsr_status sharded_plan(const sharded_model *m, const char *mesh_text,
                                      const char *rules_text, tsr_plan **out_plan) {
  tsr_tensor *tensors = calloc((size_t)m->tensors, sizeof *tensors);
  char(*names)[16] = calloc((size_t)m->tensors, sizeof *names);
  const int64_t dims[] = {m->rows, m->columns};
  tsr_tree *tree = NULL;
  tsr_mesh *mesh = NULL;
  tsr_rules *rules = NULL;
  if (!tensors || !names) abort();
  for (int i = 0; i < m->tensors; i++) {
    snprintf(names[i], sizeof names[i], "t.%03d", i);
    tensors[i] = (tsr_tensor){.path = names[i], .dtype = TSR_F32, .rank = 2, .dims = dims};
  }
  tsr_status status = tsr_tree_create(tensors, m->tensors, &tree);
  if (!status) status = tsr_mesh_parse(mesh_text, NULL, &mesh);
  if (!status) status = tsr_rules_parse(rules_text, "bench", NULL, &rules);
  if (!status) status = tsr_plan_match(tree, mesh, rules, NULL, out_plan);
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
  free(names);
  free(tensors);
  return status;
}

#endif
