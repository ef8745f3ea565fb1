int suite_tiling(void);

int main(void) { return suite_tiling(); }
