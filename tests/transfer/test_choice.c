// Who gives what, how few copies there are, and what is refused.
#include <stdio.h>

#include "base/text_internal.h"
#include "json/json.h"
#include "support/layouts.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/spec.h"
#include "transfer/carry.h"
#include "transfer/copy_check.h"
#include "transfer/transfer_internal.h"

static tsr_copy_plan *plan_of(tsr_layout *from, tsr_layout *to) {
  tsr_copy_plan *plan = NULL;
  assert_ok(tsr_copy_plan_create(from, to, NULL, &plan));
  tsr_layout_release(from);
  tsr_layout_release(to);
  return plan;
}

// A mesh on a machine.
static tsr_layout *placed(const char *machine, const char *mesh, const char *spec,
                          const char *shape) {
  tsr_topology *topology = NULL;
  tsr_mesh *made = NULL;
  tsr_spec *read = NULL;
  tsr_sharding *sharding = NULL;
  tsr_shape sizes;
  tsr_layout *layout = NULL;
  assert_ok(tsr_topology_parse(machine, &topology));
  assert_ok(tsr_mesh_parse(mesh, topology, &made));
  assert_ok(tsr_spec_parse(spec, TSR_FORM_ANY, &read));
  assert_ok(tsr_sharding_bind(made, read, false, &sharding));
  assert_ok(tsr_shape_parse(shape, &sizes));
  assert_ok(tsr_layout_create(sharding, &sizes, TSR_POLICY_UNEVEN, &layout));
  tsr_sharding_release(sharding);
  tsr_spec_release(read);
  tsr_mesh_release(made);
  tsr_topology_release(topology);
  return layout;
}

// The sources of the copies into a position, as text.
static void assert_sources(const tsr_copy_plan *plan, int64_t position, const char *wanted) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_copies copies;
  assert_ok(tsr_copies_init_into(&copies, plan, position));
  for (tsr_copy copy; tsr_copies_next(&copies, &copy);)
    tsr_text_addf(&text, "%s%lld", text.length ? " " : "", (long long)copy.source);
  tsr_copies_deinit(&copies);
  assert_string_equal(tsr_text_string(&text), wanted);
  tsr_text_deinit(&text);
}

static void a_device_takes_from_itself_what_it_has(void **state) {
  (void)state;
  tsr_copy_plan *plan = plan_of(test_layout_of("x=2,y=2", "x, _", "4,4", TSR_POLICY_ERROR),
                                test_layout_of("x=2,y=2", "_, y", "4,4", TSR_POLICY_ERROR));
  assert_sources(plan, 0, "0 2");
  assert_sources(plan, 1, "1 3");
  assert_sources(plan, 2, "1 2");
  assert_sources(plan, 3, "0 3");
  tsr_copy_plan_release(plan);
}

static void the_same_process_gives_before_others(void **state) {
  (void)state;
  // Every process has one device of each half in the source, and lacks the other half once.
  tsr_copy_plan *plan =
      plan_of(placed("cpu:4x2", "y=4,x=2", "x", "8"), placed("cpu:4x2", "y=4,x=2", "_", "8"));
  for (int64_t p = 0; p < 8; p++) {
    char wanted[48];
    snprintf(wanted, sizeof wanted, "%lld %lld", (long long)(p / 2 * 2),
             (long long)(p / 2 * 2 + 1));
    assert_sources(plan, p, wanted);
  }
  tsr_certificate certificate = TSR_CERTIFICATE;
  assert_ok(tsr_copy_plan_certify(plan, TSR_F32, &certificate));
  assert_int_equal(certificate.bytes_between_processes, 0);
  assert_int_equal(certificate.bytes_moved, 8 * 4 * 4);
  tsr_copy_plan_release(plan);
}

static void the_same_slice_gives_before_others(void **state) {
  (void)state;
  // Two slices of two hosts with four chips; the source has a replica on one host of each slice.
  tsr_copy_plan *plan = plan_of(
      placed("tpu-v5e:2x4:slices=2:hosts=2x2x1", "r=2,x=4 devices=[0,1,2,3,8,9,10,11]", "x", "8"),
      placed("tpu-v5e:2x4:slices=2:hosts=2x2x1", "x=8 devices=[4,5,6,7,12,13,14,15]", "x", "8"));
  for (int64_t p = 0; p < 8; p++) {
    tsr_copies copies;
    tsr_copy copy;
    assert_ok(tsr_copies_init_into(&copies, plan, p));
    assert_true(tsr_copies_next(&copies, &copy));
    assert_int_equal(copy.source / 8, copy.target / 8);
    tsr_copies_deinit(&copies);
  }
  tsr_copy_plan_release(plan);
}

