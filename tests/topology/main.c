int suite_check(void);
int suite_cost(void);
int suite_create(void);
int suite_fleets(void);
int suite_recorded(void);
int suite_synthetic(void);

int main(void) {
  return suite_check() + suite_cost() + suite_create() + suite_fleets() + suite_recorded() +
         suite_synthetic();
}
