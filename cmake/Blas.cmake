# The module of BLAS and LAPACK: src/kernel/blas with OpenBLAS, in a library that is loaded when a
# program first needs it. Without it products run on kernels of our own, and programs that need
# LAPACK's larger factorisations are refused.
option(TESSERA_BLAS "Build the module of BLAS and LAPACK if OpenBLAS is found" ON)
if(TESSERA_BLAS AND NOT TESSERA_FUZZ)
  pkg_check_modules(tessera_openblas QUIET IMPORTED_TARGET openblas)
  if(tessera_openblas_FOUND)
    add_library(tessera_blas SHARED src/kernel/blas/blas_module.c)
    target_include_directories(tessera_blas PRIVATE include src)
    target_compile_definitions(tessera_blas PRIVATE TSR_BUILDING)
    target_link_libraries(tessera_blas PRIVATE PkgConfig::tessera_openblas)
    if(NOT TESSERA_SANITIZE)
      target_link_options(tessera_blas PRIVATE LINKER:--no-undefined LINKER:--as-needed)
    endif()
    set_target_properties(tessera_blas PROPERTIES VERSION ${PROJECT_VERSION}
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  else()
    tessera_leave_out("LAPACK in programs" "the pkg-config module openblas")
  endif()
endif()
