# What a package or a subproject may leave behind in the scope of the project that uses it: variables
# named after itself, and those of the modules that CMake brings.

macro(remember_variables)
  get_property(remembered_names DIRECTORY PROPERTY VARIABLES)
  foreach(remembered_name IN LISTS remembered_names)
    set("remembered_${remembered_name}" "${${remembered_name}}")
  endforeach()
endmacro()

function(refuse_changed_variables what)
  get_property(names DIRECTORY PROPERTY VARIABLES)
  list(FILTER names EXCLUDE REGEX "^(tessera|TESSERA)(_|$)|^pkgcfg_lib_tessera_")
  # What CMake's own modules leave: FindPkgConfig, FindThreads, GNUInstallDirs, FetchContent, project().
  list(FILTER names EXCLUDE REGEX "^(PKG_?CONFIG|PkgConfig|pkg_count$|prefix_result$)")
  list(FILTER names EXCLUDE REGEX "^(Threads_|THREADS_|PTHREAD_|CMAKE_(THREAD|HAVE|USE|INSTALL|PROJECT_VERSION))")
  list(FILTER names EXCLUDE REGEX "^(FETCHCONTENT|FIND_PACKAGE_MESSAGE_|PACKAGE_PREFIX_DIR$)")
  # What every call changes.
  list(FILTER names EXCLUDE REGEX "^(_|remembered_|CMAKE_MATCH_|CMAKE_CURRENT_|ARG[CNV])|^(what|names)$")
  foreach(name IN LISTS names)
    if(NOT DEFINED "remembered_${name}")
      message(SEND_ERROR "${what} adds the variable ${name} = \"${${name}}\"")
    elseif(NOT "${${name}}" STREQUAL "${remembered_${name}}")
      message(SEND_ERROR
        "${what} changes the variable ${name} from \"${remembered_${name}}\" to \"${${name}}\"")
    endif()
  endforeach()
endfunction()
