#include <string.h>

#include "base/text_internal.h"
#include "draw/draw.h"
#include "support/test.h"
#include "tessera/engine/topology.h"
#include "tessera/topology.h"

static const struct {
  const char *machine, *picture;
} pictures[] = {
    {"cpu:1",
     "cpu: 1 device on 1 host, 16 GiB each\n"
     "┌─h0┐\n"
     "│ 0 │\n"
     "└───┘\n"},
    {"gpu:2x12:h100:slices=2:memory=1536",
     "NVIDIA H100: 48 devices on 4 hosts, 1.5 KiB each\n"
     "slice 0\n"
     "┌─host 0────────────────────────────────┐  ┌─host 1────────────────────────────────┐\n"
     "│  0    1    2    3    4    5    6    7 │  │ 12   13   14   15   16   17   18   19 │\n"
     "│  8    9   10   11                     │  │ 20   21   22   23                     │\n"
     "└───────────────────────────────────────┘  └───────────────────────────────────────┘\n"
     "slice 1\n"
     "┌─host 2────────────────────────────────┐  ┌─host 3────────────────────────────────┐\n"
     "│ 24   25   26   27   28   29   30   31 │  │ 36   37   38   39   40   41   42   43 │\n"
     "│ 32   33   34   35                     │  │ 44   45   46   47                     │\n"
     "└───────────────────────────────────────┘  └───────────────────────────────────────┘\n"},
    {"tpu-v3:4x4:wrap=xy",
     "TPU v3: 32 devices on 4 hosts, 4x4x1 chips, 16 GiB each, rings along x, y\n"
     "┌─host 0────────┬─host 1────────┐\n"
     "│   0,1     2,3 │   4,5     6,7 │\n"
     "│   8,9   10,11 │ 12,13   14,15 │\n"
     "├─host 2────────┼─host 3────────┤\n"
     "│ 16,17   18,19 │ 20,21   22,23 │\n"
     "│ 24,25   26,27 │ 28,29   30,31 │\n"
     "└───────────────┴───────────────┘\n"},
    {"tpu-v4:4x2x2:origin=4x0x2",
     "TPU v4: 16 devices on 4 hosts, 4x2x2 chips, 32 GiB each\n"
     "z=2                    z=3\n"
     "┌─host 0──┬─host 1──┐  ┌─host 2──┬─host 3──┐\n"
     "│  0    1 │  2    3 │  │  8    9 │ 10   11 │\n"
     "│  4    5 │  6    7 │  │ 12   13 │ 14   15 │\n"
     "└─────────┴─────────┘  └─────────┴─────────┘\n"},
    {"tpu-v4:2x1:hosts=1x1:cores=4",
     "TPU v4: 8 devices on 2 hosts, 2x1x1 chips, 8 GiB each\n"
     "┌─h0───┬─h1───┐\n"
     "│ 0..3 │ 4..7 │\n"
     "└──────┴──────┘\n"},
};

static void pictures_show_hosts_as_boxes(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(pictures); i++) {
    tsr_topology *topology = NULL;
    tsr_text text = TSR_TEXT_EMPTY;
    assert_ok(tsr_topology_parse(pictures[i].machine, &topology));
    tsr_topology_print(topology, &text);
    assert_string_equal(tsr_text_string(&text), pictures[i].picture);
    tsr_text_deinit(&text);
    tsr_topology_release(topology);
  }
}

// Chips 0, 1 and 3 of a 2x2 square: the box goes round the hole.
static void holes_are_left_open(void **state) {
  (void)state;
  const tsr_device devices[] = {
      {.id = 0, .has_coords = true, .coords = {0, 0, 0}},
      {.id = 1, .has_coords = true, .coords = {1, 0, 0}},
      {.id = 3, .has_coords = true, .coords = {1, 1, 0}},
  };
  const tsr_topology_desc desc = {.size = sizeof desc,
                                  .platform = TSR_PLATFORM_TPU,
                                  .kind = "TPU v4",
                                  .device_count = COUNT_OF(devices),
                                  .devices = devices};
  tsr_topology *topology = NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  assert_ok(tsr_topology_create(&desc, &topology));
  tsr_topology_print(topology, &text);
  assert_string_equal(tsr_text_string(&text),
                      "TPU v4: 3 devices on 1 host, 2x2x1 chips, 32 GiB each\n"
                      "┌─host 0┐\n"
                      "│ 0   1 │\n"
                      "└───┐   │\n"
                      "    │ 3 │\n"
                      "    └───┘\n");
  tsr_text_deinit(&text);
  tsr_topology_release(topology);
}

static void large_machines_fit_a_screen(void **state) {
  (void)state;
  static const struct {
    const char *machine, *end;
  } cases[] = {
      {"tpu-v4:50x50x40", "\nand 99744 more devices, where x >= 8 or y >= 8 or z >= 4\n"},
      {"tpu-v4:2x2x1:slices=1000", "\nand 3984 more devices\n"},
      {"cpu:1000x100", "\nand 98400 more devices\n"},
      {"cpu:2x1000", "\nand 1744 more devices\n"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_topology *topology = NULL;
    tsr_text text = TSR_TEXT_EMPTY;
    assert_ok(tsr_topology_parse(cases[i].machine, &topology));
    tsr_topology_print(topology, &text);
    assert_ok(tsr_text_check(&text));
    assert_non_null(strstr(tsr_text_string(&text), cases[i].end));
    assert_true(text.length < 40000);
    tsr_text_deinit(&text);
    tsr_topology_release(topology);
  }
}

static tsr_status print_once(void *context) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_topology_print(context, &text);
  tsr_status status = tsr_text_check(&text);
  tsr_text_deinit(&text);
  return status;
}

static void printing_survives_lack_of_memory(void **state) {
  (void)state;
  tsr_topology *topology = NULL;
  assert_ok(tsr_topology_parse("tpu-v4:4x4", &topology));
  test_allocation_sweep(print_once, topology);
  tsr_topology_release(topology);
}

SUITE(topology_picture, TEST(pictures_show_hosts_as_boxes), TEST(holes_are_left_open),
      TEST(large_machines_fit_a_screen), TEST(printing_survives_lack_of_memory))
