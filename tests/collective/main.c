int suite_collective_steps(void);
int suite_collective_passes(void);

int main(void) {
  int failed = 0;
  failed += suite_collective_steps();
  failed += suite_collective_passes();
  return failed;
}
