int suite_status(void);
int suite_text(void);

int main(void) { return suite_status() + suite_text(); }
