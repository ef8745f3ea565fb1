int suite_cost(void);
int suite_create(void);
int suite_synthetic(void);

int main(void) { return suite_cost() + suite_create() + suite_synthetic(); }
