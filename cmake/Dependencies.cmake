# What the library links. This is the only place that names it: the pkg-config file and the CMake
# package are made from these lists. (tools/setup knows the Debian packages that bring it.)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

set(tessera_dependencies Threads::Threads m ${CMAKE_DL_LIBS})
set(tessera_definitions "")
# What pkg-config --static adds. The modules are written out as flags and not named in
# Requires.private: that would make even `pkg-config --cflags` look for each of them.
set(pc_libs_private "-pthread -lm -ldl")
set(package_finds "")                  # the lines of tesseraConfig.cmake that find them again

# tessera_depend(NAME module [REQUIRED] [FLAT]) links the pkg-config module and defines
# TSR_WITH_<NAME>. FLAT: pkg-config --static leaves out the module's own private libraries. The
# variables and the target are tessera_<NAME>, so that a parent project may look for the same module.
function(tessera_depend name module)
  cmake_parse_arguments(PARSE_ARGV 2 is "REQUIRED;FLAT" "" "")
  set(required "")
  if(is_REQUIRED)
    set(required REQUIRED)
  endif()
  set(found tessera_${name})
  pkg_check_modules(${found} ${required} IMPORTED_TARGET GLOBAL ${module})
  if(NOT ${found}_FOUND)
    tessera_leave_out("${module}'s view of this machine" ${module})
    return()
  endif()
  list(APPEND tessera_dependencies PkgConfig::${found})
  list(APPEND tessera_definitions TSR_WITH_${name}=1)
  set(flags ${${found}_STATIC_LDFLAGS})
  if(is_FLAT)
    set(flags ${${found}_LDFLAGS})
  endif()
  foreach(folder ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})  # the linker looks there anyway
    list(REMOVE_ITEM flags -L${folder})
  endforeach()
  list(JOIN flags " " flags)
  string(PREPEND pc_libs_private "${flags} ")
  string(APPEND package_finds
    "  pkg_check_modules(${found} QUIET IMPORTED_TARGET ${module})\n"
    "  if(NOT ${found}_FOUND)\n    set(tessera_static_FOUND FALSE)\n  endif()\n")
  foreach(list tessera_dependencies tessera_definitions pc_libs_private package_finds)
    set(${list} "${${list}}" PARENT_SCOPE)
  endforeach()
endfunction()

# Table hashes; used from its header alone, so there is nothing to link.
find_path(TESSERA_XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
tessera_depend(LIBGCRYPT libgcrypt REQUIRED)  # message digests
tessera_depend(PCRE2 libpcre2-8 REQUIRED)     # regular expressions
tessera_depend(ZLIB zlib REQUIRED)            # arrays that are packed in archives
# The machine itself as a topology. FLAT, since it names libudev, which has no static form.
tessera_depend(HWLOC hwloc FLAT)
