
#include "base/text_internal.h"
#include "support/test.h"
#include "tessera/compat/hlo.h"
#include "tessera/text.h"
#include "tiling/tiling_internal.h"

static tsr_tiling *parse(const char *text) {
  tsr_tiling *tiling = NULL;
  assert_ok(tsr_tiling_parse(text, &tiling));
  return tiling;
}

static void assert_prints(const tsr_tiling *tiling, const char *expected) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_tiling_print(tiling, &text);
  assert_ok(tsr_text_check(&text));
  assert_string_equal(tsr_text_string(&text), expected);
  tsr_text_deinit(&text);
}

// ---- texts that XLA prints ----

static const char *const printed[] = {
    "{replicated}",
    "{manual}",
    "{unknown}",
    "{unreduced}",
    "{maximal device=3}",
    "{maximal device=-1}",
    "{}",
    "{{replicated}, {maximal device=1}}",
    "{{replicated}, {manual}, {manual}, {manual}, {manual}, /*index=5*/{devices=[2]<=[2]}}",
    "{devices=[1]<=[1]}",
    "{devices=[2,1,4]<=[8]}",
    "{devices=[2,1,4]<=[2,4]T(1,0)}",
    "{devices=[2,3,5]<=[5,3,2]T(2,1,0)}",
    "{devices=[2,2]0,2,1,3}",
    "{devices=[2,2]0,1,2,3}",
    "{devices=[2,2]4,9,6,7}",
    "{devices=[2,2]<=[4] last_tile_dim_replicate}",
    "{devices=[2,2]0,2,1,3 last_tile_dim_replicate}",
    "{devices=[2,2]<=[4] last_tile_dims={manual}}",
    "{devices=[2,2]<=[4] last_tile_dims={unreduced}}",
    "{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}",
    "{devices=[2,2,2,2]<=[4,2,2]T(0,2,1) last_tile_dims={manual, unreduced, replicated}}",
    "{devices=[4,3,2]<=[8,3]T(1,0) last_tile_dims={manual, replicated}}",
    "{devices=[100000]<=[100000]}",
    "{devices=[2]<=[2] shard_as 3}",
    "{unknown shard_like -4}",
    "{replicated metadata={}}",
    "{replicated metadata={{}, {}}}",
    "{replicated metadata={{op_name=\"a\"}, {op_name=\"b\"}}}",
    "{devices=[2]<=[2] shard_as 3 metadata={op_type=\"t\" op_name=\"a\\\"b\\\\\\n\\001\\377\" "
    "source_file=\"f.py\" source_line=3 source_end_line=4 source_column=5 source_end_column=6 "
    "profile_type={1,2} deduplicated_name=\"d\" scheduling_name=\"s\" stack_frame_id=7 "
    "metadata_payload=\"p\"}}",
};

static void what_xla_prints_is_read_and_printed_unchanged(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(printed); i++) {
    tsr_tiling *tiling = parse(printed[i]);
    assert_prints(tiling, printed[i]);
    tsr_tiling_release(tiling);
  }
}

// ---- texts that mean the same: every right side is the answer of XLA's own parser ----

