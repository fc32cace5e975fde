#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "consumer/sinks/make_sink.hpp"

namespace tailrace::testing {

namespace fs = std::filesystem;

/// A folder of its own that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "tailrace-test-XXXXXX").native();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return (path_ / name).native(); }

 private:
  fs::path path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) ADD_FAILURE() << "cannot open " << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Names of everything below `folder`, relative and sorted; folders are left out.
inline std::vector<std::string> files_below(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (!entry.is_directory()) names.push_back(entry.path().lexically_relative(folder).native());
  std::sort(names.begin(), names.end());
  return names;
}

inline std::vector<std::int64_t> row_major_strides(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<std::int64_t>(sizes[i], 1);
  }
  return strides;
}

/// A view of `values`, row-major unless strides are given. The values must outlive it.
template <typename T>
TensorView tensor_of(std::string name, Dtype dtype, std::vector<std::int64_t> sizes,
                     const std::vector<T>& values, std::vector<std::int64_t> strides = {}) {
  if (strides.empty()) strides = row_major_strides(sizes);
  return {
      std::move(name), {dtype, std::move(sizes), std::move(strides)}, true, std::as_bytes(std::span(values))};
}

inline Row row_named(std::uint64_t item, std::string output_name) {
  Row row;
  row.item = item;
  row.name = output_name + ".jpg";
  row.output_name = std::move(output_name);
  return row;
}

inline BatchView batch_of(std::vector<Row> rows, std::vector<TensorView> tensors, std::uint64_t number = 12) {
  return {BatchNumber{number}, std::move(rows), std::move(tensors)};
}

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// What `call` throws, as text; empty = nothing.
template <typename Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace tailrace::testing
