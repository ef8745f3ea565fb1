int suite_math(void);
int suite_math_complex(void);
int suite_math_special(void);
int suite_tile_ops(void);
int suite_tile_spaces(void);
int suite_tile_sums(void);

int main(void) {
  int failed = 0;
  failed += suite_math();
  failed += suite_math_complex();
  failed += suite_math_special();
  failed += suite_tile_ops();
  failed += suite_tile_spaces();
  failed += suite_tile_sums();
  return failed;
}
