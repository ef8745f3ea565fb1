int suite_faults(void);

int main(void) { return suite_faults(); }
