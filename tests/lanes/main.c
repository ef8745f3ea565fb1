int suite_lane_classes(void);
int suite_lane_flow(void);

int main(void) { return suite_lane_classes() + suite_lane_flow(); }
