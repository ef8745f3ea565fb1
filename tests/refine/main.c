int suite_refine(void);
int suite_refine_jax(void);

int main(void) {
  int failed = 0;
  failed += suite_refine();
  failed += suite_refine_jax();
  return failed;
}
