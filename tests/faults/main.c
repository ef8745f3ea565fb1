int suite_faults(void);
int suite_saves(void);

int main(void) { return suite_faults() + suite_saves(); }
