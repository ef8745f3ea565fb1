#include "support/test.h"
#include "tessera/notation.h"

static const struct {
  const char *text, *printed;
} texts[] = {
    {"[]", "[]"},
    {"()", "[]"},
    {"[Shard(0), Replicate(), Partial()]", "[Shard(dim=0), Replicate(), Partial(sum)]"},
    {"(Shard(dim=0), Replicate(), Partial(sum))", "[Shard(dim=0), Replicate(), Partial(sum)]"},
    {"(Shard(dim=-1),)", "[Shard(dim=-1)]"},
    {"[S(1), R, P]", "[Shard(dim=1), Replicate(), Partial(sum)]"},
    {" [ S( 1 ) , R ( ) , P(max) , ] ", "[Shard(dim=1), Replicate(), Partial(max)]"},
    {"[Partial('sum'), Partial(\"max\"), Partial(reduce_op='min')]",
     "[Partial(sum), Partial(max), Partial(min)]"},
    {"[_StridedShard(dim=0, sf=2), Shard(0)]", "[_StridedShard(dim=0, sf=2), Shard(dim=0)]"},
    {"[_StridedShard(dim=0, split_factor=2)]", "[_StridedShard(dim=0, sf=2)]"},
    {"[_StridedShard(0, split_factor=4), _S(1, 3)]",
     "[_StridedShard(dim=0, sf=4), _StridedShard(dim=1, sf=3)]"},
    {"[_StridedShard(2)]", "[_StridedShard(dim=2, sf=1)]"},
};

static void every_form_that_pytorch_prints_is_read(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    tsr_placements placements;
    assert_ok(tsr_placements_parse(texts[i].text, &placements));
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_placements_print(&placements, &text);
    assert_string_equal(tsr_text_string(&text), texts[i].printed);
    assert_ok(tsr_placements_parse(texts[i].printed, &placements));
    tsr_text_clear(&text);
    tsr_placements_print(&placements, &text);
    assert_string_equal(tsr_text_string(&text), texts[i].printed);
    tsr_text_deinit(&text);
  }
}

static const struct {
  const char *text;
  tsr_cause cause;
  const char *message;
} refused[] = {
    {"Shard(0)", TSR_CAUSE_SYNTAX, "wanted '(' at byte 0, found \"Shard(0)\""},
    {"[Shard(0)", TSR_CAUSE_SYNTAX, "wanted ']' at byte 9, found the end"},
    {"[Shard(0))", TSR_CAUSE_SYNTAX, "wanted ']' at byte 9, found \")\""},
    {"[Shard(0)] x", TSR_CAUSE_SYNTAX, "wanted the end at byte 11, found \"x\""},
    {"[,]", TSR_CAUSE_SYNTAX,
     "in placement 0: wanted Shard, Replicate, Partial or _StridedShard at byte 1, found \",]\""},
    {"[Replicate(), Shrad(0)]", TSR_CAUSE_SYNTAX,
     "in placement 1: wanted Shard, Replicate, Partial or _StridedShard at byte 14, "
     "found \"Shrad(0)]\""},
    {"[Shard()]", TSR_CAUSE_SYNTAX, "in placement 0: wanted an integer at byte 7, found \")]\""},
    {"[Shard(axis=0)]", TSR_CAUSE_SYNTAX,
     "in placement 0: wanted an integer at byte 7, found \"axis=0)]\""},
    {"[Shard(32)]", TSR_CAUSE_SYNTAX, "in placement 0: dim 32, wanted -32 to 31"},
    {"[_S(0, 0)]", TSR_CAUSE_SYNTAX, "in placement 0: split_factor 0, wanted 1 to 2147483647"},
    {"[Partial(avg)]", TSR_CAUSE_UNSUPPORTED,
     "in placement 0: partial results that combine by \"avg\", wanted sum, max or min"},
    {"[Partial('sum)]", TSR_CAUSE_SYNTAX, "in placement 0: wanted ''' at byte 13, found \")]\""},
    {"[Partial(=)]", TSR_CAUSE_SYNTAX,
     "in placement 0: wanted a reduction at byte 9, found \"=)]\""},
    {"[_MaskPartial(reduce_op=sum)]", TSR_CAUSE_UNSUPPORTED,
     "in placement 0: masked partial results have no equal here"},
    {"[R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R]", TSR_CAUSE_TOO_LARGE, "more than 16 placements"},
};

static void other_texts_are_refused_with_a_reason(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(refused); i++) {
    tsr_placements placements = {.count = 7};
    test_assert_fails(tsr_placements_parse(refused[i].text, &placements), refused[i].cause,
                      refused[i].message, __FILE__, __LINE__);
    assert_int_equal(placements.count, 7);
  }
}

SUITE(placements, TEST(every_form_that_pytorch_prints_is_read),
      TEST(other_texts_are_refused_with_a_reason))
