int suite_partitioner(void);
int suite_data_layout(void);
int suite_state_axes(void);
int suite_move_params(void);
int suite_checkpoints(void);
int suite_partition(void);

int main(void) {
  return suite_partitioner() + suite_data_layout() + suite_state_axes() + suite_move_params() +
         suite_checkpoints() + suite_partition();
}
