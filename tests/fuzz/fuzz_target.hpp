#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tailrace::fuzzing {

// What each *_target.cpp defines. The same file becomes a libFuzzer program (libfuzzer_entry.cpp) and a plain
// one that runs seeds and corpus (replay_main.cpp).

/// Gives the input to the code under test and aborts, by `require`, where what comes out breaks a promise.
/// True: the input was accepted; false: refused in order. Any bytes, any number of calls, one thread.
bool run_one(std::span<const std::byte> input);

/// Inputs that must be accepted, made by the project's own writers, so that they follow changes of a layout.
std::vector<std::string> seeds();

/// Words that inputs of this target are made of; may be empty.
std::vector<std::string> dictionary();

}  // namespace tailrace::fuzzing
