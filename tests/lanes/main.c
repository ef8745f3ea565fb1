int suite_lane_classes(void);

int main(void) { return suite_lane_classes(); }
