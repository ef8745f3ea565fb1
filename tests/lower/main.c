int suite_fuse(void);

int main(void) { return suite_fuse(); }
