// "did you mean": the known name nearest to a misspelt one.
//
//   tsr_suggestion near = tsr_suggestion_for(name);
//   for (each known) tsr_suggestion_offer(&near, known);
//   return tsr_fail(..., "axis \"%s\" is unknown" TSR_DID_YOU_MEAN, name, TSR_SUGGESTED(near));
#ifndef TESSERA_BASE_SUGGEST_H
#define TESSERA_BASE_SUGGEST_H

#include <stddef.h>

typedef struct tsr_suggestion {
  const char *word;
  const char *best;  // NULL = nothing is near enough
  size_t distance;   // of `best`; without one, the first that is too far
} tsr_suggestion;

tsr_suggestion tsr_suggestion_for(const char *word);
// Keeps `known` (borrowed) if it is nearer than all before.
void tsr_suggestion_offer(tsr_suggestion *suggestion, const char *known);

// The end of a message and its three arguments: "; did you mean "model"?", or nothing.
#define TSR_DID_YOU_MEAN "%s%s%s"
#define TSR_SUGGESTED(near) \
  (near).best ? "; did you mean \"" : "", (near).best ? (near).best : "", (near).best ? "\"?" : ""

#endif