static const struct {
  const char *text, *normal;
} normalised[] = {
    {" { replicated } ", "{replicated}"},
    {"{/*comment*/ devices = [2, 2]<=[2, 2]T(1, 0) }", "{devices=[2,2]<=[2,2]T(1,0)}"},
    {"{{replicated},{manual}}", "{{replicated}, {manual}}"},
    {"{shard_as 3 devices=[2]<=[2]}", "{devices=[2]<=[2] shard_as 3}"},
    {"{metadata={op_name=\"a\"} replicated}", "{replicated metadata={op_name=\"a\"}}"},
    {"{replicated metadata={{op_name=\"a\"}}}", "{replicated metadata={op_name=\"a\"}}"},
    {"{replicated metadata={source_line=0, op_name=\"\" profile_type={} source_file=\"f\"}}",
     "{replicated metadata={source_file=\"f\"}}"},
    {"{replicated metadata={op_name=\"\\x41\\102'\\?\"}}",
     "{replicated metadata={op_name=\"AB\\'?\"}}"},
    // neighbours that run on are one digit
    {"{devices=[2,1,4]<=[2,1,4]T(1,0,2)}", "{devices=[2,1,4]<=[8]}"},
    {"{devices=[2,1,4]<=[2,4]T(0,1)}", "{devices=[2,1,4]<=[8]}"},
    {"{devices=[60]<=[3,4,5]T(1,2,0)}", "{devices=[60]<=[3,20]T(1,0)}"},
    {"{devices=[60]<=[3,4,5]T(2,0,1)}", "{devices=[60]<=[12,5]T(1,0)}"},
    {"{devices=[60]<=[1,3,1,4,1,5]T(4,3,2,5,1,0)}", "{devices=[60]<=[3,20]T(1,0)}"},
    {"{devices=[1,1]<=[1,1]T(1,0)}", "{devices=[1,1]<=[1]}"},
    // subgroups of size 1 vanish, an uncut tiling is its subgroup
    {"{devices=[2,1]<=[2] last_tile_dim_replicate}", "{devices=[2]<=[2]}"},
    {"{devices=[1,2]<=[2] last_tile_dim_replicate}", "{replicated}"},
    {"{devices=[2]<=[2] last_tile_dim_replicate}", "{replicated}"},
    {"{devices=[2]<=[2] last_tile_dims={manual}}", "{manual}"},
    {"{devices=[1,2]<=[2] last_tile_dims={unreduced}}", "{unreduced}"},
    {"{devices=[1,2,1]<=[2] last_tile_dims={manual,replicated}}", "{manual}"},
    // (XLA needs a second reading for this one)
    {"{devices=[1,2,1]<=[2] last_tile_dims={unreduced,replicated}}", "{unreduced}"},
    {"{devices=[2,2]<=[4] last_tile_dims={}}", "{devices=[2,2]<=[4]}"},
    {"{devices=[2,2]<=[4] last_tile_dims={replicated}}",
     "{devices=[2,2]<=[4] last_tile_dim_replicate}"},
    // one subgroup per kind, manual first and replicas last
    {"{devices=[2,2,2]<=[8] last_tile_dims={replicated, manual}}",
     "{devices=[2,2,2]<=[2,2,2]T(0,2,1) last_tile_dims={manual, replicated}}"},
    {"{devices=[2,2,2,2]<=[16] last_tile_dims={manual, replicated, manual}}",
     "{devices=[2,4,2]<=[4,2,2]T(0,2,1) last_tile_dims={manual, replicated}}"},
    {"{devices=[2,2,2,2]<=[16] last_tile_dims={unreduced, replicated, manual}}",
     "{devices=[2,2,2,2]<=[2,4,2]T(0,2,1) last_tile_dims={manual, unreduced, replicated}}"},
    // replicas ascend
    {"{devices=[2,2]2,0,1,3 last_tile_dim_replicate}",
     "{devices=[2,2]0,2,1,3 last_tile_dim_replicate}"},
    {"{devices=[2,4]<=[2,2,2]T(2,1,0) last_tile_dim_replicate}",
     "{devices=[2,4]<=[4,2]T(1,0) last_tile_dim_replicate}"},
    {"{devices=[4,4]<=[2,2,2,2]T(0,1,3,2) last_tile_dim_replicate}",
     "{devices=[4,4]<=[16] last_tile_dim_replicate}"},
    {"{devices=[2,1,6,2]<=[2,3,4]T(0,2,1) last_tile_dims={replicated, replicated}}",
     "{devices=[2,1,12]<=[24] last_tile_dim_replicate}"},
    {"{devices=[2,2,2,2]0,1,2,3,5,4,6,7,8,9,10,11,12,13,14,15 last_tile_dims={replicated, manual}}",
     "{devices=[2,2,2,2]0,2,1,3,5,6,4,7,8,10,9,11,12,14,13,15 "
     "last_tile_dims={manual, replicated}}"},
    // a group across a digit that it does not divide needs a list
    {"{devices=[2,3]<=[3,2]T(1,0) last_tile_dim_replicate}",
     "{devices=[2,3]<=[3,2]T(1,0) last_tile_dim_replicate}"},
    {"{devices=[3,2]<=[2,3]T(1,0) last_tile_dim_replicate}",
     "{devices=[3,2]<=[2,3]T(1,0) last_tile_dim_replicate}"},
    {"{devices=[3,4]<=[2,6]T(1,0) last_tile_dim_replicate}",
     "{devices=[3,4]<=[2,3,2]T(1,0,2) last_tile_dim_replicate}"},
    {"{devices=[4,6]<=[3,8]T(1,0) last_tile_dim_replicate}",
     "{devices=[4,6]<=[3,4,2]T(1,0,2) last_tile_dim_replicate}"},
    {"{devices=[6,4]<=[8,3]T(1,0) last_tile_dim_replicate}",
     "{devices=[6,4]<=[8,3]T(1,0) last_tile_dim_replicate}"},
    {"{devices=[4,6]<=[8,3]T(1,0) last_tile_dim_replicate}",
     "{devices=[4,6]0,3,6,9,12,15,1,4,7,10,18,21,2,5,13,16,19,22,8,11,14,17,20,23 "
     "last_tile_dim_replicate}"},
};

