#include "shm/ordered_work.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tailrace {
namespace {

class Crew {
 public:
  using Work = std::function<void(std::size_t, std::size_t)>;

  Crew(const OrderedWork& amount, const Work& work)
      : amount_(amount), work_(work), parts_left_(amount.thing_count, amount.part_count) {}
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  void start() {
    threads_.reserve(amount_.thread_count);
    while (threads_.size() < amount_.thread_count) threads_.emplace_back([this] { run(); });
  }

  void wait_for(std::size_t thing) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ || parts_left_[thing] == 0; });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void run() noexcept {
    for (;;) {
      const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed);  // only hands out numbers
      if (stop_ || index >= amount_.thing_count * amount_.part_count) return;
      const std::size_t thing = index / amount_.part_count;
      std::exception_ptr failure;
      try {
        work_(thing, index % amount_.part_count);
      } catch (...) {
        failure = std::current_exception();
        stop_ = true;
      }
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = failure;
      --parts_left_[thing];
      changed_.notify_one();
    }
  }

  OrderedWork amount_;
  const Work& work_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::size_t> parts_left_;  // of each thing
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace

void work_in_order(const OrderedWork& amount, const std::function<void(std::size_t, std::size_t)>& work,
                   const std::function<void(std::size_t)>& ready) {
  Crew crew(amount, work);
  crew.start();
  for (std::size_t thing = 0; thing < amount.thing_count; ++thing) {
    crew.wait_for(thing);
    ready(thing);
  }
}

}  // namespace tailrace
