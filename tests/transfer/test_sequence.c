// Single sequences: what they say, what they refuse, what they remember.
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "json/json.h"
#include "sequence/sequence_internal.h"
#include "tessera/dtype.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/reduction.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/text.h"
#include "tessera/topology.h"
#include "transfer/simulate.h"

// ---- helpers ----

static tsr_sharding *sharding_of(const tsr_mesh *mesh, const char *text) {
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  assert_ok(tsr_spec_parse(text, TSR_FORM_SHORT, &spec));
  assert_ok(tsr_sharding_bind(mesh, spec, false, &sharding));
  tsr_spec_release(spec);
  return sharding;
}

typedef struct question {
  const char *mesh, *shape, *from, *to;
} question;

static tsr_status ask_on(const tsr_topology *topology, const question *q, tsr_dtype dtype,
                         const tsr_sequence_options *options, tsr_sequence **out) {
  tsr_mesh *mesh = NULL;
  tsr_shape shape;
  assert_ok(tsr_mesh_parse(q->mesh, topology, &mesh));
  assert_ok(tsr_shape_parse(q->shape, &shape));
  tsr_sharding *from = sharding_of(mesh, q->from), *to = sharding_of(mesh, q->to);
  tsr_status status = tsr_sequence_create(from, to, &shape, dtype, options, out);
  tsr_sharding_release(from);
  tsr_sharding_release(to);
  tsr_mesh_release(mesh);
  return status;
}

static tsr_status ask(const question *q, const tsr_sequence_options *options, tsr_sequence **out) {
  return ask_on(NULL, q, TSR_F32, options, out);
}

static tsr_sequence_certificate certificate_of(const tsr_sequence *sequence) {
  return *tsr_sequence_certificate_of(sequence);
}

static void assert_prints(const tsr_sequence *sequence, const char *expected) {
  tsr_text text = TSR_TEXT_EMPTY;
  assert_ok(tsr_sequence_print(sequence, &text));
  assert_string_equal(tsr_text_string(&text), expected);
  tsr_text_deinit(&text);
}

// ---- what is found ----