static void replicas_take_turns(void **state) {
  (void)state;
  // Four devices hold the same, and four others want a quarter each: every one gives once.
  tsr_layout *from = test_layout_of("r=4", "_", "8", TSR_POLICY_ERROR);
  tsr_layout *to = test_layout_of("x=4 devices=[4,5,6,7]", "x", "8", TSR_POLICY_ERROR);
  for (int64_t tensor = 0; tensor < 6; tensor++) {
    const tsr_copy_plan_options options = {.size = sizeof options, .tensor = tensor};
    tsr_copy_plan *plan = NULL;
    assert_ok(tsr_copy_plan_create(from, to, &options, &plan));
    for (int64_t p = 0; p < 4; p++) {
      char wanted[8];
      snprintf(wanted, sizeof wanted, "%lld", (long long)((p + tensor) % 4));
      assert_sources(plan, p, wanted);
    }
    tsr_copy_plan_release(plan);
  }
  tsr_layout_release(from);
  tsr_layout_release(to);
}

// ---- fewest copies ----

static const struct {
  const char *from_mesh, *from, *to_mesh, *to, *shape;
  int64_t position, copies;
} counted[] = {
    // A row of blocks is a loop, however many blocks there are.
    {"x=4", "x/cyclic(64), _", "x=4", "x, _", "1048576,8", 0, 4},
    {"x=4", "x, _", "x=4", "x/cyclic(64), _", "1048576,8", 1, 4},
    {"x=4", "x/cyclic(3)", "x=1", "_", "1000000000000", 0, 5},
    {"x=2,y=2", "x/cyclic(16), y/cyclic(16)", "x=2,y=2", "x, y", "65536,65536", 0, 4},
    {"x=4", "x, _", "x=4", "_, x", "4096,4096", 2, 4},
    {"x=8", "x", "x=8", "_", "80", 3, 8},
    {"x=8", "x", "x=8", "x", "80", 3, 1},
    {"x=4", "x/parts(a:8, b:8, c:8)", "x=4", "_", "24", 0, 4},  // the parts of one device: a loop
};

static void blocks_become_loops(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(counted); i++) {
    tsr_copy_plan *plan = plan_of(
        test_layout_of(counted[i].from_mesh, counted[i].from, counted[i].shape, TSR_POLICY_UNEVEN),
        test_layout_of(counted[i].to_mesh, counted[i].to, counted[i].shape, TSR_POLICY_UNEVEN));
    tsr_copies copies;
    assert_ok(tsr_copies_init_into(&copies, plan, counted[i].position));
    assert_int_equal(tsr_copies_count(&copies), counted[i].copies);
    tsr_copies_deinit(&copies);
    tsr_copy_plan_release(plan);
  }
}

static void flat_ranges_are_copied_whole(void **state) {
  (void)state;
  const tsr_range halves[] = {{0, 31}, {31, 60}}, thirds[] = {{0, 20}, {20, 40}, {40, 60}};
  tsr_layout *from = NULL, *to = NULL;
  assert_ok(tsr_layout_from_flat(NULL, TSR_SHAPE(3, 4, 5), 2, halves, &from));
  assert_ok(tsr_layout_from_flat(NULL, TSR_SHAPE(3, 4, 5), 3, thirds, &to));
  tsr_copy_plan *plan = plan_of(from, to);
  tsr_copies copies;
  tsr_copy copy;
  assert_ok(tsr_copies_init_into(&copies, plan, 1));
  assert_int_equal(tsr_copies_count(&copies), 2);
  assert_true(tsr_copies_next(&copies, &copy));
  assert_int_equal(copy.length, 11);
  assert_int_equal(copy.loop_count, 0);
  assert_int_equal(copy.from, 20);
  assert_true(tsr_copies_next(&copies, &copy));
  assert_int_equal(copy.to, 11);
  assert_false(tsr_copies_next(&copies, &copy));
  tsr_copies_deinit(&copies);
  tsr_copy_plan_release(plan);
}

// ---- large ----

