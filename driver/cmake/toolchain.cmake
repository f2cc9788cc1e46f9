# CMake toolchain file: makes Warpline's look-alike toolkit the CUDA toolkit of a project and its nvcc the CUDA compiler, unless
# the command line names other ones. At the end of the configuration it names the libraries that the project links and that
# Warpline does not provide. It lies in the toolkit's folder.
if(NOT CUDAToolkit_ROOT)
  set(CUDAToolkit_ROOT "${CMAKE_CURRENT_LIST_DIR}" CACHE PATH "CUDA toolkit")
endif()
if(NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER "${CMAKE_CURRENT_LIST_DIR}/bin/nvcc" CACHE FILEPATH "CUDA compiler")
endif()

# Inspects a folder's targets and those of the folders in it; further arguments are the imported targets of the folders around it.
function(warpline_report_missing_libraries folder)
  get_property(imported DIRECTORY "${folder}" PROPERTY IMPORTED_TARGETS)
  list(APPEND imported ${ARGN})
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
      get_target_property(libraries ${target} ${property})
      foreach(library IN LISTS libraries)
        string(REGEX MATCH "CUDA::[A-Za-z0-9_]+" name "${library}")
        if(name AND NOT TARGET "${name}" AND NOT name IN_LIST imported)
          message(WARNING "Target \"${target}\" links ${name}, a library of the CUDA toolkit that Warpline does not "
                          "provide. Programs that need it cannot be built for the CPU device; see Warpline's docs/limits.md.")
        endif()
      endforeach()
    endforeach()
  endforeach()
  get_property(folders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(inner IN LISTS folders)
    warpline_report_missing_libraries("${inner}" ${imported})
  endforeach()
endfunction()

get_property(warpline_is_check GLOBAL PROPERTY IN_TRY_COMPILE)
get_property(warpline_is_read GLOBAL PROPERTY WARPLINE_TOOLCHAIN_IS_READ)
if(NOT warpline_is_check AND NOT warpline_is_read AND NOT CMAKE_VERSION VERSION_LESS 3.21)
  set_property(GLOBAL PROPERTY WARPLINE_TOOLCHAIN_IS_READ TRUE)
  cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL warpline_report_missing_libraries "${CMAKE_SOURCE_DIR}")
endif()