static const struct {
  question q;
  const char *text;
} found[] = {
    {{"x=2,y=2", "8,8", "x, y", "x, y"},
     "0 steps, 0 bytes moved (at least 0), 64 bytes at most on a device, optimal\n"},
    {{"x=2,y=2", "8,8", "_, _", "x, y"},
     "1  slice x, dimension 0: (8, 8) -> (4, 8), now [x, _], 0 bytes\n"
     "2  slice y, dimension 1: (4, 8) -> (4, 4), now [x, y], 0 bytes\n"
     "2 steps, 0 bytes moved (at least 0), 384 bytes at most on a device, optimal\n"},
    {{"x=2,y=2", "8,8", "x, y", "y, x"},
     "1  permute x+y: (4, 4) -> (4, 4), now [y, x], 128 bytes\n"
     "1 step, 128 bytes moved (at least 128), 128 bytes at most on a device, optimal\n"},
    {{"x=4", "8,8", "x, _", "_, x"},
     "1  all-to-all x, dimension 0 to 1: (2, 8) -> (8, 2), now [_, x], 192 bytes\n"
     "1 step, 192 bytes moved (at least 192), 128 bytes at most on a device, optimal\n"},
    {{"x=2,y=2", "8,8", "x+y, _", "_, _"},
     "1  all-gather x+y, dimension 0: (2, 8) -> (8, 8), now [_, _], 768 bytes\n"
     "1 step, 768 bytes moved (at least 768), 320 bytes at most on a device, optimal\n"},
    {{"x=2,y=2", "8,8", "x, _", "_, x+y"},
     "1  slice y, dimension 0: (4, 8) -> (2, 8), now [x+y, _], 0 bytes\n"
     "2  all-to-all x+y, dimension 0 to 1: (2, 8) -> (8, 2), now [_, x+y], 192 bytes\n"
     "2 steps, 192 bytes moved (at least 128), 192 bytes at most on a device, optimal\n"},
    {{"x=2,y=2", "8,8", "_, _ | unreduced=x+y", "_, _"},
     "1  all-reduce x+y: (8, 8) -> (8, 8), now [_, _], 1536 bytes\n"
     "1 step, 1536 bytes moved (at least 1536), 512 bytes at most on a device, optimal\n"},
    {{"x=2,y=2", "8,8", "_, _ | unreduced=x+y", "_, y | unreduced=x"},
     "1  reduce-scatter y, dimension 1: (8, 8) -> (8, 4), now [_, y | unreduced=x], 512 bytes\n"
     "1 step, 512 bytes moved (at least 256), 384 bytes at most on a device, optimal\n"},
    {{"x=2,y=2", "8,8", "x, _", "x, _ | unreduced=y"},
     "1  zero y: (4, 8) -> (4, 8), now [x, _ | unreduced=y], 0 bytes\n"
     "1 step, 0 bytes moved (at least 0), 256 bytes at most on a device, optimal\n"},
    {{"x=2,y=4", "8,8", "x, y", "y, x"},
     "1  all-to-all y:(2)2, dimension 1 to 0: (4, 2) -> (2, 4), now [x+y:(2)2, y:(1)2], 128 bytes\n"
     "2  permute x+y:(1)2: (2, 4) -> (2, 4), now [y, x], 128 bytes\n"
     "2 steps, 256 bytes moved (at least 192), 64 bytes at most on a device, optimal\n"},
    {{"x=4", "2,8", "_, x", "x:(1)2, x:(2)2"},
     "1  all-to-all x:(2)2, dimension 1 to 0: (2, 2) -> (1, 4), now [x:(2)2, x:(1)2], 32 bytes\n"
     "2  permute x: (1, 4) -> (1, 4), now [x:(1)2, x:(2)2], 32 bytes\n"
     "2 steps, 64 bytes moved (at least 48), 32 bytes at most on a device, optimal\n"},
    {{"x=2", "()", "() | unreduced=x", "()"},
     "1  all-reduce x: () -> (), now [()], 8 bytes\n"
     "1 step, 8 bytes moved (at least 8), 8 bytes at most on a device, optimal\n"},
    {{"x=2", "0,4", "x, _", "_, x"},
     "1  all-to-all x, dimension 0 to 1: (0, 4) -> (0, 2), now [_, x], 0 bytes\n"
     "1 step, 0 bytes moved (at least 0), 0 bytes at most on a device, optimal\n"},
};

static void sequences_read_as_lines(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(found); i++) {
    tsr_sequence *sequence = NULL;
    assert_ok(ask(&found[i].q, NULL, &sequence));
    assert_prints(sequence, found[i].text);
    assert_true(test_sequence_right(sequence));
    tsr_sequence_release(sequence);
  }
}

static void the_last_sharding_is_the_one_asked_for(void **state) {
  (void)state;
  tsr_mesh *mesh = NULL;
  tsr_sequence *sequence = NULL;
  assert_ok(tsr_mesh_parse("x=2,y=2", NULL, &mesh));
  tsr_sharding *from = sharding_of(mesh, "x, _"), *to = sharding_of(mesh, "x+?, y@1 | mesh=m");
  assert_ok(tsr_sequence_create(from, to, TSR_SHAPE(4, 4), TSR_F32, NULL, &sequence));
  assert_int_equal(tsr_sequence_step_count(sequence), 1);
  assert_ptr_equal(tsr_sequence_step_at(sequence, 0)->sharding, to);
  assert_ptr_equal(tsr_sequence_from(sequence), from);
  assert_int_equal(tsr_sequence_dtype(sequence), TSR_F32);
  assert_ptr_equal(tsr_sequence_to(sequence), to);
  tsr_sequence_release(sequence);
  tsr_sharding_release(from);
  tsr_sharding_release(to);
  tsr_mesh_release(mesh);
}

