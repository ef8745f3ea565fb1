int suite_topology_picture(void);

int main(void) { return suite_topology_picture(); }
