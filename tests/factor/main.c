int suite_factor_memory(void);
int suite_factor_rules(void);
int suite_projection(void);
int suite_sharding_numbers(void);
int suite_sharding_table(void);
int suite_spread(void);

int main(void) {
  int failed = 0;
  failed += suite_factor_memory();
  failed += suite_factor_rules();
  failed += suite_projection();
  failed += suite_sharding_numbers();
  failed += suite_sharding_table();
  failed += suite_spread();
  return failed;
}