static void other_texts_take_xlas_normal_form(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(normalised); i++) {
    tsr_tiling *tiling = parse(normalised[i].text);
    assert_prints(tiling, normalised[i].normal);
    tsr_tiling *again = parse(normalised[i].normal);
    assert_true(tsr_tiling_equal(tiling, again));
    tsr_tiling_release(again);
    tsr_tiling_release(tiling);
  }
}

// ---- the text over a named mesh: right sides by XLA's conversion to the older form ----

static const struct {
  const char *text, *tiling;
} named[] = {
    {"{mesh['a'=2,'b'=4], [{'a'}, {'b'}]}", "{devices=[2,4]<=[8]}"},
    {"{mesh[\"a\"=2,\"b\"=4], [{\"b\"}, {\"a\"}]}", "{devices=[4,2]<=[2,4]T(1,0)}"},
    {"{mesh['a'=2,'b'=4], replicated}", "{replicated}"},
    {"{mesh['a'=2,'b'=4], manual}", "{manual}"},
    {"{mesh['a'=2,'b'=4], unreduced}", "{unreduced}"},
    {"{mesh['a'=2], []}", "{replicated}"},
    {"{maximal_mesh[device_id=3]}", "{maximal device=3}"},
    {"{mesh['a'=2,'b'=4], [{'a', ?}, {?}], replicated={'b'}}",
     "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"},
    {"{mesh['a'=2,'b'=4], [{'b':(1)2}, {}], unreduced={'a'}}",
     "{devices=[2,1,2,2]<=[2,2,2]T(1,0,2) last_tile_dims={unreduced, replicated}}"},
    {"{mesh['a'=2,'b'=2,'c'=2], [{'c'}], unreduced={}, manual={'a'}}",
     "{devices=[2,2,2]<=[4,2]T(1,0) last_tile_dims={manual, replicated}}"},
    {"{mesh['a'=2,'b'=4], [{}], unreduced=max{'b'}, metadata={op_name=\"x\"}}",
     "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dims={unreduced, replicated} "
     "metadata={{op_name=\"x\"}, {op_type=\"sdy::reduction_op\" op_name=\"MAX\"}}}"},
    {"{mesh['a'=2], unreduced=min}",
     "{unreduced metadata={op_type=\"sdy::reduction_op\" op_name=\"MIN\"}}"},
    {"{mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)), [{'a'}, {'b'}]}",
     "{devices=[2,4]<=[4,2]T(1,0)}"},
    {"{mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)), [{'b'}, {}]}",
     "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"},
    {"{mesh['a'=2,'b'=2], device_ids=(0,2,1,3), [{'a'}, {'b'}]}", "{devices=[2,2]0,2,1,3}"},
    {"{mesh['a'=2,'b'=2], device_ids=(3,2,1,0), [{'a'}]}",
     "{devices=[2,2]2,3,0,1 last_tile_dim_replicate}"},
    {"{mesh['a'=2,'b'=2], device_ids=(3,2,1,0), replicated}", "{replicated}"},
    {"{{mesh['a'=2], [{'a'}]}, {replicated}}", "{{devices=[2]<=[2]}, {replicated}}"},
};

