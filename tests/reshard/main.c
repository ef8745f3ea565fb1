int suite_insert_reshards(void);
int suite_verify_unreduced(void);

int main(void) {
  int failed = 0;
  failed += suite_insert_reshards();
  failed += suite_verify_unreduced();
  return failed;
}
