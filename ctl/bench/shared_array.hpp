#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <system_error>
#include <type_traits>

namespace tailrace {

/// Zeroed memory that this process shares with those that it forks. It never moves; to be read when their
/// writer has ended.
template <typename T>
class SharedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// Throws std::system_error. Precondition: at least one element.
  explicit SharedArray(std::size_t size)
      : bytes_(size * sizeof(T)),
        data_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (data_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap of shared memory");
  }
  SharedArray(const SharedArray&) = delete;
  SharedArray& operator=(const SharedArray&) = delete;
  ~SharedArray() { munmap(data_, bytes_); }

  [[nodiscard]] std::span<T> values() const { return {static_cast<T*>(data_), bytes_ / sizeof(T)}; }

 private:
  std::size_t bytes_;
  void* data_;
};

}  // namespace tailrace
