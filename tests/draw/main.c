int suite_box_grid(void);
int suite_topology_picture(void);
int suite_units(void);

int main(void) { return suite_box_grid() + suite_topology_picture() + suite_units(); }
