int suite_run(void);
int suite_cut(void);
int suite_layout(void);

int main(void) { return suite_run() + suite_cut() + suite_layout(); }
