int suite_chunks(void);

int main(void) { return suite_chunks(); }
