int suite_call_ops(void);
int suite_chlo_ops(void);
int suite_collective_ops(void);
int suite_control_ops(void);
int suite_convolution_ops(void);
int suite_dot_ops(void);
int suite_dynamic_ops(void);
int suite_elementwise_ops(void);
int suite_gather_ops(void);
int suite_inference(void);
int suite_math_ops(void);
int suite_program_verify(void);
int suite_reduce_ops(void);
int suite_sdy_ops(void);
int suite_shape_ops(void);
int suite_verify_memory(void);
int suite_window_ops(void);

int main(void) {
  int failed = 0;
  failed += suite_call_ops();
  failed += suite_chlo_ops();
  failed += suite_collective_ops();
  failed += suite_control_ops();
  failed += suite_convolution_ops();
  failed += suite_dot_ops();
  failed += suite_dynamic_ops();
  failed += suite_elementwise_ops();
  failed += suite_gather_ops();
  failed += suite_inference();
  failed += suite_math_ops();
  failed += suite_program_verify();
  failed += suite_reduce_ops();
  failed += suite_sdy_ops();
  failed += suite_shape_ops();
  failed += suite_verify_memory();
  failed += suite_window_ops();
  return failed;
}
