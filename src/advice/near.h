// Patterns that nearly match a path.
#ifndef TESSERA_ADVICE_NEAR_H
#define TESSERA_ADVICE_NEAR_H

// How many letters of the pattern's plain parts would have to change for the path to hold them all;
// -1 if more than a slip of the pen. 0: they are all there, and what stands between or around them
// (an anchor, the order) keeps the pattern from matching.
int tsr_pattern_distance(const char *pattern, const char *path);

#endif