static void a_hundred_thousand_devices_are_certified(void **state) {
  (void)state;
  static const char mesh[] = "data=3125,fsdp=4,tensor=8";
  static const struct {
    const char *from, *to, *shape;
    int64_t moved;  // of one byte each
  } cases[] = {
      {"fsdp, tensor", "tensor, fsdp", "8192,8192", -1},
      {"data+fsdp+tensor, _", "_, _", "100000,64", 100000LL * 64 * 99999},
      {"_, _", "data+fsdp+tensor, _", "100000,64", 0},
      {"data;fsdp, tensor/cyclic(8)", "tensor, data+fsdp", "25000,25000", -1},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_copy_plan *plan =
        plan_of(test_layout_of(mesh, cases[i].from, cases[i].shape, TSR_POLICY_UNEVEN),
                test_layout_of(mesh, cases[i].to, cases[i].shape, TSR_POLICY_UNEVEN));
    tsr_certificate found = TSR_CERTIFICATE;
    assert_ok(tsr_copy_plan_certify(plan, TSR_I8, &found));
    assert_int_equal(found.bytes_moved, found.bytes_lower_bound);
    if (cases[i].moved >= 0) assert_int_equal(found.bytes_moved, cases[i].moved);
    tsr_copies copies;
    assert_ok(tsr_copies_init_into(&copies, plan, 77777));
    assert_true(tsr_copies_count(&copies) > 0);
    tsr_copies_deinit(&copies);
    assert_ok(tsr_copies_init_out_of(&copies, plan, 77777));
    assert_true(tsr_copies_count(&copies) > 0);
    tsr_copies_deinit(&copies);
    tsr_copy_plan_release(plan);
  }
}

static void sums_stop_where_64_bits_end(void **state) {
  (void)state;
  const char *shape = "4611686018427387904";  // 2^62
  tsr_copy_plan *plan = plan_of(test_layout_of("x=8", "x", shape, TSR_POLICY_ERROR),
                                test_layout_of("x=8", "_", shape, TSR_POLICY_ERROR));
  tsr_certificate found = TSR_CERTIFICATE;
  assert_ok(tsr_copy_plan_certify(plan, TSR_F64, &found));
  assert_true(found.bytes_moved == INT64_MAX && found.bytes_lower_bound == INT64_MAX);
  assert_true(found.peak_memory == INT64_MAX);
  assert_int_equal(found.messages, 8 * 7);
  tsr_copy_plan_release(plan);
}

static void abstract_meshes_of_any_size_have_copies(void **state) {
  (void)state;
  const char *mesh = "x=2147483648,y=536870912 abstract";  // 2^60 devices
  tsr_copy_plan *plan = plan_of(test_layout_of(mesh, "x", "2147483648", TSR_POLICY_ERROR),
                                test_layout_of(mesh, "y", "2147483648", TSR_POLICY_ERROR));
  tsr_copies copies;
  tsr_copy copy;
  assert_ok(tsr_copies_init_out_of(&copies, plan, (INT64_C(5) << 29) + 3));
  int64_t count = 0;
  while (tsr_copies_next(&copies, &copy)) count++;
  assert_int_equal(count, tsr_copies_count(&copies));
  assert_int_equal(count, 4);
  tsr_copies_deinit(&copies);
  tsr_copy_plan_release(plan);
}

// ---- partial results ----

static void terms_of_a_sum_stay_apart(void **state) {
  (void)state;
  // Half the devices hold one term, half the other; they move among themselves only.
  tsr_layout *from =
      test_layout_of("u=2:explicit,x=2:explicit", "P('x', unreduced={'u'})", "8", TSR_POLICY_ERROR);
  tsr_layout *to = test_layout_of("u=2:explicit,x=2:explicit", "P(None, unreduced={'u'})", "8",
                                  TSR_POLICY_ERROR);
  tsr_copy_plan *plan = plan_of(from, to);
  assert_sources(plan, 0, "0 1");
  assert_sources(plan, 1, "0 1");
  assert_sources(plan, 2, "2 3");
  assert_sources(plan, 3, "2 3");
  assert_ok(tsr_copy_plan_check(plan));
  tsr_certificate found = TSR_CERTIFICATE;
  assert_ok(tsr_copy_plan_certify(plan, TSR_F32, &found));
  assert_int_equal(found.bytes_moved, 4 * 4 * 4);
  assert_int_equal(found.bytes_lower_bound, 4 * 4 * 4);
  tsr_copy_plan_release(plan);
}

static void terms_cannot_become_their_sum(void **state) {
  (void)state;
  const char *mesh = "u=2:explicit,x=2:explicit";
  tsr_layout *terms = test_layout_of(mesh, "P('x', unreduced={'u'})", "8", TSR_POLICY_ERROR);
  tsr_layout *sum = test_layout_of(mesh, "P('x')", "8", TSR_POLICY_ERROR);
  tsr_copy_plan *plan = NULL;
  assert_fails(tsr_copy_plan_create(terms, sum, NULL, &plan), UNREDUCED_DIFFERS,
               "the source is unreduced over u=2 and the target is reduced; copies cannot reduce, "
               "so both must be the same");
  assert_fails_with(tsr_copy_plan_create(sum, terms, NULL, &plan), UNREDUCED_DIFFERS,
                    "the source is reduced and the target is unreduced over u=2");
  assert_null(plan);
  tsr_layout_release(terms);
  tsr_layout_release(sum);
}

