// Prime factors of any 64-bit size, quickly even when it is the product of two large primes.
//
// Small primes are found by trial division. The rest is tested with Miller and Rabin's test, exact
// for 64 bits with the first twelve primes as bases, and factored with Pollard's rho, whose cost is
// the root of the smallest factor: 2^15 steps at worst, where trial division needs 2^31.
#include "base/arithmetic.h"
#include "mesh/mesh_build_internal.h"

// Any factor that remains after trial division is larger.
#define TRIAL_LIMIT 1024

__extension__ typedef unsigned __int128 wide;

static uint64_t multiply(uint64_t a, uint64_t b, uint64_t n) { return (uint64_t)((wide)a * b % n); }

static uint64_t power(uint64_t base, uint64_t exponent, uint64_t n) {
  uint64_t result = 1;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1) result = multiply(result, base, n);
    base = multiply(base, base, n);
  }
  return result;
}

// Whether `base` proves the odd n > TRIAL_LIMIT composite.
static bool is_witness(uint64_t base, uint64_t n) {
  const int twos = __builtin_ctzll(n - 1);
  uint64_t x = power(base, (n - 1) >> twos, n);
  if (x == 1 || x == n - 1) return false;
  for (int i = 1; i < twos; i++) {
    x = multiply(x, x, n);
    if (x == n - 1) return false;
  }
  return true;
}

static bool is_prime(uint64_t n) {
  static const uint64_t bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  if (n < (uint64_t)TRIAL_LIMIT * TRIAL_LIMIT) return true;
  for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
    if (is_witness(bases[i], n)) return false;
  return true;
}

// A proper factor of a composite n. The sequence x -> x^2 + c enters a cycle modulo the smallest
// factor long before it does modulo n; if both happen at once, the next c is tried.
static uint64_t find_factor(uint64_t n) {
  for (uint64_t c = 1;; c++) {
    uint64_t slow = 2, fast = 2, factor = 1;
    while (factor == 1) {
      slow = (uint64_t)(((wide)slow * slow + c) % n);
      fast = (uint64_t)(((wide)fast * fast + c) % n);
      fast = (uint64_t)(((wide)fast * fast + c) % n);
      factor = (uint64_t)tsr_gcd((int64_t)(slow > fast ? slow - fast : fast - slow), (int64_t)n);
    }
    if (factor != n) return factor;
  }
}

static int insert_ascending(int64_t *factors, int count, int64_t factor) {
  int at = count;
  for (; at > 0 && factors[at - 1] > factor; at--) factors[at] = factors[at - 1];
  factors[at] = factor;
  return count + 1;
}

// Adds the factors of n, which has none up to TRIAL_LIMIT, hence at most six.
static int add_large_factors(uint64_t n, int64_t *factors, int count) {
  uint64_t pending[8] = {n};
  for (int depth = n > 1; depth > 0;) {
    const uint64_t m = pending[--depth];
    if (is_prime(m)) {
      count = insert_ascending(factors, count, (int64_t)m);
      continue;
    }
    const uint64_t factor = find_factor(m);
    pending[depth++] = factor;
    pending[depth++] = m / factor;
  }
  return count;
}

tsr_status tsr_prime_factors(int64_t n, int64_t *out_factors, int *out_count) {
  if (n < 1) return tsr_fail(BAD_ARGUMENT, "prime factors of %lld, wanted 1 or more", (long long)n);
  int count = 0;
  for (int64_t p = 2; p <= TRIAL_LIMIT && p * p <= n; p += p == 2 ? 1 : 2)
    for (; n % p == 0; n /= p) out_factors[count++] = p;
  *out_count = add_large_factors((uint64_t)n, out_factors, count);
  return NULL;
}
