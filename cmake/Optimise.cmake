# What CMake makes large with -O3 without making it faster; the shared library stays under 4.2 MB, an
# eightieth of jaxlib's libraries (352 MB), which the test install/library_size checks.
#
# Loops of kernels and elements keep -O3. Rooms that read, decide, check and describe get -O2: they are
# a quarter smaller and no slower. Their functions and loops are not aligned to 16 bytes, which would
# be a twentieth of their code. The loops for processors without AVX2 are made small: those processors
# wait for memory.
set(release $<CONFIG:Release>)
set(release_gcc $<AND:$<CONFIG:Release>,$<C_COMPILER_ID:GNU>>)
file(GLOB deciding_sources CONFIGURE_DEPENDS
  src/array/*.c src/bytecode/*.c src/exec/*.c src/factor/*.c src/file/*.c src/ir/*.c src/layout/*.c
  src/lower/*.c src/mesh/*.c src/plan/*.c src/propagate/*.c src/ranks/*.c src/regex/*.c
  src/rules/*.c src/sequence/*.c src/simplify/*.c src/spec/*.c src/syntax/*.c src/tiling/*.c
  src/topology/*.c src/transfer/*.c src/verify/*.c src/tile/tile_program.c src/tile/tile_dims.c
  src/tile/tile_finish.c src/kernel/lapack_calls.c src/kernel/fft_plan.c)
# Constants of megabytes pass through these.
list(FILTER deciding_sources EXCLUDE REGEX "(read|print|artifact)_dense[.]c$|syntax/lexer[.]c$")
# What runs once for a program or waits for files is made small.
file(GLOB once_sources CONFIGURE_DEPENDS
  src/advice/*.c src/builder/*.c src/collective/*.c src/combine/*.c src/format/*.c src/gspmd/*.c
  src/insight/*.c src/job/*.c src/lanes/*.c src/load/*.c src/localize/*.c src/map/*.c
  src/partitioned/*.c src/partitioner/*.c src/place/*.c src/preflight/*.c src/processes/*.c
  src/refine/*.c src/reshard/*.c src/resolve/*.c src/spmd/*.c src/store/*.c)
file(GLOB plain_loops CONFIGURE_DEPENDS
  src/tile/tile_kernels.c src/tile/tile_blocks.c src/*/gemm_kernels.c src/*/arg_reduce_plain.c
  src/*/fold_loops.c src/*/fft_lines.c src/comm/reduce_kernels.c)
# Many loops, each vectorised once and not unrolled: what is unrolled there is not faster. The loops of
# tiles are not among them: with -O2 sums of rows take four times as long, and softmax twice.
file(GLOB many_loops CONFIGURE_DEPENDS src/*/arg_reduce_avx2.c src/*/fold_loops_avx2.c)
# Hundreds of loops over long vectors. gcc follows each by one for half a vector and by the last
# elements one by one, unrolled: half of the code, for the few elements at the end. Vectors of 37, 100
# and 200000 elements take as long without it. kernel/random_bits.c would lose 23 kB this way, but
# threefry takes an eighth longer.
file(GLOB long_loops CONFIGURE_DEPENDS src/tile/tile_kernels_avx2.c src/element/convert_floats*.c
  src/comm/reduce_kernels_avx2.c)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_property(SOURCE ${plain_loops} APPEND PROPERTY COMPILE_OPTIONS $<${release}:-Os>)
endif()
# Loops call nothing that could throw, and tables to unwind them are a tenth of their size. All other
# files keep theirs (a tenth of the library): exceptions pass through callbacks, and profilers and
# debuggers find callers by them. Marking failures as cold was tried: it saves less than 20 kB.
file(GLOB all_loops CONFIGURE_DEPENDS src/tile/tile_kernels*.c src/tile/tile_blocks*.c
  src/tile/*_avx2.c src/kernel/*_kernels*.c src/kernel/fft_lines*.c src/*/fold_loops*.c
  src/*/arg_reduce*.c src/comm/reduce_kernels*.c src/element/convert_floats*.c)
set_property(SOURCE ${all_loops} APPEND PROPERTY COMPILE_OPTIONS
  $<${release}:-fno-asynchronous-unwind-tables>)
set_property(SOURCE ${once_sources} APPEND PROPERTY COMPILE_OPTIONS $<${release}:-Os>)
set_property(SOURCE ${deciding_sources} APPEND PROPERTY COMPILE_OPTIONS $<${release}:-O2>
  $<${release}:-fno-align-functions> $<${release_gcc}:-fno-align-jumps>
  $<${release_gcc}:-fno-align-loops>)
set_property(SOURCE ${many_loops} APPEND PROPERTY COMPILE_OPTIONS
  $<${release}:-O2> $<${release}:-ftree-vectorize>)
set_property(SOURCE ${long_loops} APPEND PROPERTY COMPILE_OPTIONS
  $<${release_gcc}:--param=vect-epilogues-nomask=0>
  $<${release_gcc}:--param=max-completely-peel-times=2>)

# ---- linking ----
#
# Calls from the library to its own functions go straight to them, and what no function of the interface
# leads to is left out.
include(CheckCSourceRuns)
include(CheckLinkerFlag)
set(small_link_options "")
foreach(flag --gc-sections -Bsymbolic-functions)
  string(MAKE_C_IDENTIFIER "tessera_linker_has${flag}" has_flag)
  check_linker_flag(C LINKER:${flag} ${has_flag})
  if(${has_flag})
    list(APPEND small_link_options LINKER:${flag})
  endif()
endforeach()
# Tables hold 9000 pointers. A relocation of each takes 24 bytes, or one bit where the system's loader
# knows packed ones (glibc 2.36): a program tells. For older systems, build on one.
if(NOT CMAKE_CROSSCOMPILING AND NOT TESSERA_SANITIZE)
  set(CMAKE_REQUIRED_FLAGS -fPIE)
  set(CMAKE_REQUIRED_LINK_OPTIONS -pie LINKER:-z,pack-relative-relocs)
  check_c_source_runs("
    static const char *const words[] = {\"zero\", \"one\", \"two\"};
    int main(int count, char **arguments) { return arguments[0] && words[count][0] != 'o'; }
  " tessera_loader_has_packed_relocations)
  unset(CMAKE_REQUIRED_FLAGS)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  if(tessera_loader_has_packed_relocations)
    list(APPEND small_link_options LINKER:-z,pack-relative-relocs)
  endif()
endif()
# clang takes minutes to check every step of the unrolled products; their plain form is checked.
if(TESSERA_SANITIZE MATCHES undefined)
  set_property(SOURCE src/kernel/gemm_kernels_avx2.c APPEND PROPERTY COMPILE_OPTIONS
    -fno-sanitize=undefined)
endif()
