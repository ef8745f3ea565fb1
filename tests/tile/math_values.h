// How far a computed float is from the true one.
#ifndef TESSERA_TESTS_TILE_MATH_VALUES_H
#define TESSERA_TESTS_TILE_MATH_VALUES_H

// The distance of `got` from `want` in units of the last place of an f32 near `want`: 0 for equal
// infinities and for two NaNs, infinite where only one is finite or signs of zeros differ.
double test_units32(float got, double want);
double test_units64(double got, long double want);

#endif
