int suite_control(void);
int suite_executable(void);

int main(void) {
  int failed = 0;
  failed += suite_control();
  failed += suite_executable();
  return failed;
}
