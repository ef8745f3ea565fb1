int suite_artifact_forms(void);
int suite_bytecode_limits(void);
int suite_bytecode_read(void);
int suite_bytecode_write(void);
int suite_chlo_lower(void);
int suite_export_file(void);
int suite_vhlo_tables(void);

int main(void) {
  int failed = 0;
  failed += suite_artifact_forms();
  failed += suite_bytecode_limits();
  failed += suite_bytecode_read();
  failed += suite_bytecode_write();
  failed += suite_chlo_lower();
  failed += suite_export_file();
  failed += suite_vhlo_tables();
  return failed;
}