static void nested_even_cuts_are_plain(void **state) {
  (void)state;
  tsr_sequence *sequence = NULL;
  assert_ok(ask(&(question){"x=2,y=2", "8", "x;y", "_"}, NULL, &sequence));
  assert_int_equal(tsr_sequence_step_count(sequence), 1);
  assert_true(test_sequence_right(sequence));
  tsr_sequence_release(sequence);
}

static void maxima_and_minima_combine_too(void **state) {
  (void)state;
  static const question questions[] = {
      {"x=2,y=2", "4,4", "_, _ | unreduced=max(x+y)", "x, _"},
      {"x=2,y=2", "4,4", "y, _ | unreduced=min(x)", "_, y"},
      {"x=2,y=2", "4,4", "y, _", "_, _ | unreduced=max(x)"},
  };
  static const tsr_reduction reductions[] = {TSR_REDUCE_MAX, TSR_REDUCE_MIN, TSR_REDUCE_MAX};
  for (size_t i = 0; i < COUNT_OF(questions); i++) {
    tsr_sequence *sequence = NULL;
    assert_ok(ask(&questions[i], NULL, &sequence));
    assert_int_equal(tsr_sequence_reduction(sequence), reductions[i]);
    assert_true(test_sequence_right(sequence));
    tsr_sequence_release(sequence);
  }
}

static void small_elements_are_counted_in_whole_bytes(void **state) {
  (void)state;
  tsr_sequence *sequence = NULL;
  assert_ok(ask_on(NULL, &(question){"x=2", "6", "x", "_"}, TSR_I4, NULL, &sequence));
  // Three elements of half a byte go each way.
  assert_int_equal(certificate_of(sequence).bytes_moved, 3);
  assert_int_equal(tsr_sequence_step_at(sequence, 0)->device_bytes, 2);
  assert_int_equal(certificate_of(sequence).peak_bytes, 2 + 3);
  tsr_sequence_release(sequence);
}

static void devices_go_by_their_ids(void **state) {
  (void)state;
  static const question questions[] = {
      {"x=2,y=3 devices=[5,0,3,1,4,2]", "6,6", "x, y", "y, x"},
      {"x=2,y=3 devices=[5,0,3,1,4,2]", "6,6", "x+y, _", "_, y+x"},
      {"x=2,y=2,z=2 devices=[7,5,0,3,1,4,2,6]", "8,8", "x, y", "z, _"},
  };
  for (size_t i = 0; i < COUNT_OF(questions); i++) {
    tsr_sequence *sequence = NULL;
    assert_ok(ask(&questions[i], NULL, &sequence));
    assert_true(test_sequence_right(sequence));
    tsr_sequence_release(sequence);
  }
}

// Ten axes are more than are searched through: the way is found in Shardy's order, or by gathering.
static void many_axes_are_no_obstacle(void **state) {
  (void)state;
  static const question questions[] = {
      {"a=2,b=2,c=2,d=2,e=2,f=2", "64,64", "a+b+c, d+e+f", "f+e+d, c+b+a"},
      {"a=2,b=2,c=2,d=2,e=2,f=2", "8,8,8", "a+b, c+d, e+f", "f+a, e, b+d+c"},
      {"a=2,b=3,c=2,d=3", "36,36", "a+b+c+d, _", "_, d+c+b+a"},
  };
  const tsr_sequence_options hasty = {.size = sizeof hasty, .expansion_cap = 1};
  for (size_t i = 0; i < COUNT_OF(questions); i++) {
    tsr_sequence *sequence = NULL, *quick = NULL;
    assert_ok(ask(&questions[i], NULL, &sequence));
    assert_true(test_sequence_right(sequence));
    assert_ok(ask(&questions[i], &hasty, &quick));
    assert_true(test_sequence_right(quick));
    assert_false(certificate_of(quick).optimal);
    assert_true(certificate_of(sequence).bytes_moved <= certificate_of(quick).bytes_moved);
    tsr_sequence_release(sequence);
    tsr_sequence_release(quick);
  }
}

