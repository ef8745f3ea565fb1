int suite_copy_plan(void);
int suite_sequence_all(void);

int main(void) { return suite_copy_plan() + suite_sequence_all(); }
