int suite_control(void);
int suite_executable(void);
int suite_fusion(void);
int suite_moves(void);

int main(void) {
  int failed = 0;
  failed += suite_control();
  failed += suite_executable();
  failed += suite_fusion();
  failed += suite_moves();
  return failed;
}
