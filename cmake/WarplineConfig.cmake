# find_package(Warpline): the programs, and targets that are built with hooks whatever compiler the project uses.
#
#   find_package(Warpline REQUIRED)
#   warpline_instrument(app)              # CUDA sources of `app` are compiled by warpline-cc, and it links Warpline's runtime
#   warpline_profile(app ARGS 1024)       # the target `profile-app` runs it, keeps app.wlprof and prints the report
#
# Where the project's CUDA compiler is warpline-nvcc or warpline-clang++, all targets are instrumented already, and
# warpline_instrument() changes nothing.
get_filename_component(_warpline_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_program(Warpline_EXECUTABLE warpline HINTS "${_warpline_prefix}/bin" NO_DEFAULT_PATH)
find_program(Warpline_EXECUTABLE warpline)
find_program(Warpline_COMPILER warpline-cc HINTS "${_warpline_prefix}/bin" NO_DEFAULT_PATH)
find_program(Warpline_COMPILER warpline-cc)
mark_as_advanced(Warpline_EXECUTABLE Warpline_COMPILER)
if(NOT Warpline_EXECUTABLE OR NOT Warpline_COMPILER)
  set(Warpline_FOUND FALSE)
  set(Warpline_NOT_FOUND_MESSAGE "warpline and warpline-cc are neither in ${_warpline_prefix}/bin nor on PATH")
  return()
endif()

# Sets `variable` to the folder that looks like a CUDA toolkit and contains Warpline's runtime under CUDA's names.
function(_warpline_toolkit variable)
  get_property(folder GLOBAL PROPERTY WARPLINE_TOOLKIT)
  if(NOT folder)
    execute_process(COMMAND "${Warpline_COMPILER}" --warpline-toolkit OUTPUT_VARIABLE folder ERROR_VARIABLE message
                    RESULT_VARIABLE code OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(code)
      message(FATAL_ERROR "warpline-cc --warpline-toolkit failed (${code}): ${message}")
    endif()
    set_property(GLOBAL PROPERTY WARPLINE_TOOLKIT "${folder}")
  endif()
  set(${variable} "${folder}" PARENT_SCOPE)
endfunction()

function(warpline_instrument)
  get_filename_component(name "${CMAKE_CUDA_COMPILER}" NAME)
  if(name MATCHES "^warpline-")
    return()
  endif()
  _warpline_toolkit(toolkit)
  if(CMAKE_CUDA_COMPILER STREQUAL "${toolkit}/bin/nvcc")
    return()
  endif()
  foreach(target IN LISTS ARGN)
    get_target_property(separable ${target} CUDA_SEPARABLE_COMPILATION)
    if(separable)
      message(FATAL_ERROR "warpline_instrument(${target}): separable compilation needs Warpline as the project's CUDA compiler. "
                          "Configure with -DCMAKE_CUDA_COMPILER=warpline-nvcc or --toolchain ${toolkit}/warpline.cmake.")
    endif()
    set_target_properties(${target} PROPERTIES CUDA_COMPILER_LAUNCHER "${Warpline_COMPILER};--warpline-launcher"
                                               CUDA_RUNTIME_LIBRARY None)
    target_link_libraries(${target} PRIVATE "${toolkit}/lib64/libcudart_static.a")
    # C and C++ sources of the target include CUDA's headers, too; CMake adds their folder for CUDA sources only.
    target_include_directories(${target} SYSTEM PRIVATE "$<$<COMPILE_LANGUAGE:C,CXX>:${toolkit}/include>")
  endforeach()
endfunction()

function(warpline_profile target)
  cmake_parse_arguments(PARSE_ARGV 1 profile "" "" "ARGS;OPTIONS")
  add_custom_target(profile-${target}
    COMMAND "${Warpline_EXECUTABLE}" run ${profile_OPTIONS} -o "${CMAKE_CURRENT_BINARY_DIR}/${target}.wlprof" -- $<TARGET_FILE:${target}> ${profile_ARGS}
    COMMAND "${Warpline_EXECUTABLE}" report "${CMAKE_CURRENT_BINARY_DIR}/${target}.wlprof"
    DEPENDS ${target} VERBATIM USES_TERMINAL)
endfunction()

set(Warpline_FOUND TRUE)