static void shardings_over_a_named_mesh_are_read_as_tilings(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(named); i++) {
    tsr_tiling *tiling = parse(named[i].text);
    assert_prints(tiling, named[i].tiling);
    tsr_tiling_release(tiling);
  }
}

// ---- equality ----

static const struct {
  const char *a, *b;
  bool equal;
} pairs[] = {
    {"{replicated}", "{replicated}", true},
    {"{replicated}", "{manual}", false},
    {"{maximal device=1}", "{maximal device=2}", false},
    {"{devices=[2,2]0,1,2,3}", "{devices=[2,2]<=[4]}", true},
    {"{devices=[2,2]0,2,1,3}", "{devices=[2,2]<=[2,2]T(1,0)}", true},
    {"{devices=[2,2]0,2,1,3}", "{devices=[2,2]<=[4]}", false},
    {"{devices=[2,2]<=[4]}", "{devices=[2,2]<=[2,2]T(1,0)}", false},
    {"{devices=[2,2]<=[4]}", "{devices=[4]<=[4]}", false},
    {"{devices=[2,2]<=[4]}", "{devices=[4,1]<=[4]}", false},
    {"{devices=[2,2]<=[4]}", "{devices=[2,2]<=[4] last_tile_dim_replicate}", false},
    {"{devices=[2,2]<=[4] last_tile_dims={manual}}",
     "{devices=[2,2]<=[4] last_tile_dims={unreduced}}", false},
    {"{replicated}", "{replicated metadata={op_name=\"a\"}}", true},
    {"{replicated}", "{replicated shard_as 1}", false},
    {"{replicated shard_as 1}", "{replicated shard_as 2}", false},
    {"{{replicated}}", "{{replicated}, {replicated}}", false},
    {"{{replicated}}", "{{manual}}", false},
    {"{{replicated}, {manual}}", "{{replicated}, {manual}}", true},
};

static void tilings_are_equal_as_values(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(pairs); i++) {
    tsr_tiling *a = parse(pairs[i].a), *b = parse(pairs[i].b);
    assert_int_equal(tsr_tiling_equal(a, b), pairs[i].equal);
    assert_int_equal(tsr_tiling_equal(b, a), pairs[i].equal);
    assert_true(tsr_tiling_equal(a, a));
    tsr_tiling_release(a);
    tsr_tiling_release(b);
  }
}

static void tuples_have_elements(void **state) {
  (void)state;
  tsr_tiling *tuple = parse("{{replicated}, {devices=[2]<=[2]}}");
  assert_int_equal(tsr_tiling_kind_of(tuple), TSR_TILING_TUPLE);
  assert_int_equal(tsr_tiling_element_count(tuple), 2);
  assert_null(tsr_tiling_element(tuple, 2));
  assert_null(tsr_tiling_element(tuple, -1));
  const tsr_tiling *element = tsr_tiling_element(tuple, 1);
  assert_int_equal(tsr_tiling_kind_of(element), TSR_TILING_TILED);
  assert_int_equal(tsr_tiling_element_count(element), 0);
  tsr_tiling_release(tuple);
  tsr_tiling_release(NULL);
}

// ---- refusals ----

