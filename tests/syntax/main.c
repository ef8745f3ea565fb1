int suite_float_literals(void);
int suite_op_forms(void);
int suite_program_print(void);
int suite_program_refused(void);
int suite_reader(void);
int suite_syntax_attrs(void);
int suite_syntax_constants(void);
int suite_syntax_records(void);
int suite_syntax_refused(void);
int suite_syntax_types(void);

int main(void) {
  int failed = 0;
  failed += suite_float_literals();
  failed += suite_op_forms();
  failed += suite_program_print();
  failed += suite_program_refused();
  failed += suite_reader();
  failed += suite_syntax_attrs();
  failed += suite_syntax_constants();
  failed += suite_syntax_records();
  failed += suite_syntax_refused();
  failed += suite_syntax_types();
  return failed;
}
