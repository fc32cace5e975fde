# Finds LibTorch and, where it was built with CUDA, the CUDA runtime that belongs to it. Looks in
#   TAILRACE_LIBTORCH (CMake or environment variable): an unpacked LibTorch, or the folder of a Python package `torch`
#   .venv/ of the source tree
# Nothing of the CUDA toolkit is needed: PyPI's packages carry the runtime and its headers beside torch (part of the
# headers in packages of their own, nvidia-cuda-crt and nvidia-cuda-cccl).
#
# Defines
#   LibTorch::LibTorch    headers and libraries of torch (with CUDA's, where there)
#   LibTorch::Cudart      CUDA runtime; only where LibTorch has CUDA
#   LibTorch::Nvtx        NVTX headers; only where found
#   LibTorch_WITH_CUDA
#   LibTorch_RUNTIME_DIRS, LibTorch_INSTALLED_DIRS   folders of its libraries, here and where programs are installed
include(FindPackageHandleStandardArgs)

set(TAILRACE_INSTALLED_LIBTORCH /opt/tailrace/libtorch CACHE PATH
    "Where installed programs look for LibTorch: a folder of Python packages, or an unpacked LibTorch")

set(TAILRACE_LIBTORCH "$ENV{TAILRACE_LIBTORCH}" CACHE PATH "LibTorch to use: an unpacked LibTorch or a Python package's torch folder")
file(GLOB _venv_torch ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)

find_path(LibTorch_ROOT_DIR NAMES include/torch/csrc/api/include/torch/torch.h
          PATHS ${TAILRACE_LIBTORCH} ${TAILRACE_LIBTORCH}/torch ${_venv_torch} NO_DEFAULT_PATH)
set(_torch_lib ${LibTorch_ROOT_DIR}/lib)
get_filename_component(_site ${LibTorch_ROOT_DIR} DIRECTORY)

set(_version_header ${LibTorch_ROOT_DIR}/include/torch/headeronly/version.h)
if(LibTorch_ROOT_DIR AND EXISTS ${_version_header})
  file(STRINGS ${_version_header} _lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9]+([0-9]+)[^0-9]+([0-9]+)[^0-9]+([0-9]+).*" "\\1.\\2.\\3" LibTorch_VERSION "${_lines}")
endif()

set(LibTorch_WITH_CUDA OFF)
if(EXISTS ${_torch_lib}/libtorch_cuda.so)
  set(LibTorch_WITH_CUDA ON)
  # The wheel's sibling folder first: it is the version that torch was built with.
  find_path(LibTorch_CUDA_INCLUDE_DIR NAMES crt/host_defines.h
            HINTS ${_site}/nvidia/cu13/include PATHS /usr/local/cuda/include)
  find_path(LibTorch_CCCL_INCLUDE_DIR NAMES nv/target
            HINTS ${_site}/nvidia/cu13/include ${LibTorch_CUDA_INCLUDE_DIR} ${LibTorch_CUDA_INCLUDE_DIR}/cccl)
  find_library(LibTorch_CUDART_LIBRARY NAMES libcudart.so.13 cudart
               HINTS ${_site}/nvidia/cu13/lib ${_torch_lib} PATHS /usr/local/cuda/lib64)
endif()

find_package_handle_standard_args(LibTorch REQUIRED_VARS LibTorch_ROOT_DIR VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE "run ./dev setup, or set TAILRACE_LIBTORCH to an unpacked LibTorch")
if(NOT LibTorch_FOUND OR TARGET LibTorch::LibTorch)
  return()
endif()
if(LibTorch_WITH_CUDA AND NOT (LibTorch_CUDA_INCLUDE_DIR AND LibTorch_CCCL_INCLUDE_DIR AND LibTorch_CUDART_LIBRARY))
  message(FATAL_ERROR "LibTorch in ${LibTorch_ROOT_DIR} was built with CUDA, but its runtime (crt/host_defines.h, "
                      "nv/target, libcudart) is not there: run ./dev setup, install CUDA 13 (in Python: "
                      "nvidia-cuda-crt, nvidia-cuda-cccl), or "
                      "use a CPU-only LibTorch")
endif()

function(_libtorch_import target location)
  add_library(LibTorch::${target} SHARED IMPORTED)
  set_target_properties(LibTorch::${target} PROPERTIES IMPORTED_LOCATION ${location} IMPORTED_NO_SONAME ON)
endfunction()

set(LibTorch_RUNTIME_DIRS ${_torch_lib})
add_library(LibTorch::LibTorch INTERFACE IMPORTED)
set_target_properties(LibTorch::LibTorch PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
  "${LibTorch_ROOT_DIR}/include;${LibTorch_ROOT_DIR}/include/torch/csrc/api/include")
_libtorch_import(torch ${_torch_lib}/libtorch.so)
_libtorch_import(torch_cpu ${_torch_lib}/libtorch_cpu.so)
_libtorch_import(c10 ${_torch_lib}/libc10.so)
# Torch's libraries export parts of an older libstdc++ (std::filesystem), which crash when a program's calls are bound
# to them. The first library that has a symbol wins, so the real one comes first.
# (Flags that belong together are one argument each: CMake drops a flag that it has seen before.)
target_link_libraries(LibTorch::LibTorch INTERFACE -Wl,--push-state,--no-as-needed,-lstdc++,--pop-state
  LibTorch::torch LibTorch::torch_cpu LibTorch::c10)
# Torch's messages, and ours about CUDA, name source files: without the folder that they were built in.
set(_macro_paths -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
target_compile_options(LibTorch::LibTorch INTERFACE ${_macro_paths})

if(LibTorch_WITH_CUDA)
  add_library(LibTorch::Cudart INTERFACE IMPORTED)
  set_target_properties(LibTorch::Cudart PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
    "${LibTorch_CUDA_INCLUDE_DIR};${LibTorch_CCCL_INCLUDE_DIR}")
  target_link_libraries(LibTorch::Cudart INTERFACE ${LibTorch_CUDART_LIBRARY})
  target_compile_options(LibTorch::Cudart INTERFACE ${_macro_paths})
  _libtorch_import(c10_cuda ${_torch_lib}/libc10_cuda.so)
  # Nothing refers to torch_cuda by name: it registers its kernels when it is loaded, so the linker must keep it.
  target_link_libraries(LibTorch::LibTorch INTERFACE LibTorch::c10_cuda LibTorch::Cudart
    -Wl,--push-state,--no-as-needed,${_torch_lib}/libtorch_cuda.so,--pop-state)
  file(GLOB _nvidia_dirs LIST_DIRECTORIES true ${_site}/nvidia/*/lib)
  list(APPEND LibTorch_RUNTIME_DIRS ${_nvidia_dirs})
  if(EXISTS ${LibTorch_CUDA_INCLUDE_DIR}/nvtx3/nvToolsExt.h)
    add_library(LibTorch::Nvtx INTERFACE IMPORTED)
    set_target_properties(LibTorch::Nvtx PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${LibTorch_CUDA_INCLUDE_DIR})
  endif()
endif()

set(LibTorch_INSTALLED_DIRS ${TAILRACE_INSTALLED_LIBTORCH}/torch/lib ${TAILRACE_INSTALLED_LIBTORCH}/lib)
foreach(_dir IN LISTS _nvidia_dirs)
  file(RELATIVE_PATH _dir ${_site} ${_dir})
  list(APPEND LibTorch_INSTALLED_DIRS ${TAILRACE_INSTALLED_LIBTORCH}/${_dir})
endforeach()