static const struct {
  const char *text;
  tsr_cause cause;
  const char *message;
} refused[] = {
    {"replicated", TSR_CAUSE_SYNTAX, "sharding: column 1: expected \"{\", found \"replicated\""},
    {"{replicated", TSR_CAUSE_SYNTAX,
     "sharding: column 12: expected a word of XLA's sharding, found the end"},
    {"{replicated}x", TSR_CAUSE_SYNTAX, "sharding: column 13: expected the end, found \"x\""},
    {"{repeated}", TSR_CAUSE_SYNTAX,
     "sharding: column 2: expected a word of XLA's sharding, found \"repeated\""},
    {"{replicated manual}", TSR_CAUSE_SYNTAX, "sharding: column 13: the sharding has two kinds"},
    {"{replicated devices=[2]<=[2]}", TSR_CAUSE_SYNTAX,
     "sharding: column 2: the sharding is not tiled but has tiles"},
    {"{maximal}", TSR_CAUSE_SYNTAX, "sharding: column 2: maximal without device="},
    {"{device=3}", TSR_CAUSE_SYNTAX, "sharding: column 2: the sharding has no devices=[...]"},
    {"{replicated device=3}", TSR_CAUSE_SYNTAX, "sharding: column 2: device= without maximal"},
    {"{maximal device=3 device=4}", TSR_CAUSE_SYNTAX,
     "sharding: column 19: device= is given twice"},
    {"{devices=[2]<=[2] devices=[2]<=[2]}", TSR_CAUSE_SYNTAX,
     "sharding: column 19: devices= is given twice"},
    {"{devices=[]<=[2]}", TSR_CAUSE_SYNTAX,
     "sharding: column 11: expected an integer, found \"]\""},
    {"{devices=[0]<=[0]}", TSR_CAUSE_SYNTAX,
     "sharding: column 2: 0 in a device array, expected 1 to 2147483647"},
    {"{devices=[2]<=[4]}", TSR_CAUSE_SYNTAX,
     "sharding: column 2: tiles for 2 devices, but the array counts 4"},
    {"{devices=[4]<=[2,2]}", TSR_CAUSE_SYNTAX, "sharding: column 20: expected \"T\", found \"}\""},
    {"{devices=[4]<=[2,2]T(0,0)}", TSR_CAUSE_SYNTAX,
     "sharding: column 2: T() has 0, expected each of 0 to 1 once"},
    {"{devices=[4]<=[2,2]T(0,2)}", TSR_CAUSE_SYNTAX,
     "sharding: column 2: T() has 2, expected each of 0 to 1 once"},
    {"{devices=[4]<=[2,2]T(1)}", TSR_CAUSE_SYNTAX,
     "sharding: column 2: T() names 1 dimensions, expected 2"},
    {"{devices=[2,2]0,1,2}", TSR_CAUSE_SYNTAX,
     "sharding: column 2: tiles for 4 devices, but 3 are listed"},
    {"{devices=[2,2]0,1,2,1}", TSR_CAUSE_DUPLICATE_DEVICE,
     "sharding: column 2: device 1 is listed twice"},
    {"{devices=[2]0,-1}", TSR_CAUSE_SYNTAX,
     "sharding: column 2: device -1, expected 0 to 2147483647"},
    {"{devices=[1]5}", TSR_CAUSE_SYNTAX,
     "sharding: column 2: a list of one device, expected {maximal device=5}"},
    {"{devices=[65536,65536]<=[4294967296]}", TSR_CAUSE_TOO_LARGE,
     "sharding: column 2: device array of more than 2147483647 devices"},
    {"{devices=[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]<=[1]}",
     TSR_CAUSE_TOO_LARGE, "sharding: column 2: tiling of more than 32 dimensions"},
    {"{devices=[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"
     "<=[1]}",
     TSR_CAUSE_TOO_LARGE, "sharding: column 2: more than 40 dimensions in a device array"},
    {"{devices=[40000000,6]<=[80000000,3]T(1,0) last_tile_dim_replicate}", TSR_CAUSE_TOO_LARGE,
     "sharding: column 2: 240000000 devices would have to be listed, expected at most 16777216"},
    {"{devices=[2]<=[2] last_tile_dims={manual, replicated}}", TSR_CAUSE_SYNTAX,
     "sharding: column 2: 2 last tile dimensions, but the array has 1"},
    {"{devices=[2]<=[2] last_tile_dims={maximal}}", TSR_CAUSE_SYNTAX,
     "sharding: column 35: expected replicated, manual or unreduced, found \"maximal\""},
    {"{devices=[2]<=[2] last_tile_dim_replicate last_tile_dims={manual}}", TSR_CAUSE_SYNTAX,
     "sharding: column 43: the last tile dimensions are described twice"},
    {"{replicated shard_as 1 shard_like 2}", TSR_CAUSE_SYNTAX,
     "sharding: column 24: the sharding is in two shard groups"},
    {"{replicated metadata={} metadata={}}", TSR_CAUSE_SYNTAX,
     "sharding: column 25: metadata= is given twice"},
    {"{replicated metadata={op_nam=\"\"}}", TSR_CAUSE_SYNTAX,
     "sharding: column 23: expected a field of metadata, found \"op_nam\""},
    {"{replicated metadata={op_name=\"\" op_name=\"\"}}", TSR_CAUSE_SYNTAX,
     "sharding: column 13: op_name is given twice"},
    {"{replicated metadata={op_name=\"a}}", TSR_CAUSE_SYNTAX,
     "sharding: column 35: expected '\"', found the end"},
    {"{replicated metadata={op_name=\"\\q\"}}", TSR_CAUSE_SYNTAX,
     "sharding: column 33: expected an escape, found \"q\""},
    {"{replicated metadata={op_name=\"\\777\"}}", TSR_CAUSE_SYNTAX,
     "sharding: column 33: expected an escape, found \"777\""},
    {"{{replicated}, {oops}}", TSR_CAUSE_SYNTAX,
     "sharding: column 17: expected a word of XLA's sharding, found "
     "\"oops\""},
    {"{replicated mesh['a'=2], []}", TSR_CAUSE_SYNTAX,
     "sharding: column 13: the sharding has two kinds"},
    {"{mesh['a'=2], [{'a'}] shard_as 3}", TSR_CAUSE_SYNTAX,
     "sharding: column 23: expected \"}\", found \"shard_as\""},
    {"{mesh[a=2], [{'a'}]}", TSR_CAUSE_SYNTAX,
     "sharding: column 7: expected a name in quotes, found \"a\""},
    {"{mesh['a=2], []}", TSR_CAUSE_SYNTAX, "sharding: column 17: expected \"'\", found the end"},
    {"{mesh['a'=2]}", TSR_CAUSE_SYNTAX, "sharding: column 13: expected \",\", found \"}\""},
    {"{mesh['a'=2], [{'a'}], x={}}", TSR_CAUSE_SYNTAX,
     "sharding: column 24: expected dimensions or a set of axes, found \"x\""},
    {"{mesh['a'=2], [{'b'}]}", TSR_CAUSE_UNKNOWN_MESH_AXIS,
     "sharding: column 2: dimension 0: axis \"b\" is not in mesh {a=2:explicit}"},
    {"{mesh['a'=4], [], manual={'a':(1)2}}", TSR_CAUSE_UNSUPPORTED,
     "sharding: column 2: a sub-axis of \"a\" is manual, expected the whole axis"},
    {"{mesh['a'=4], [{'a':(0)2}]}", TSR_CAUSE_BAD_SUB_AXIS,
     "sharding: column 2: sub-axis 'a':(0)2, expected numbers of 1 or more"},
    {"{mesh['a'=2], device_ids=(0,2), []}", TSR_CAUSE_SYNTAX,
     "sharding: column 2: device 2 in a mesh of 2"},
    {"{mesh['a'=2], device_ids=(0,0), []}", TSR_CAUSE_DUPLICATE_DEVICE,
     "sharding: column 2: device 0 is listed twice"},
    {"{mesh['a'=2], device_ids=([3]), []}", TSR_CAUSE_SYNTAX,
     "sharding: column 2: tiles for 2 devices, but the array counts 3"},
    {"{mesh['a'=65536,'b'=65536], device_ids=([2]), []}", TSR_CAUSE_TOO_LARGE,
     "sharding: column 2: a mesh of more than 2147483647 devices"},
    {"{mesh['a'=65536,'b'=65536], [{'a'}]}", TSR_CAUSE_TOO_LARGE,
     "sharding: column 2: tiling of more than 2147483647 devices"},
    {"{mesh['a'=2,'b'=2,'c'=2,'d'=2,'e'=2,'f'=2,'g'=2,'h'=2,'i'=2,'j'=2,'k'=2,'l'=2,'m'=2,'n'=2,"
     "'o'=2,'p'=2,'q'=2], []}",
     TSR_CAUSE_TOO_LARGE, "sharding: column 2: a mesh of more than 16 axes"},
    {"{mesh['a'=2], [], metadata={}, metadata={}}", TSR_CAUSE_SYNTAX,
     "sharding: column 2: metadata= is given twice"},
    {"{maximal_mesh[devices=3]}", TSR_CAUSE_SYNTAX,
     "sharding: column 15: expected device_id, found \"devices\""},
    {"{devices=[2]<=[2] last_tile_dims={manual", TSR_CAUSE_SYNTAX,
     "sharding: column 41: expected \"}\", found the end"},
    {"{{{replicated}}}", TSR_CAUSE_SYNTAX,
     "sharding: column 3: expected a word of XLA's sharding, found "
     "\"{\""},
};

