int suite_array_tree(void);
int suite_constrain(void);
int suite_constrain_names(void);
int suite_placer(void);
int suite_place_ranks(void);
int suite_tree_put(void);

int main(void) {
  return suite_array_tree() + suite_constrain() + suite_constrain_names() + suite_placer() +
         suite_place_ranks() + suite_tree_put();
}
