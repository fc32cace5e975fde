// Runs a target without a fuzzer:
//   PROGRAM CORPUS          every seed (each must be accepted), then every file of the folder CORPUS
//   PROGRAM --prepare DIR   writes DIR/seeds/ and DIR/dictionary for libFuzzer

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/fuzz/fuzz_target.hpp"

namespace tailrace::fuzzing {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

// libFuzzer's form: a quoted string, other bytes than printable ASCII as \xNN.
std::string dictionary_line(const std::string& word) {
  std::string line = "\"";
  for (const char c : word) {
    const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
    char code[5];
    std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned char>(c));
    line += plain ? std::string(1, c) : std::string(code);
  }
  return line + "\"\n";
}

void prepare(const fs::path& folder) {
  fs::remove_all(folder / "seeds");
  fs::create_directories(folder / "seeds");
  const std::vector<std::string> all = seeds();
  for (std::size_t i = 0; i < all.size(); ++i) write_file(folder / "seeds" / std::to_string(i), all[i]);
  std::string lines = "# libFuzzer wants no empty file\n";
  for (const std::string& word : dictionary()) lines += dictionary_line(word);
  write_file(folder / "dictionary", lines);
}

int replay(const fs::path& corpus) {
  const std::vector<std::string> all = seeds();
  int refused = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (run_one(bytes_of(all[i]))) continue;
    std::fprintf(stderr, "seed %zu is refused; it must be accepted\n", i);
    ++refused;
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(corpus)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::size_t accepted = 0;
  for (const fs::path& file : files) {
    std::fprintf(stderr, "%s\n", file.c_str());  // before it runs: the last line names what crashes
    accepted += run_one(bytes_of(read_file(file))) ? 1 : 0;
  }
  std::printf("%zu seeds; %zu of %zu files of the corpus accepted, the others refused in order\n", all.size(),
              accepted, files.size());
  return refused == 0 ? 0 : 1;
}

int main_of(const std::vector<std::string>& arguments) {
  if (arguments.size() == 2 && arguments[0] == "--prepare") {
    prepare(arguments[1]);
    return 0;
  }
  if (arguments.size() == 1 && !arguments[0].starts_with('-')) return replay(arguments[0]);
  std::fprintf(stderr, "wanted: CORPUS, or --prepare DIR\n");
  return 2;
}

}  // namespace
}  // namespace tailrace::fuzzing

int main(int argc, char** argv) {
  try {
    return tailrace::fuzzing::main_of({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
