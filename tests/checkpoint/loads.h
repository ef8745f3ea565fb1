// What the tests of loads share: a model of many types and shapes, random plans for it, and arrays
// held against whole tensors cut in memory.
#ifndef TESSERA_TESTS_CHECKPOINT_LOADS_H
#define TESSERA_TESTS_CHECKPOINT_LOADS_H

#include "checkpoint/models.h"
#include "tessera/checkpoint/open.h"
#include "tessera/place.h"

// The tensors of the model, as a tree. Elements are a function of name and place; of floats they
// are finite and small.
#define TEST_LOAD_TREE                                     \
  "{\"a.w\": {\"dtype\": \"f32\", \"shape\": [64, 48]},"   \
  " \"b\": {\"dtype\": \"bf16\", \"shape\": [37]},"        \
  " \"c\": {\"dtype\": \"i64\", \"shape\": [3, 5, 7]},"    \
  " \"f\": {\"dtype\": \"f4e2m1fn\", \"shape\": [22, 8]}," \
  " \"g\": {\"dtype\": \"f4e2m1fn\", \"shape\": [6, 7]},"  \
  " \"none\": {\"dtype\": \"f32\", \"shape\": [0, 4]},"    \
  " \"qkv\": {\"dtype\": \"f16\", \"shape\": [16, 6]},"    \
  " \"s\": {\"dtype\": \"f32\", \"shape\": []}}"
void test_load_write(const char *path);  // as one file
// The same for tensors of any other tree.
void test_load_write_tree(const char *path, const char *tree_json);

// A random plan for the model, over 8 devices; for files, whose shards must end with a byte.
tsr_plan *test_load_plan(test_random *random, bool for_files);
// Stores a checkpoint anew in a format, cut by a plan where that has one.
void test_load_store(const char *from, const char *to, tsr_checkpoint_format format,
                     const tsr_plan *plan);

// Whether every part here is what the whole tensors of a checkpoint (cast, where the array is of
// another type) come to when they are cut in memory. From any thread.
TSR_MUST_USE tsr_status test_load_check(const tsr_array_tree *tree, const tsr_checkpoint *whole);

#endif
