add_custom_target(fuzzers COMMENT "Every fuzzer, and what replays its corpus")
add_library(fuzz_replay_main OBJECT ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cpp)
target_link_libraries(fuzz_replay_main PUBLIC tailrace_options)
add_library(fuzz_libfuzzer_entry OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/fuzz/libfuzzer_entry.cpp)
target_link_libraries(fuzz_libfuzzer_entry PUBLIC tailrace_options)

# tailrace_fuzzer(NAME SOURCES… LIBRARIES…): what tests/fuzz/fuzz_target.hpp asks for, as
#   fuzz_replay_NAME   runs seeds and corpus; a unit test of every build
#   fuzz_NAME          the fuzzer; only with TAILRACE_SANITIZE=fuzzer (preset fuzz, Clang), with a short run as a test
function(tailrace_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  add_library(fuzz_target_${name} OBJECT ${arg_SOURCES})
  target_link_libraries(fuzz_target_${name} PUBLIC tailrace_options ${arg_LIBRARIES})

  add_executable(fuzz_replay_${name})
  target_link_libraries(fuzz_replay_${name} PRIVATE fuzz_replay_main fuzz_target_${name})
  add_test(NAME fuzz_replay.${name} COMMAND fuzz_replay_${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
  # Files are made and unmade for each input: in memory.
  set_tests_properties(fuzz_replay.${name} PROPERTIES LABELS unit TIMEOUT 60 ENVIRONMENT TMPDIR=/dev/shm)
  add_dependencies(fuzzers fuzz_replay_${name})
  if(NOT TAILRACE_SANITIZE STREQUAL "fuzzer")
    return()
  endif()

  add_executable(fuzz_${name})
  target_link_libraries(fuzz_${name} PRIVATE fuzz_libfuzzer_entry fuzz_target_${name})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  add_test(NAME fuzz.${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/fuzz/run ${CMAKE_BINARY_DIR} ${name} 7 -seed=1)
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 120)
  add_dependencies(fuzzers fuzz_${name})
endfunction()
