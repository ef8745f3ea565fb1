# What the library links. This is the only place that names it: the pkg-config file and the CMake
# package are made from these lists. (tools/setup knows the Debian packages that bring it.)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

set(tessera_dependencies Threads::Threads m ${CMAKE_DL_LIBS})
set(tessera_definitions "")
set(pc_requires_private "")            # modules that pkg-config --static should follow
set(pc_libs_private "-pthread -lm -ldl")   # and what else the static library needs
set(package_finds "")                  # the lines of tesseraConfig.cmake that find them again

# tessera_depend(NAME module [REQUIRED] [FLAT]) links the pkg-config module and defines
# TSR_WITH_<NAME>. FLAT: pkg-config --static shall not follow the module's own private libraries.
function(tessera_depend name module)
  cmake_parse_arguments(PARSE_ARGV 2 is "REQUIRED;FLAT" "" "")
  set(required "")
  if(is_REQUIRED)
    set(required REQUIRED)
  endif()
  pkg_check_modules(${name} ${required} IMPORTED_TARGET GLOBAL ${module})
  if(NOT ${name}_FOUND)
    tessera_leave_out("${module}'s view of this machine" ${module})
    return()
  endif()
  list(APPEND tessera_dependencies PkgConfig::${name})
  list(APPEND tessera_definitions TSR_WITH_${name}=1)
  if(is_FLAT)
    list(JOIN ${name}_LDFLAGS " " flags)
    string(APPEND pc_libs_private " ${flags}")
  else()
    string(APPEND pc_requires_private "${module} ")
  endif()
  string(APPEND package_finds
    "  pkg_check_modules(${name} QUIET IMPORTED_TARGET ${module})\n"
    "  if(NOT ${name}_FOUND)\n    set(tessera_static_FOUND FALSE)\n  endif()\n")
  foreach(list tessera_dependencies tessera_definitions pc_requires_private pc_libs_private
               package_finds)
    set(${list} "${${list}}" PARENT_SCOPE)
  endforeach()
endfunction()

# Table hashes; used from its header alone, so there is nothing to link.
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
tessera_depend(LIBGCRYPT libgcrypt REQUIRED)  # message digests
tessera_depend(PCRE2 libpcre2-8 REQUIRED)     # regular expressions
tessera_depend(ZLIB zlib REQUIRED)            # arrays that are packed in archives
# The machine itself as a topology. FLAT, since it names libudev, which has no static form.
tessera_depend(HWLOC hwloc FLAT)
