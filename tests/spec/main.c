int suite_correct(void);
int suite_equivalent(void);
int suite_placements(void);
int suite_placements_spec(void);
int suite_sharding(void);
int suite_spec(void);
int suite_spec_json(void);
int suite_spec_text(void);
int suite_tiling(void);
int suite_tiling_spec(void);

int main(void) {
  int failed = 0;
  failed += suite_correct();
  failed += suite_equivalent();
  failed += suite_placements();
  failed += suite_placements_spec();
  failed += suite_sharding();
  failed += suite_spec();
  failed += suite_spec_json();
  failed += suite_spec_text();
  failed += suite_tiling();
  failed += suite_tiling_spec();
  return failed;
}
