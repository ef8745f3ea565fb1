# C++, which the library does without: tessera.hpp, its example and its tests are left out where there
# is no compiler for it. Lists the compilers that users may have, for tests that try them all.
include(CheckLanguage)
if(NOT CMAKE_CXX_COMPILER)
  unset(CMAKE_CXX_COMPILER CACHE)  # there may be one by now
endif()
check_language(CXX)
if(CMAKE_CXX_COMPILER)
  enable_language(CXX)
  set(CMAKE_CXX_EXTENSIONS OFF)
else()
  tessera_leave_out("examples and tests in C++" "a C++ compiler")
endif()

# Called by their own names, because clang++ and clang are one file; each file once.
set(tessera_cxx_compilers "")
set(files "")
foreach(name ${CMAKE_CXX_COMPILER} g++ clang++)
  unset(path)
  find_program(path ${name} NO_CACHE)
  if(path)
    file(REAL_PATH ${path} file)
    if(NOT file IN_LIST files)
      list(APPEND files ${file})
      list(APPEND tessera_cxx_compilers ${path})
    endif()
  endif()
endforeach()