static void a_hundred_thousand_devices_are_no_obstacle(void **state) {
  (void)state;
  tsr_sequence *sequence = NULL;
  const question q = {"x=512,y=256", "8192,8192", "x, y", "y, x"};
  assert_ok(ask(&q, NULL, &sequence));
  assert_true(certificate_of(sequence).bytes_moved >= certificate_of(sequence).bytes_lower_bound);
  tsr_sequence_release(sequence);
}

// ---- refusals ----

static const struct {
  question q;
  tsr_cause cause;
  const char *message;
} refused[] = {
    {{"x=4", "10", "x", "_"},
     TSR_CAUSE_NO_SEQUENCE,
     "from: dimension 0 of size 10 does not divide into 4 shards on mesh {x=4}; collectives need "
     "equal shards, so only direct copies are possible"},
    {{"x=4", "8", "_", "x/cyclic(1)"},
     TSR_CAUSE_NO_SEQUENCE,
     "to: dimension 0 has a cut by cyclic; collectives need even cuts, so only direct copies are "
     "possible"},
    {{"x=2", "8", "x/sizes(4,4)", "_"},
     TSR_CAUSE_NO_SEQUENCE,
     "from: dimension 0 has a cut by explicit sizes; collectives need even cuts, so only direct "
     "copies are possible"},
    {{"x=2", "8", "x/parts(q:4/1, k:4/1)", "_"},
     TSR_CAUSE_NO_SEQUENCE,
     "from: dimension 0 has a cut by parts; collectives need even cuts, so only direct copies are "
     "possible"},
    {{"x=6", "12", "x:(1)2", "x:(1)3"},
     TSR_CAUSE_NO_SEQUENCE,
     "the sub-axes of axis \"x\" of size 6 have no common refinement: one ends at 2, another at 3; "
     "only direct copies are possible"},
    {{"x=2,y=2", "8", "_ | unreduced=x", "_ | unreduced=max(y)"},
     TSR_CAUSE_NO_SEQUENCE,
     "partial results of sum cannot become partial results of max"},
    {{"x=2", "8", "x, _", "_"},
     TSR_CAUSE_RANK_TOO_SMALL,
     "from: a spec of 2 entries for a tensor of rank 1"},
};

static void what_is_no_sequence_is_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(refused); i++) {
    tsr_sequence *sequence = NULL;
    tsr_status status = ask(&refused[i].q, NULL, &sequence);
    assert_string_equal(tsr_status_text(status), refused[i].message);
    assert_int_equal(tsr_status_cause(status), refused[i].cause);
    assert_null(sequence);
    tsr_status_free(status);
  }
}

static void two_meshes_are_refused(void **state) {
  (void)state;
  tsr_mesh *a = NULL, *b = NULL;
  tsr_sequence *sequence = NULL;
  assert_ok(tsr_mesh_parse("x=2", NULL, &a));
  assert_ok(tsr_mesh_parse("x=2 devices=[1,0]", NULL, &b));
  tsr_sharding *from = sharding_of(a, "x"), *to = sharding_of(b, "x");
  assert_fails(tsr_sequence_create(from, to, TSR_SHAPE(4), TSR_F32, NULL, &sequence), NO_SEQUENCE,
               "the shardings are on different meshes; only direct copies are possible");
  tsr_sharding_release(from);
  tsr_sharding_release(to);
  tsr_mesh_release(a);
  tsr_mesh_release(b);
}

