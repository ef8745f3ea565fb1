// The marks of public declarations: what is exported, and what the compiler checks.
//
// Integers: ids of devices and processes, positions, indices, counts and sizes are int64_t. `int`
// is for dimensions, ranks of tensors, mesh axes, and ranks and workers of a comm.
#ifndef TESSERA_API_H
#define TESSERA_API_H

#ifdef __cplusplus
#define TSR_BEGIN_DECLS extern "C" {
#define TSR_END_DECLS }
#else
#define TSR_BEGIN_DECLS
#define TSR_END_DECLS
#endif

// The library is built with hidden visibility; only TSR_API functions can be linked.
#define TSR_API __attribute__((visibility("default")))
#define TSR_MUST_USE __attribute__((warn_unused_result))
#define TSR_NEVER_NULL __attribute__((returns_nonnull))
#define TSR_PRINTF(text, first) __attribute__((format(printf, text, first)))
// Arguments that must not be NULL: all pointers (TSR_NONNULL), or those at these positions, counted
// from 1. The marks are for callers. The library is compiled without them (TSR_BUILDING), or the
// compiler would remove its checks of arguments as dead code.
#ifdef TSR_BUILDING
#define TSR_NONNULL
#define TSR_NONNULL_AT(...)
#else
#define TSR_NONNULL __attribute__((nonnull))
#define TSR_NONNULL_AT(...) __attribute__((nonnull(__VA_ARGS__)))
#endif

// ---- structs ----
//
// A public struct is *fixed* or *sized*. Fixed structs are small values and elements of arrays, and
// never change. Sized structs begin with `size_t size` and may grow at their end. A macro of the
// same name initialises them:
//
//   tsr_reshard_options options = TSR_RESHARD_OPTIONS;
//   options.donate = true;
//
// Zero is the default of every field, and NULL options mean all defaults. The library accepts the
// shorter struct of older headers, and the longer one of newer headers if the fields it does not
// know are zero; otherwise it fails with bad_argument. The caller also initialises sized structs
// that the library fills; it fills the fields that the caller's headers have. In an array of them,
// the size of the first counts for all. Structs that the library owns and gives by `const` pointer
// may grow freely.
//
// (In C the macro is a compound literal; for objects with static storage write `{.size =
// sizeof(tsr_reshard_options)}`.)
#ifdef __cplusplus
extern "C++" {
template <class T>
inline T tsr_sized_value(void) {
  T value{};
  value.size = sizeof(T);
  return value;
}
}
#define TSR_SIZED(type) (tsr_sized_value<type>())
#else
#define TSR_SIZED(type) ((type){.size = sizeof(type)})
#endif

#define TSR_VERSION_MAJOR 0
#define TSR_VERSION_MINOR 1
#define TSR_VERSION_PATCH 0
#define TSR_VERSION "0.1.0"
// For #if and comparisons: 0.1.0 is 100, 1.2.3 is 10203.
#define TSR_VERSION_NUMBER (TSR_VERSION_MAJOR * 10000 + TSR_VERSION_MINOR * 100 + TSR_VERSION_PATCH)

TSR_BEGIN_DECLS
// The version of the library that was linked, which may be newer than the headers' TSR_VERSION.
TSR_API const char *tsr_version(void);
TSR_API int tsr_version_number(void);
TSR_END_DECLS

#endif
