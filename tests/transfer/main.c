int suite_copy_plan(void);
int suite_choice(void);
int suite_relabel(void);
int suite_batch(void);
int suite_memory(void);
int suite_sequence_all(void);

int main(void) {
  return suite_copy_plan() + suite_choice() + suite_relabel() + suite_batch() + suite_memory() +
         suite_sequence_all();
}