static void nonsense_is_refused_with_a_reason(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(refused); i++) {
    tsr_tiling *tiling = NULL;
    test_assert_fails(tsr_tiling_parse(refused[i].text, &tiling), refused[i].cause,
                      refused[i].message, __FILE__, __LINE__);
    assert_null(tiling);
  }
}

// ---- sizes and memory ----

// A list of a hundred thousand devices is kept; the counted form of as many needs no list.
static void a_hundred_thousand_devices_are_fine(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add(&text, "{devices=[250,400]");
  for (int i = 0; i < 100000; i++) tsr_text_addf(&text, i ? ",%d" : "%d", i % 400 * 250 + i / 400);
  tsr_text_add(&text, "}");
  tsr_tiling *list = parse(tsr_text_string(&text));
  assert_prints(list, tsr_text_string(&text));
  tsr_tiling *counted = parse("{devices=[250,400]<=[400,250]T(1,0)}");
  assert_true(tsr_tiling_equal(list, counted));
  tsr_tiling_release(counted);
  tsr_tiling_release(list);
  tsr_text_deinit(&text);
}

static tsr_status parse_and_release(void *context) {
  tsr_tiling *tiling = NULL;
  tsr_status status = tsr_tiling_parse(context, &tiling);
  tsr_tiling_release(tiling);
  return status;
}

