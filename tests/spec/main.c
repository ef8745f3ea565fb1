int suite_placements(void);
int suite_tiling(void);

int main(void) { return suite_placements() + suite_tiling(); }
