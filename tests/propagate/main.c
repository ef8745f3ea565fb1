int suite_flow(void);
int suite_flow_notes(void);
int suite_gspmd(void);
int suite_sharding_passes(void);

int main(void) {
  int failed = 0;
  failed += suite_flow();
  failed += suite_flow_notes();
  failed += suite_gspmd();
  failed += suite_sharding_passes();
  return failed;
}
