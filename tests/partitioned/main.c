int suite_array_call(void);
int suite_partitioned(void);
int suite_recorded_shardings(void);
int suite_static_values(void);

int main(void) {
  int failed = 0;
  failed += suite_array_call();
  failed += suite_partitioned();
  failed += suite_recorded_shardings();
  failed += suite_static_values();
  return failed;
}
