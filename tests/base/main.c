// One line a suite, so that suites added side by side merge.
#define SUITES(X) \
  X(status)       \
  X(text)         \
  X(arena)        \
  X(buffer)       \
  X(suggest)      \
  X(dtype)        \
  X(shape)        \
  X(slice)        \
  X(copy)         \
  X(convert)      \
  X(scope)        \
  X(hash)         \
  X(scan)         \
  X(json)         \
  X(json_writer)  \
  X(pool)         \
  X(progress)

#define X(name) int suite_##name(void);
SUITES(X)
#undef X

int main(void) {
  int failed = 0;
#define X(name) failed += suite_##name();
  SUITES(X)
#undef X
  return failed;
}
