int suite_mesh(void);
int suite_mesh_text(void);
int suite_mesh_json(void);
int suite_derive(void);
int suite_cost(void);
int suite_groups(void);
int suite_t5x_mesh(void);
int suite_eformer_mesh(void);
int suite_primes(void);
int suite_jax_torus(void);
int suite_jax_kinds(void);
int suite_jax_mesh(void);
int suite_torch_mesh(void);

int main(void) {
  return suite_mesh() + suite_mesh_text() + suite_mesh_json() + suite_derive() + suite_cost() +
         suite_groups() + suite_t5x_mesh() + suite_eformer_mesh() + suite_primes() +
         suite_jax_torus() + suite_jax_kinds() + suite_jax_mesh() + suite_torch_mesh();
}
