#include <string.h>

int suite_copy_plan(void);
int suite_choice(void);
int suite_relabel(void);
int suite_box_copies(void);
int suite_memory(void);
int suite_sequence(void);
int suite_sequence_all(void);
int suite_sequence_links(void);
int suite_sequence_large(void);

// With an argument only what takes long.
int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "all")) return suite_sequence_large();
  return suite_copy_plan() + suite_choice() + suite_relabel() + suite_box_copies() +
         suite_memory() + suite_sequence() + suite_sequence_all() + suite_sequence_links();
}
