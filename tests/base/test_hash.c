
#include <string.h>

#include "base/hash_internal.h"
#include "support/test.h"
#include "tessera/engine/kernels.h"
#include "tessera/text.h"

// XXH3's published values for these inputs, so that hashes kept in files stay valid.
static void hashes_are_stable(void **state) {
  (void)state;
  assert_int_equal(tsr_hash64("", 0, 0), 0x2d06800538d394c2);
  assert_int_equal(tsr_hash64("abc", 3, 0), 0x78af5f94892f3950);
  assert_int_not_equal(tsr_hash64("abc", 3, 0), tsr_hash64("abc", 3, 1));
}

static void long_hashes_are_printed_and_read(void **state) {
  (void)state;
  const tsr_hash128 hash = {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)};
  tsr_hash128 read = {0, 0};
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_hash128_print(hash, &text);
  assert_string_equal(tsr_text_string(&text), "fedcba98765432100123456789abcdef");
  assert_ok(tsr_hash128_parse(tsr_text_string(&text), &read));
  assert_true(tsr_hash128_equal(hash, read));
  tsr_text_deinit(&text);
  static const char *const bad[] = {"", "12", "fedcba98765432100123456789abcdeg",
                                    "fedcba98765432100123456789abcdef0",
                                    "FEDCBA98765432100123456789ABCDEF"};
  for (size_t i = 0; i < COUNT_OF(bad); i++)
    assert_fails_with(tsr_hash128_parse(bad[i], &read), SYNTAX, "32 digits");
}

// int.from_bytes(hashlib.NAME(TEXT).digest(), "big") of Python 3.11.
static const struct {
  const char *algorithm, *text, *decimal;
} digests[] = {
    {"", "", "281949768489412648962353822266799178366"},
    {"md5", "model.layers.0", "241300365052419610670904799917981611809"},
    {"sha1", "model.layers.0", "653151625244794396934714749438224040227123847565"},
    {"sha224", "model.layers.0",
     "1065895977971579722181384848736118812240757589569872459971674996111"},
    {"sha256", "model.layers.0",
     "33815100700491778472681535763216241256702681174018356368695502338526013538471"},
    {"sha384", "model.layers.0",
     "511007037674692184408755722579925399213489233632668951064524594680933355706131862261426432873"
     "9527104499063354095445"},
    {"sha512", "model.layers.0",
     "971702569985097426875753092044238387696030741981925496877687625028398391405954373955155013710"
     "1323887819471053074846586532450242766102139929021498437982945"},
    {"sha3_224", "model.layers.0",
     "5497629273479948397839970580808482008878649147618085737942601257020"},
    {"sha3_256", "model.layers.0",
     "101507362799087805102893089772401561541366158423896227295350890498816582878969"},
    {"sha3_384", "model.layers.0",
     "189801078865472765306889005765034658943757622582617478058911038003108912705438780348984668863"
     "89677404079132467457469"},
    {"sha3_512", "model.layers.0",
     "541088788955842036951070243459921250589644516530777523635444644202946091324866769080932760225"
     "916844599776013201404067233330385894344960605048847281539412"},
    {"blake2b", "model.layers.0",
     "464503382610549134337997098934666495475804484915348745726994161656814720626013620007561744152"
     "8738724871407101179752395454525742310758607174986340359775710"},
    {"blake2s", "model.layers.0",
     "108586163462143834691265261196951065000841822913838949554332104140106902645235"},
    {"md5", "w48534", "5177610669875483655571247769784178"},
    {"sha1", "v116567", "1086340674988324197499343717843008655935000427159"},
};

static void digests_are_python_integers(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(digests); i++) {
    tsr_text text = TSR_TEXT_EMPTY;
    const char *algorithm = *digests[i].algorithm ? digests[i].algorithm : NULL;
    assert_ok(tsr_hash_decimal(digests[i].text, strlen(digests[i].text), algorithm, &text));
    assert_string_equal(tsr_text_string(&text), digests[i].decimal);
    tsr_text_deinit(&text);
  }
}

static void names_fail_as_in_python(void **state) {
  (void)state;
  static const char *const unknown[] = {"",    "nope",      "MD5",    "md5 ",   "sha512_256",
                                        "sm3", "ripemd160", "__eq__", "__lt__", "blake2b512"};
  static const char *const failing[] = {"new",
                                        "shake_128",
                                        "shake_256",
                                        "pbkdf2_hmac",
                                        "scrypt",
                                        "__doc__",
                                        "_hashlib",
                                        "file_digest",
                                        "__class__",
                                        "__all__",
                                        "algorithms_available"};
  tsr_text text = TSR_TEXT_EMPTY;
  for (size_t i = 0; i < COUNT_OF(unknown); i++)
    assert_fails_with(tsr_hash_decimal("a", 1, unknown[i], &text), UNKNOWN_HASH_ALGORITHM,
                      "is unknown");
  for (size_t i = 0; i < COUNT_OF(failing); i++)
    assert_fails_with(tsr_hash_decimal("a", 1, failing[i], &text), HASH_FAILED,
                      "is no digest of fixed size");
  assert_fails(tsr_hash_decimal("a", 1, "MD5", &text), UNKNOWN_HASH_ALGORITHM,
               "hash algorithm \"MD5\" is unknown; did you mean \"md5\"?");
  assert_string_equal(tsr_text_string(&text), "");
}

static tsr_status hash_once(void *context) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status = tsr_hash_decimal(context, 1, "sha512", &text);
  tsr_text_deinit(&text);
  return status;
}

static void hashing_survives_running_out_of_memory(void **state) {
  (void)state;
  char a[] = "a";
  test_allocation_sweep(hash_once, a);
}

static void chains_tell_order_and_ends_of_items(void **state) {
  (void)state;
  const tsr_hash128 ab = tsr_hash128_add_text(tsr_hash128_add_text(TSR_HASH128_EMPTY, "a"), "b");
  const tsr_hash128 others[] = {
      tsr_hash128_add_text(tsr_hash128_add_text(TSR_HASH128_EMPTY, "b"), "a"),
      tsr_hash128_add_text(TSR_HASH128_EMPTY, "ab"),
      tsr_hash128_add_text(tsr_hash128_add_text(TSR_HASH128_EMPTY, "ab"), ""),
      tsr_hash128_add_text(tsr_hash128_add_text(TSR_HASH128_EMPTY, "ab"), NULL)};
  for (size_t i = 0; i < COUNT_OF(others); i++) {
    assert_false(tsr_hash128_equal(ab, others[i]));
    for (size_t k = 0; k < i; k++) assert_false(tsr_hash128_equal(others[i], others[k]));
  }
  assert_true(
      tsr_hash128_equal(ab, tsr_hash128_add(tsr_hash128_add(TSR_HASH128_EMPTY, "a", 2), "b", 2)));
}

SUITE(hash, TEST(chains_tell_order_and_ends_of_items), TEST(hashes_are_stable),
      TEST(long_hashes_are_printed_and_read), TEST(digests_are_python_integers),
      TEST(names_fail_as_in_python), TEST(hashing_survives_running_out_of_memory))