static void odd_arguments_are_refused(void **state) {
  (void)state;
  const question q = {"x=2,y=2", "8,8", "x, y", "_, _"};
  tsr_sequence *sequence = NULL;
  const tsr_sequence_options no_size = {.size = 0};
  assert_fails_with(ask(&q, &no_size, &sequence), BAD_ARGUMENT, "has size 0, wanted");
  const tsr_sequence_options method = {.size = sizeof method, .method = 9};
  assert_fails(ask(&q, &method, &sequence), BAD_ARGUMENT, "method 9 of a sequence, wanted 0 to 1");
  const tsr_sequence_options caps = {.size = sizeof caps, .memory_cap = -1};
  assert_fails(ask(&q, &caps, &sequence), BAD_ARGUMENT,
               "caps of -1 bytes and 0 states, wanted 0 or more");
  assert_fails(ask_on(NULL, &q, (tsr_dtype)999, NULL, &sequence), UNKNOWN_DTYPE,
               "element type 999 is unknown");
  assert_null(tsr_step_kind_name((tsr_step_kind)99));
  assert_ok(ask(&q, NULL, &sequence));
  tsr_groups groups;
  tsr_pair *pairs;
  int64_t count;
  assert_fails(tsr_sequence_step_groups(sequence, 9, &groups), INDEX_OUT_OF_RANGE,
               "step 9 of a sequence of 2");
  assert_fails(tsr_sequence_step_pairs(sequence, 0, &pairs, &count), BAD_ARGUMENT,
               "step 0 is no permute: it has groups and no pairs");
  tsr_sequence_release(sequence);
  assert_ok(ask(&(question){"x=2,y=2", "8,8", "x, y", "y, x"}, NULL, &sequence));
  assert_fails(tsr_sequence_step_groups(sequence, 0, &groups), BAD_ARGUMENT,
               "step 0 is a permute, which has pairs and no groups");
  tsr_sequence_release(sequence);
  tsr_sequence_release(NULL);
}

static void giant_tensors_are_counted_or_refused(void **state) {
  (void)state;
  tsr_sequence *sequence = NULL;
  const question q = {"x=1024", "4611686018427387904", "x", "_"};
  assert_fails(ask(&q, NULL, &sequence), OVERFLOW, "more than 2^63 bytes are moved");
}

// ---- memory ----

static void a_memory_cap_forbids_the_widest_way(void **state) {
  (void)state;
  // By bytes alone the middle of the way holds a whole row of shards.
  const question q = {"x=2,y=2", "8,8", "x+y, _", "_, x+y"};
  tsr_sequence_options options = {.size = sizeof options, .memory_cap = 2 * 64};
  tsr_sequence *sequence = NULL;
  assert_ok(ask(&q, &options, &sequence));
  assert_true(certificate_of(sequence).peak_bytes <= 128);
  assert_true(test_sequence_right(sequence));
  tsr_sequence_release(sequence);
  options.memory_cap = 127;
  assert_fails(ask(&q, &options, &sequence), DOES_NOT_FIT,
               "no sequence keeps to 127 bytes on a device");
  options.method = TSR_SEQUENCE_SHARDY;
  assert_fails(ask(&q, &options, &sequence), DOES_NOT_FIT,
               "no sequence keeps to 127 bytes on a device");
}

// ---- links ----

// Between hosts the network is slow: what can be done within hosts is.
static void slow_links_are_spared(void **state) {
  (void)state;
  tsr_topology *topology = NULL;
  tsr_sequence *sequence = NULL;
  assert_ok(tsr_topology_parse("gpu:2x4:h100", &topology));
  const question q = {"x=2,y=4", "8192,8192", "x, _", "_, x"};
  assert_ok(ask_on(topology, &q, TSR_F32, NULL, &sequence));
  tsr_text text = TSR_TEXT_EMPTY;
  assert_ok(tsr_sequence_print(sequence, &text));
  // Every host's devices take a part each, and put them together afterwards.
  assert_non_null(strstr(tsr_text_string(&text), "slice y"));
  assert_non_null(strstr(tsr_text_string(&text), "all-gather y"));
  assert_non_null(strstr(tsr_text_string(&text), " s, optimal\n"));
  tsr_text_deinit(&text);
  tsr_sequence_release(sequence);
  tsr_topology_release(topology);
}

// ---- JSON ----