static void parsing_survives_every_failed_allocation(void **state) {
  (void)state;
  test_allocation_sweep(parse_and_release, "{replicated}");
  test_allocation_sweep(parse_and_release,
                        "{mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)), [{'a'}, {?}], "
                        "unreduced=max{'b'}, metadata={op_name=\"x\"}}");
  test_allocation_sweep(parse_and_release,
                        "{mesh['a'=2,'b'=2], device_ids=(0,2,1,3), [{'a'}], manual={'b'}}");
  test_allocation_sweep(
      parse_and_release,
      "{{devices=[2,2,2]0,1,2,3,5,4,6,7 last_tile_dims={replicated, manual}}, "
      "{replicated}, {manual}, {manual}, "
      "{replicated metadata={{op_name=\"a\"}, {source_line=3}, {op_type=\"b\"}}}}");
}

SUITE(tiling, TEST(what_xla_prints_is_read_and_printed_unchanged),
      TEST(other_texts_take_xlas_normal_form),
      TEST(shardings_over_a_named_mesh_are_read_as_tilings), TEST(tilings_are_equal_as_values),
      TEST(tuples_have_elements), TEST(nonsense_is_refused_with_a_reason),
      TEST(a_hundred_thousand_devices_are_fine), TEST(parsing_survives_every_failed_allocation))
