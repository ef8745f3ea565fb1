int suite_rank_lanes(void);
int suite_rank_fold(void);

int main(void) { return suite_rank_lanes() + suite_rank_fold(); }
