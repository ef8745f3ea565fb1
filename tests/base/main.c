int suite_status(void);
int suite_text(void);
int suite_suggest(void);
int suite_dtype(void);
int suite_shape(void);
int suite_scope(void);
int suite_hash(void);
int suite_scan(void);

int main(void) {
  return suite_status() + suite_text() + suite_suggest() + suite_dtype() + suite_shape() +
         suite_scope() + suite_hash() + suite_scan();
}
