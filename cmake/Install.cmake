# What `make install` puts where: both libraries, headers, presets, pkg-config file, CMake package,
# the command, its manual pages and completions. Only with TESSERA_INSTALL, which is off where
# another project includes this one.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)

# Two export sets, since only the static library makes consumers find our dependencies.
install(TARGETS tessera_shared EXPORT tesseraTargets
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS tessera_static EXPORT tesseraStaticTargets
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT tesseraTargets NAMESPACE tessera:: DESTINATION ${package_dir})
install(EXPORT tesseraStaticTargets NAMESPACE tessera:: DESTINATION ${package_dir})
install(DIRECTORY include/tessera DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.def")
install(FILES ${preset_files} DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera/presets)

configure_package_config_file(cmake/tesseraConfig.cmake.in cmake/tesseraConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(cmake/tesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/tesseraConfig.cmake
              ${PROJECT_BINARY_DIR}/cmake/tesseraConfigVersion.cmake
        DESTINATION ${package_dir})

# The prefix is found from where the file lies, so that `cmake --install --prefix` may choose it.
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
configure_file(cmake/tessera.pc.in cmake/tessera.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/tessera.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The engines over MPI, each with an export set of its own: find_package(tessera COMPONENTS
# mpi_openmpi) asks for one.
foreach(flavour ${tessera_mpi_flavours})
  set(mpi_module_of_flavour ${mpi_module_${flavour}})
  install(TARGETS tessera_mpi_${flavour} EXPORT tessera_mpi_${flavour}
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT tessera_mpi_${flavour} NAMESPACE tessera:: DESTINATION ${package_dir}
          FILE tesseraMpi_${flavour}.cmake)
  configure_file(cmake/tessera-mpi.pc.in cmake/tessera-mpi_${flavour}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/cmake/tessera-mpi_${flavour}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

if(TARGET tessera_blas)
  install(TARGETS tessera_blas LIBRARY NAMELINK_SKIP)
endif()

if(TARGET tessera)
  install(TARGETS tessera)
endif()

# Manual pages, where scdoc is there to make them: mostly printed by the command itself.
find_program(TESSERA_SCDOC scdoc)
if(TESSERA_SCDOC AND TARGET tessera AND NOT CMAKE_CROSSCOMPILING)
  file(GLOB man_sources CONFIGURE_DEPENDS docs/man/*.scd)
  set(man_folder ${PROJECT_BINARY_DIR}/man)
  add_custom_command(OUTPUT ${man_folder}/man1/tessera.1.gz VERBATIM
    DEPENDS tessera tools/man_pages ${man_sources}
    COMMAND ${PROJECT_SOURCE_DIR}/tools/man_pages $<TARGET_FILE:tessera> ${TESSERA_SCDOC} ${man_folder})
  add_custom_target(tessera_man ALL DEPENDS ${man_folder}/man1/tessera.1.gz)
  install(DIRECTORY ${man_folder}/ DESTINATION ${CMAKE_INSTALL_MANDIR})
elseif(NOT TESSERA_SCDOC)
  tessera_leave_out("the manual pages" scdoc)
endif()

# Completions, printed by the command from its own option tables.
if(TARGET tessera AND EXISTS ${PROJECT_SOURCE_DIR}/src/command/completion.c
   AND NOT CMAKE_CROSSCOMPILING)
  set(completion_file_bash bash-completion/completions/tessera)
  set(completion_file_zsh zsh/site-functions/_tessera)
  set(completion_file_fish fish/vendor_completions.d/tessera.fish)
  foreach(shell bash zsh fish)
    set(made ${PROJECT_BINARY_DIR}/completions/${completion_file_${shell}})
    cmake_path(GET made PARENT_PATH folder)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${made} DEPENDS tessera VERBATIM
      COMMAND tessera completion ${shell} > ${made})
    list(APPEND completions ${made})
    cmake_path(GET completion_file_${shell} PARENT_PATH folder)
    install(FILES ${made} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder})
  endforeach()
  add_custom_target(tessera_completions ALL DEPENDS ${completions})
endif()
