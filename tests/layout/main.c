int suite_run(void);
int suite_cut(void);
int suite_cover(void);
int suite_layout(void);
int suite_boxes(void);
int suite_equivalent(void);
int suite_layout_digest(void);
int suite_process(void);

int main(void) {
  return suite_run() + suite_cut() + suite_cover() + suite_layout() + suite_boxes() +
         suite_equivalent() + suite_layout_digest() + suite_process();
}