static void sequences_are_written_as_json(void **state) {
  (void)state;
  tsr_sequence *sequence = NULL;
  assert_ok(ask(&(question){"x=2,y=2", "8,8", "x, _", "_, x+y"}, NULL, &sequence));
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer writer;
  tsr_json_writer_init(&writer, &text, 0);
  tsr_sequence_to_json(sequence, &writer);
  assert_ok(tsr_text_check(&text));
  assert_string_equal(
      tsr_text_string(&text),
      "{\"from\":[\"x\",null],\"to\":[null,[\"x\",\"y\"]],\"shape\":[8,8],\"dtype\":\"f32\","
      "\"steps\":["
      "{\"kind\":\"slice\",\"axes\":[[\"y\",1,2]],\"split_dim\":0,\"in_shape\":[4,8],"
      "\"out_shape\":[2,8],\"sharding\":[[\"x\",\"y\"],null],\"bytes\":0,\"device_bytes\":0},"
      "{\"kind\":\"all-to-all\",\"axes\":[[\"x\",1,2],[\"y\",1,2]],\"split_dim\":1,\"concat_dim\":"
      "0,"
      "\"in_shape\":[2,8],\"out_shape\":[8,2],\"sharding\":[null,[\"x\",\"y\"]],\"bytes\":192,"
      "\"device_bytes\":48}],\"certificate\":{\"steps\":2,\"bytes_moved\":192,"
      "\"bytes_lower_bound\":128,\"peak_bytes\":192,\"optimal\":true}}");
  tsr_text_deinit(&text);
  tsr_sequence_release(sequence);
}

// ---- chance ----

static void random_spec(test_random *random, const char *const *parts, int count, int rank,
                        bool partial, char *out) {
  char lists[4][64] = {"", "", "", ""};
  for (int i = 0; i < count; i++) {
    const int list = (int)test_random_range(random, 0, rank + (partial ? 1 : 0));
    // The last number is the unreduced set, or no place at all.
    const int place = list < rank ? list : list == rank && partial ? 3 : -1;
    if (place < 0) continue;
    if (*lists[place]) strcat(lists[place], "+");
    strcat(lists[place], parts[i]);
  }
  *out = '\0';
  for (int d = 0; d < rank; d++) strcat(strcat(out, d ? ", " : ""), *lists[d] ? lists[d] : "_");
  if (*lists[3]) strcat(strcat(out, " | unreduced="), lists[3]);
}

static void shuffle(test_random *random, const char **items, int count) {
  for (int i = count; i-- > 1;) {
    const int j = (int)test_random_range(random, 0, i);
    const char *kept = items[i];
    items[i] = items[j];
    items[j] = kept;
  }
}

// Axes of 4 and 6, whole or in parts, on sizes that often just suffice.
static void random_changes_are_right(void **state) {
  (void)state;
  static const char *const splits[][4] = {{"x", "y", NULL},
                                          {"x:(1)2", "x:(2)2", "y", NULL},
                                          {"x", "y:(1)3", "y:(3)2", NULL},
                                          {"x:(1)2", "x:(2)2", "y:(1)3", "y:(3)2"}};
  static const char *const shapes[] = {"24,24", "24,12", "48,6", "4,24,6", "12,8,2"};
  static const int ranks[] = {2, 2, 2, 3, 3};
  test_random random = {7};
  int made = 0;
  for (int round = 0; round < 400; round++) {
    const int shape = (int)test_random_range(&random, 0, COUNT_OF(shapes) - 1);
    char texts[2][256];
    for (int side = 0; side < 2; side++) {
      const char *parts[4];
      const int split = (int)test_random_range(&random, 0, COUNT_OF(splits) - 1);
      int count = 0;
      for (; count < 4 && splits[split][count]; count++) parts[count] = splits[split][count];
      shuffle(&random, parts, count);
      random_spec(&random, parts, count, ranks[shape], round % 3 == 0, texts[side]);
    }
    const question q = {"x=4,y=6", shapes[shape], texts[0], texts[1]};
    const tsr_sequence_options shardy = {.size = sizeof shardy, .method = TSR_SEQUENCE_SHARDY};
    tsr_sequence *sequence = NULL, *greedy = NULL;
    tsr_status status = ask(&q, NULL, &sequence);
    if (status) {
      assert_int_equal(tsr_status_cause(status), TSR_CAUSE_NO_SEQUENCE);
      tsr_status_free(status);
      continue;
    }
    made++;
    assert_true(test_sequence_right(sequence));
    const tsr_sequence_certificate ours = certificate_of(sequence);
    assert_true(ours.bytes_moved >= ours.bytes_lower_bound);
    status = ask(&q, &shardy, &greedy);
    if (!status) {
      assert_true(test_sequence_right(greedy));
      assert_true(ours.bytes_moved <= certificate_of(greedy).bytes_moved);
    }
    tsr_status_free(status);
    tsr_sequence_release(sequence);
    tsr_sequence_release(greedy);
  }
  assert_true(made > 100);
}

