int suite_math(void);
int suite_math_complex(void);
int suite_math_special(void);

int main(void) {
  int failed = 0;
  failed += suite_math();
  failed += suite_math_complex();
  failed += suite_math_special();
  return failed;
}
