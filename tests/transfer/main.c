int suite_copy_plan(void);

int main(void) { return suite_copy_plan(); }
