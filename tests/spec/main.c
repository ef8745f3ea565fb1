int suite_placements(void);
int suite_placements_spec(void);
int suite_sharding(void);
int suite_spec(void);
int suite_spec_text(void);
int suite_tiling(void);
int suite_tiling_spec(void);

int main(void) {
  return suite_spec() + suite_spec_text() + suite_sharding() + suite_placements() +
         suite_placements_spec() + suite_tiling() + suite_tiling_spec();
}
