# What this build does not have because something is not installed. Configuring ends with one line that
# lists it, which tools/build shows.

# tessera_leave_out(thing needs): without `needs` there will be no `thing`.
function(tessera_leave_out thing needs)
  set_property(GLOBAL APPEND PROPERTY tessera_left_out "${thing} (needs ${needs})")
endfunction()

function(tessera_print_left_out)
  get_property(things GLOBAL PROPERTY tessera_left_out)
  if(things)
    list(JOIN things ", " line)
    message(STATUS "Left out: ${line}")
  endif()
endfunction()
