// NumPy's files for tests, written by hand: every order, byte order and way to pack.
#ifndef TESSERA_TESTS_CHECKPOINT_NUMPY_FILES_H
#define TESSERA_TESTS_CHECKPOINT_NUMPY_FILES_H

#include "support/test.h"
#include "tessera/shape.h"

typedef struct test_array {
  const char *name;
  const char *descr;  // as NumPy writes it: "<f4"
  int width;          // bytes of an element
  int part;           // bytes of what is turned round: half of a complex number
  bool big, fortran;
  tsr_shape shape;
} test_array;
#define TEST_ARRAY(name, descr, width, part, big, fortran, rank, ...) \
  {                                                                   \
    name, descr, width, part, big, fortran, {                         \
      rank, { __VA_ARGS__ }                                           \
    }                                                                 \
  }

int64_t test_array_elements(const test_array *array);
// Byte `byte` of element `element`, counted row-major, on a machine that has the lowest first.
unsigned char test_array_byte(const test_array *array, int64_t element, int byte);
// Writes it as a .npy file, or several as an archive, deflated or stored.
void test_write_npy(const char *path, const test_array *array);
void test_write_npz(const char *path, const test_array *arrays, int count, bool deflated);

#endif