// ---- refusals ----

static void what_makes_no_sense_is_refused(void **state) {
  (void)state;
  tsr_layout *a = test_layout_of("x=2", "x", "8", TSR_POLICY_ERROR);
  tsr_layout *b = test_layout_of("x=2", "x", "6", TSR_POLICY_ERROR);
  tsr_layout *broken = NULL;
  tsr_copy_plan *plan = NULL;
  assert_fails(tsr_copy_plan_create(a, b, NULL, &plan), SHAPES_DIFFER,
               "a tensor of shape (8,) cannot be laid out as one of shape (6,)");
  tsr_copy_plan_options options = {.size = sizeof options, .tensor = -1};
  assert_fails(tsr_copy_plan_create(a, a, &options, &plan), BAD_ARGUMENT,
               "tensor -1 of a batch, wanted 0 or more");
  options.size = 3;
  assert_fails_with(tsr_copy_plan_create(a, a, &options, &plan), BAD_ARGUMENT,
                    "tsr_copy_plan_options has size 3");
  const tsr_range holes[] = {{0, 3}, {4, 8}};
  assert_ok(tsr_layout_from_flat(NULL, TSR_SHAPE(8), 2, holes, &broken));
  assert_fails_with(tsr_copy_plan_create(broken, a, NULL, &plan), BROKEN_LAYOUT, "the source: ");
  assert_null(plan);
  assert_ok(tsr_copy_plan_create(a, broken, NULL, &plan));  // a target may leave things out
  assert_ok(tsr_copy_plan_check(plan));
  tsr_copies copies;
  assert_fails(tsr_copies_init_into(&copies, plan, 2), INDEX_OUT_OF_RANGE,
               "position 2 of the target, which has 2");
  assert_fails(tsr_copies_init_out_of(&copies, plan, -1), INDEX_OUT_OF_RANGE,
               "position -1 of the source, which has 2");
  tsr_certificate certificate = TSR_CERTIFICATE;
  assert_fails(tsr_copy_plan_certify(plan, TSR_DTYPE_NONE, &certificate), BAD_ARGUMENT,
               "element type 0 does not exist");
  assert_ptr_equal(tsr_copy_plan_from(plan), a);
  tsr_copy_plan_release(plan);
  tsr_copy_plan_release(NULL);
  tsr_layout_release(a);
  tsr_layout_release(b);
  tsr_layout_release(broken);
}

// ---- the check ----

enum { MAX_COPIES = 8 };

typedef struct broken_plan {
  const char *what;
  int copy;
  int64_t from, to, length, source;  // added to a copy's
  bool twice, left_out;
} broken_plan;

static const struct {
  broken_plan how;
  const char *message;
} broken_plans[] = {
    {{.copy = 0, .from = 1}, "is copied there, is element"},
    {{.copy = 1, .to = 1}, "is copied there, is element"},
    {{.copy = 0, .length = -1}, "device 0 gets"},
    {{.copy = 1, .length = 1}, "is element"},
    {{.copy = 1, .to = 1000}, "reaches past a buffer"},
    {{.copy = 1, .from = -1000}, "reaches past a buffer"},
    {{.copy = 0, .twice = true}, "device 0 gets more elements than"},
    {{.copy = 1, .left_out = true}, "device 0 gets 12 elements, but has 16"},
    {{.copy = 0, .source = 77}, "wanted a device of the source and device 0"},
};

static void copies_that_are_wrong_are_found(void **state) {
  (void)state;
  tsr_copy_plan *plan = plan_of(test_layout_of("x=4", "x, _", "8,8", TSR_POLICY_ERROR),
                                test_layout_of("x=4", "_, x", "8,8", TSR_POLICY_ERROR));
  for (size_t i = 0; i < COUNT_OF(broken_plans); i++) {
    const broken_plan *how = &broken_plans[i].how;
    tsr_copy_list list = TSR_COPY_LIST_EMPTY;
    tsr_copies copies;
    int at = 0;
    assert_ok(tsr_copies_init_into(&copies, plan, 0));
    for (tsr_copy copy; tsr_copies_next(&copies, &copy); at++) {
      if (at == how->copy) {
        copy.from += how->from, copy.to += how->to, copy.length += how->length;
        copy.source += how->source;
        if (how->left_out) continue;
        if (how->twice) assert_ok(tsr_copy_list_add(&list, &copy));
      }
      assert_ok(tsr_copy_list_add(&list, &copy));
    }
    tsr_copies_deinit(&copies);
    assert_fails_with(tsr_check_copies(plan, 0, &list), BROKEN_PLAN, broken_plans[i].message);
    tsr_copy_list_deinit(&list);
  }
  tsr_copy_plan_release(plan);
}