// ---- without memory ----

static tsr_status make_everything(void *context) {
  const question *q = context;
  tsr_mesh *mesh = NULL;
  tsr_shape shape;
  tsr_sequence *sequence = NULL;
  tsr_spec *specs[2] = {NULL, NULL};
  tsr_sharding *shardings[2] = {NULL, NULL};
  const char *texts[2] = {q->from, q->to};
  tsr_topology *topology = NULL;
  tsr_status status = tsr_topology_parse("gpu:2x4", &topology);
  if (!status) status = tsr_mesh_parse(q->mesh, topology, &mesh);
  if (!status) status = tsr_shape_parse(q->shape, &shape);
  for (int i = 0; !status && i < 2; i++) {
    status = tsr_spec_parse(texts[i], TSR_FORM_SHORT, &specs[i]);
    if (!status) status = tsr_sharding_bind(mesh, specs[i], false, &shardings[i]);
  }
  if (!status)
    status = tsr_sequence_create(shardings[0], shardings[1], &shape, TSR_F32, NULL, &sequence);
  for (int i = 0; !status && i < tsr_sequence_step_count(sequence); i++) {
    tsr_groups groups = {0};
    tsr_pair *pairs = NULL;
    int64_t count;
    if (tsr_sequence_step_at(sequence, i)->kind == TSR_STEP_PERMUTE)
      status = tsr_sequence_step_pairs(sequence, i, &pairs, &count);
    else
      status = tsr_sequence_step_groups(sequence, i, &groups);
    tsr_groups_deinit(&groups);
    free(pairs);
  }
  tsr_text text = TSR_TEXT_EMPTY;
  if (!status) status = tsr_sequence_print(sequence, &text);
  tsr_text_deinit(&text);
  tsr_sequence_release(sequence);
  for (int i = 0; i < 2; i++) {
    tsr_sharding_release(shardings[i]);
    tsr_spec_release(specs[i]);
  }
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
  return status;
}

static void nothing_leaks_without_memory(void **state) {
  (void)state;
  question questions[] = {
      {"x=2,y=4", "16,16", "x, y", "y, x"},
      {"x=2,y=4", "16,16", "x, _ | unreduced=y", "_, x"},
  };
  for (size_t i = 0; i < COUNT_OF(questions); i++)
    test_allocation_sweep(make_everything, &questions[i]);
}

SUITE(sequence, TEST(sequences_read_as_lines), TEST(the_last_sharding_is_the_one_asked_for),
      TEST(nested_even_cuts_are_plain), TEST(maxima_and_minima_combine_too),
      TEST(small_elements_are_counted_in_whole_bytes), TEST(devices_go_by_their_ids),
      TEST(many_axes_are_no_obstacle), TEST(a_hundred_thousand_devices_are_no_obstacle),
      TEST(what_is_no_sequence_is_refused), TEST(two_meshes_are_refused),
      TEST(odd_arguments_are_refused), TEST(giant_tensors_are_counted_or_refused),
      TEST(a_memory_cap_forbids_the_widest_way), TEST(slow_links_are_spared),
      TEST(sequences_are_written_as_json), TEST(random_changes_are_right),
      TEST(nothing_leaks_without_memory))
