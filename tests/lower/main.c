int suite_forms(void);
int suite_fuse(void);

int main(void) { return suite_forms() + suite_fuse(); }
