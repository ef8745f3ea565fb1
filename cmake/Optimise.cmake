# What CMake makes large with -O3 without making it faster; the aim is a shared library under 4 MB.
#
# Loops of kernels, elements and readers keep -O3. Rooms that decide, check and describe get -O2: they
# are a quarter smaller and no slower. The loops for processors without AVX2 are made small: whoever
# has such a processor waits for memory.
file(GLOB deciding_sources CONFIGURE_DEPENDS
  src/advice/*.c src/builder/*.c src/exec/*.c src/lower/*.c src/map/*.c src/mesh/*.c
  src/partitioner/*.c src/place/*.c src/plan/*.c src/refine/*.c src/rules/*.c src/sequence/*.c
  src/simplify/*.c src/spec/*.c src/tiling/*.c src/topology/*.c)
file(GLOB plain_loops CONFIGURE_DEPENDS
  src/tile/tile_kernels.c src/*/gemm_kernels.c src/*/arg_reduce_plain.c src/*/fold_loops.c
  src/*/fft_lines.c src/comm/reduce_kernels.c)
# Many loops, each vectorised once and not unrolled: what is unrolled there is not faster. The loops of
# tiles are not among them: with -O2 sums of rows take four times as long, and softmax twice.
file(GLOB many_loops CONFIGURE_DEPENDS src/*/arg_reduce_avx2.c src/*/fold_loops_avx2.c)
set(release $<CONFIG:Release>)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_property(SOURCE ${plain_loops} APPEND PROPERTY COMPILE_OPTIONS $<${release}:-Os>)
endif()
# Loops call nothing that could throw, and tables to unwind them are a tenth of their size.
file(GLOB all_loops CONFIGURE_DEPENDS src/tile/tile_kernels*.c src/tile/*_avx2.c src/kernel/*_kernels*.c
  src/kernel/fft_lines*.c src/*/fold_loops*.c src/*/arg_reduce*.c src/comm/reduce_kernels*.c
  src/element/convert_floats*.c)
set_property(SOURCE ${all_loops} APPEND PROPERTY COMPILE_OPTIONS
  $<${release}:-fno-asynchronous-unwind-tables>)
set_property(SOURCE ${deciding_sources} APPEND PROPERTY COMPILE_OPTIONS $<${release}:-O2>)
set_property(SOURCE ${many_loops} APPEND PROPERTY COMPILE_OPTIONS
  $<${release}:-O2> $<${release}:-ftree-vectorize>)
