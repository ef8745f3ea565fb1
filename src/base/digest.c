// Message digests as Python sees them: getattr(hashlib, name)(bytes).digest() as one integer.
//
// The digests come from libgcrypt, which alone of the small libraries has all of hashlib's (libmd
// has no SHA-3 and no BLAKE2, libb2 nothing else; OpenSSL has them at four times the weight). Which
// names fail, and how, is Python's: a name that the module does not have is unknown; one that it
// has but that is no digest of fixed size fails when it is called.
#include <gcrypt.h>
#include <pthread.h>
#include <string.h>

#include "base/hash_internal.h"
#include "base/suggest.h"
#include "base/text_internal.h"
#include "tessera/status.h"
#include "tessera/text.h"

static const struct {
  const char *name;
  int algorithm;
} digests[] = {
    {"md5", GCRY_MD_MD5},
    {"sha1", GCRY_MD_SHA1},
    {"sha224", GCRY_MD_SHA224},
    {"sha256", GCRY_MD_SHA256},
    {"sha384", GCRY_MD_SHA384},
    {"sha512", GCRY_MD_SHA512},
    {"sha3_224", GCRY_MD_SHA3_224},
    {"sha3_256", GCRY_MD_SHA3_256},
    {"sha3_384", GCRY_MD_SHA3_384},
    {"sha3_512", GCRY_MD_SHA3_512},
    {"blake2b", GCRY_MD_BLAKE2B_512},
    {"blake2s", GCRY_MD_BLAKE2S_256},
};
enum { DIGEST_COUNT = sizeof digests / sizeof *digests, LARGEST_DIGEST = 64 };

// The other names that the module has: its functions of other kinds and sets, and what every module
// has. (Comparisons such as __eq__ are missing on purpose: calling them gives a thing without a
// digest, which Python cannot tell from an unknown name.)
static const char *const other_names[] = {
    "algorithms_available",
    "algorithms_guaranteed",
    "file_digest",
    "new",
    "pbkdf2_hmac",
    "scrypt",
    "shake_128",
    "shake_256",
    "_hashlib",
    "__all__",
    "__annotations__",
    "__block_openssl_constructor",
    "__builtin_constructor_cache",
    "__builtins__",
    "__cached__",
    "__class__",
    "__delattr__",
    "__dict__",
    "__dir__",
    "__doc__",
    "__file__",
    "__format__",
    "__get_builtin_constructor",
    "__getattribute__",
    "__getstate__",
    "__hash__",
    "__init__",
    "__init_subclass__",
    "__loader__",
    "__name__",
    "__new__",
    "__package__",
    "__reduce__",
    "__reduce_ex__",
    "__repr__",
    "__setattr__",
    "__sizeof__",
    "__spec__",
    "__str__",
};

static int find_digest(const char *name) {
  for (int i = 0; i < DIGEST_COUNT; i++)
    if (!strcmp(digests[i].name, name)) return i;
  return -1;
}

static tsr_status no_digest(const char *name) {
  for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
    if (!strcmp(other_names[i], name))
      return tsr_fail(HASH_FAILED, "\"%s\" of hashlib is no digest of fixed size", name);
  tsr_suggestion near = tsr_suggestion_for(name);
  for (int i = 0; i < DIGEST_COUNT; i++) tsr_suggestion_offer(&near, digests[i].name);
  return tsr_fail(UNKNOWN_HASH_ALGORITHM, "hash algorithm \"%s\" is unknown" TSR_DID_YOU_MEAN, name,
                  TSR_SUGGESTED(near));
}

// The library wants to be woken once per process, unless the program around us did so already.
static void wake_library(void) {
  if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P)) return;
  gcry_check_version(NULL);
  gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
  gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
}

// Not gcry_md_hash_buffer, which aborts where a policy forbids the algorithm (md5 under FIPS).
static tsr_status compute(int digest, const char *bytes, size_t length, unsigned char *out) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, wake_library);
  const int algorithm = digests[digest].algorithm;
  gcry_md_hd_t context;
  const gcry_error_t error = gcry_md_open(&context, algorithm, 0);
  if (error) return tsr_fail(HASH_FAILED, "%s: %s", digests[digest].name, gcry_strerror(error));
  gcry_md_write(context, bytes, length);
  memcpy(out, gcry_md_read(context, algorithm), gcry_md_get_algo_dlen(algorithm));
  gcry_md_close(context);
  return NULL;
}

// Divides a big-endian number by 10^9 in place and returns the rest.
static uint32_t divide(unsigned char *number, size_t size) {
  uint64_t rest = 0;
  for (size_t i = 0; i < size; i++) {
    rest = rest << 8 | number[i];
    number[i] = (unsigned char)(rest / 1000000000);
    rest %= 1000000000;
  }
  return (uint32_t)rest;
}

// Nine digits at a time, the last first; a digest has at most 155 digits, hence 18 such groups.
static void add_decimal(tsr_text *out, unsigned char *number, size_t size) {
  uint32_t groups[18];
  int count = 0;
  for (size_t start = 0; start < size;) {
    if (!number[start])
      start++;
    else
      groups[count++] = divide(number + start, size - start);
  }
  tsr_text_addf(out, "%u", count ? groups[count - 1] : 0);
  for (int i = count - 2; i >= 0; i--) tsr_text_addf(out, "%09u", groups[i]);
}

tsr_status tsr_hash_decimal(const char *text, size_t length, const char *algorithm,
                            tsr_text *out_decimal) {
  const char *name = algorithm ? algorithm : "md5";
  const int digest = find_digest(name);
  if (digest < 0) return no_digest(name);
  unsigned char bytes[LARGEST_DIGEST];
  TSR_TRY(compute(digest, text, length, bytes));
  add_decimal(out_decimal, bytes, gcry_md_get_algo_dlen(digests[digest].algorithm));
  return tsr_text_check(out_decimal);
}
