// Exits with 0 where there is a ring of the name that is given, otherwise with 1.
#include <shm/ring.hpp>
#include <shm/ring_files.hpp>

int main(int, char** argv) {
  const tailrace::RingFiles files(argv[1], "/dev/shm");
  return tailrace::attach_ring(files, tailrace::RingAccess::kObserver).ring ? 0 : 1;
}
