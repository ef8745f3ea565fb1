int suite_control(void);
int suite_convolutions(void);
int suite_custom_calls(void);
int suite_decompose(void);
int suite_executable(void);
int suite_fusion(void);
int suite_lanes(void);
int suite_moves(void);
int suite_parallel(void);
int suite_products(void);
int suite_rank_runs(void);
int suite_reductions(void);
int suite_shards(void);

int main(void) {
  int failed = 0;
  failed += suite_control();
  failed += suite_convolutions();
  failed += suite_custom_calls();
  failed += suite_decompose();
  failed += suite_executable();
  failed += suite_fusion();
  failed += suite_lanes();
  failed += suite_moves();
  failed += suite_parallel();
  failed += suite_products();
  failed += suite_rank_runs();
  failed += suite_reductions();
  failed += suite_shards();
  return failed;
}