static void places_written_twice_are_found(void **state) {
  (void)state;
  tsr_layout *from = test_layout_of("x=2", "_", "4", TSR_POLICY_ERROR);
  tsr_layout *to = test_layout_of("x=2", "x", "4", TSR_POLICY_ERROR);
  tsr_copy_plan *plan = plan_of(from, to);
  tsr_copy_list list = TSR_COPY_LIST_EMPTY;
  const tsr_copy one = {.source = 0, .target = 0, .from = 0, .to = 0, .length = 1};
  assert_ok(tsr_copy_list_add(&list, &one));
  assert_ok(tsr_copy_list_add(&list, &one));
  assert_fails(tsr_check_copies(plan, 0, &list), BROKEN_PLAN,
               "place 0 of device 0 is written twice");
  list.heads[0].target = 1;
  assert_fails(tsr_check_copies(plan, 0, &list), BROKEN_PLAN,
               "a copy from device 0 to device 1, wanted a device of the source and device 0");
  tsr_copy_list_deinit(&list);
  tsr_copy_plan_release(plan);
}

static void terms_that_are_mixed_are_found(void **state) {
  (void)state;
  const char *mesh = "u=2:explicit";
  tsr_copy_plan *plan =
      plan_of(test_layout_of(mesh, "P(None, unreduced={'u'})", "4", TSR_POLICY_ERROR),
              test_layout_of(mesh, "P(None, unreduced={'u'})", "4", TSR_POLICY_ERROR));
  tsr_copy_list list = TSR_COPY_LIST_EMPTY;
  const tsr_copy other = {.source = 1, .target = 0, .length = 4};
  assert_ok(tsr_copy_list_add(&list, &other));
  assert_fails(tsr_check_copies(plan, 0, &list), BROKEN_PLAN,
               "device 1 holds another term of the sum than device 0");
  tsr_copy_list_deinit(&list);
  tsr_copy_plan_release(plan);
}

// ---- text ----

static void certificates_are_told_as_text_and_json(void **state) {
  (void)state;
  tsr_copy_plan *plan =
      plan_of(placed("cpu:2x2", "x=4", "x, _", "8,8"), placed("cpu:2x2", "x=4", "_, x", "8,8"));
  tsr_certificate certificate = TSR_CERTIFICATE;
  tsr_text text = TSR_TEXT_EMPTY;
  assert_ok(tsr_copy_plan_certify(plan, TSR_F32, &certificate));
  tsr_certificate_print(&certificate, &text);
  assert_string_equal(tsr_text_string(&text),
                      "moved between devices    192 bytes (at least 192 must)\n"
                      "of these, over processes 128 bytes\n"
                      "stays on its device      64 bytes\n"
                      "copies                   16 in 12 messages\n"
                      "memory of a device       64 bytes more, 128 at the peak\n");
  tsr_text_clear(&text);
  tsr_json_writer writer;
  tsr_json_writer_init(&writer, &text, 0);
  tsr_certificate_to_json(&certificate, &writer);
  assert_string_equal(tsr_text_string(&text),
                      "{\"bytes_moved\":192,\"bytes_lower_bound\":192,"
                      "\"bytes_between_processes\":128,\"bytes_local\":64,\"copies\":16,"
                      "\"messages\":12,\"extra_memory\":64,\"peak_memory\":128}");
  tsr_text_deinit(&text);
  tsr_copy_plan_release(plan);
}

SUITE(choice, TEST(a_device_takes_from_itself_what_it_has),
      TEST(the_same_process_gives_before_others), TEST(the_same_slice_gives_before_others),
      TEST(replicas_take_turns), TEST(blocks_become_loops), TEST(flat_ranges_are_copied_whole),
      TEST(a_hundred_thousand_devices_are_certified), TEST(sums_stop_where_64_bits_end),
      TEST(abstract_meshes_of_any_size_have_copies), TEST(terms_of_a_sum_stay_apart),
      TEST(terms_cannot_become_their_sum), TEST(what_makes_no_sense_is_refused),
      TEST(copies_that_are_wrong_are_found), TEST(places_written_twice_are_found),
      TEST(terms_that_are_mixed_are_found), TEST(certificates_are_told_as_text_and_json))
