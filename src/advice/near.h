// Patterns that nearly match a path.
#ifndef TESSERA_ADVICE_NEAR_H
#define TESSERA_ADVICE_NEAR_H

// How many edits the literals of a pattern need for the path to contain them all; -1 = too many to
// be a misspelling. 0: the path has them all, and something else (an anchor, the order) keeps the
// pattern from matching.
int tsr_pattern_distance(const char *pattern, const char *path);

#endif
