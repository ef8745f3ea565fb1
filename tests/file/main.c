int suite_safetensors(void);
int suite_folder(void);

int main(void) { return suite_safetensors() + suite_folder(); }
