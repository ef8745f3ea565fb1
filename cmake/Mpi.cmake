# The MPI engine: src/comm/mpi compiled once for each MPI that is here, into a library of its own, so
# that the base library needs none. FindMPI knows one MPI at a time; pkg-config knows them apart.
#
#   tessera_mpi_openmpi   libtessera_mpi_openmpi.so    module ompi-c, started by mpirun.openmpi
#   tessera_mpi_mpich     libtessera_mpi_mpich.so      module mpich, started by mpirun.mpich
option(TESSERA_MPI "Build the MPI engine for each MPI that is found" ON)
set(tessera_mpi_flavours "")
set(mpi_module_openmpi ompi-c)
set(mpi_module_mpich mpich)
file(GLOB mpi_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/comm/mpi/*.c)
list(APPEND mpi_sources ${PROJECT_SOURCE_DIR}/src/base/sized.c)  # libtessera does not export it

# tessera_find_mpi(flavour library): an imported target mpi::<flavour> and, for the tests, the
# launcher MPIRUN_<FLAVOUR>. What the module's own private libraries are is not asked for: the shared
# libmpi brings them.
function(tessera_find_mpi flavour library)
  set(module ${mpi_module_${flavour}})
  set(found tessera_${flavour})
  pkg_check_modules(${found} QUIET ${module})
  if(tessera_testing)
    string(TOUPPER ${flavour} upper)
    find_program(MPIRUN_${upper} NAMES mpirun.${flavour} mpiexec.${flavour})
  endif()
  find_library(${found}_LIBRARY NAMES ${library} HINTS ${${found}_LIBRARY_DIRS} ${${found}_LIBDIR})
  if(NOT ${found}_FOUND OR NOT ${found}_LIBRARY)
    tessera_leave_out("the engine over ${flavour}" "the pkg-config module ${module}")
    return()
  endif()
  add_library(mpi::${flavour} SHARED IMPORTED GLOBAL)
  set_target_properties(mpi::${flavour} PROPERTIES IMPORTED_LOCATION ${${found}_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES "${${found}_INCLUDE_DIRS}")
endfunction()

function(tessera_add_mpi flavour)
  set(library tessera_mpi_${flavour})
  # Compiled once: tests and benchmarks that look inside have the engine in their own program.
  add_library(${library}_objects OBJECT ${mpi_sources})
  target_include_directories(${library}_objects PRIVATE ${PROJECT_SOURCE_DIR}/include
                             ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${library}_objects PRIVATE TSR_BUILDING TSR_MPI_FLAVOUR="${flavour}")
  target_link_libraries(${library}_objects PRIVATE mpi::${flavour})
  add_library(${library} SHARED $<TARGET_OBJECTS:${library}_objects>)
  target_link_libraries(${library} PUBLIC tessera_shared mpi::${flavour})
  if(NOT TESSERA_SANITIZE)
    target_link_options(${library} PRIVATE LINKER:--no-undefined LINKER:--as-needed)
  endif()
  set_target_properties(${library} PROPERTIES EXPORT_NAME mpi_${flavour}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    INSTALL_RPATH $ORIGIN)
  add_library(tessera::mpi_${flavour} ALIAS ${library})
endfunction()

if(TESSERA_MPI AND NOT TESSERA_FUZZ)
  tessera_find_mpi(openmpi mpi)
  tessera_find_mpi(mpich mpich)
  foreach(flavour openmpi mpich)
    if(TARGET mpi::${flavour})
      list(APPEND tessera_mpi_flavours ${flavour})
      tessera_add_mpi(${flavour})
    endif()
  endforeach()
endif()
