int suite_mesh(void);
int suite_mesh_text(void);

int main(void) { return suite_mesh() + suite_mesh_text(); }
