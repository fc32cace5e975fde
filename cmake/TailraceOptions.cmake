# The compile options that every target of the project has: link tailrace_options.
add_library(tailrace_options INTERFACE)
target_include_directories(tailrace_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(tailrace_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                       $<$<BOOL:${TAILRACE_WARNINGS_AS_ERRORS}>:-Werror>)
# GCC 12 sees overlapping copies in `"text" + std::string` where there are none (GCC bug 105651); clang-tidy reads the
# same flags and does not know this one.
target_compile_options(tailrace_options INTERFACE "$<$<CXX_COMPILER_ID:GNU>:-Wno-unknown-warning-option;-Wno-restrict>")
# GCC 13 sees a copy out of bounds in fmt's big numbers, where it inlines them, and warns of it by the one name or the
# other; GCC 12 goes on looking for real ones.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  target_compile_options(tailrace_options INTERFACE -Wno-array-bounds -Wno-stringop-overflow)
endif()
if(TAILRACE_SANITIZE STREQUAL "address")
  set(tailrace_sanitize_flags -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(TAILRACE_SANITIZE STREQUAL "thread")
  set(tailrace_sanitize_flags -g -fsanitize=thread)
elseif(TAILRACE_SANITIZE STREQUAL "fuzzer")
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "TAILRACE_SANITIZE=fuzzer needs Clang; the compiler is ${CMAKE_CXX_COMPILER}")
  endif()
  # What takes longer to build than this is hardly any faster once it is instrumented.
  set(tailrace_sanitize_flags -O1 -gline-tables-only -fsanitize=fuzzer-no-link,address,undefined
                              -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(TAILRACE_SANITIZE)
  message(FATAL_ERROR "TAILRACE_SANITIZE is '${TAILRACE_SANITIZE}'; it may be empty, address, thread or fuzzer")
endif()
if(TAILRACE_SANITIZE)
  target_compile_options(tailrace_options INTERFACE ${tailrace_sanitize_flags})
  target_link_options(tailrace_options INTERFACE ${tailrace_sanitize_flags})
endif()

# tailrace_library(NAME SOURCES… [PUBLIC LIBRARIES…] [PRIVATE LIBRARIES…]): a static library with the project's options.
function(tailrace_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;PUBLIC;PRIVATE")
  add_library(${name} STATIC ${arg_SOURCES})
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_link_libraries(${name} PUBLIC $<BUILD_INTERFACE:tailrace_options> ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
endfunction()

# tailrace_program(NAME SOURCES… LIBRARIES…): an installed executable.
function(tailrace_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE tailrace_options ${arg_LIBRARIES})
  target_compile_definitions(${name} PRIVATE TAILRACE_VERSION="${PROJECT_VERSION}")
  install(TARGETS ${name} RUNTIME)
endfunction()
