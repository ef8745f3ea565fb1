// The marks every public declaration carries: what is exported, and what the compiler should check.
#ifndef TESSERA_API_H
#define TESSERA_API_H

#ifdef __cplusplus
#define TSR_BEGIN_DECLS extern "C" {
#define TSR_END_DECLS }
#else
#define TSR_BEGIN_DECLS
#define TSR_END_DECLS
#endif

// The library is built with hidden visibility: only what is marked TSR_API can be linked against.
#define TSR_API __attribute__((visibility("default")))
#define TSR_MUST_USE __attribute__((warn_unused_result))
#define TSR_NEVER_NULL __attribute__((returns_nonnull))
#define TSR_PRINTF(text, first) __attribute__((format(printf, text, first)))

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
