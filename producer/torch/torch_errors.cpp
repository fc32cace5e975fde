#include "producer/torch/torch_errors.hpp"

#include <c10/util/Exception.h>

#include <new>

#include "producer/errors.hpp"

namespace tailrace {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// TorchScript turns every exception into std::runtime_error with its text, so the text has to tell the kinds.
bool is_out_of_memory(std::string_view message) {
  return contains(message, "CUDA out of memory") || contains(message, "CUBLAS_STATUS_ALLOC_FAILED") ||
         contains(message, "CUDNN_STATUS_ALLOC_FAILED") || contains(message, "DefaultCPUAllocator:");
}

bool is_cuda_failure(std::string_view message) {
  return contains(message, "CUDA error") || contains(message, "cuDNN error") ||
         contains(message, "CUBLAS_STATUS_") || contains(message, "CUDNN_STATUS_");
}

[[noreturn]] void throw_by_text(std::string_view doing, std::string_view message) {
  const std::string text = std::string(doing) + ": " + essence_of(message);
  if (is_out_of_memory(message)) throw OutOfDeviceMemory(text);
  if (is_cuda_failure(message)) throw CudaError(text);
  throw ModelError(text);
}

}  // namespace

std::string essence_of(std::string_view message) {
  constexpr std::string_view kInterpreter = "The following operation failed in the TorchScript interpreter.";
  if (message.starts_with(kInterpreter)) {
    // What follows is a stack with source lines; the error itself is the last "SomethingError: …".
    const std::size_t error = message.rfind("Error: ");
    if (error != std::string_view::npos) message.remove_prefix(message.rfind('\n', error) + 1);
  }
  message.remove_prefix(std::min(message.find_first_not_of(" \n"), message.size()));
  std::string_view line = message.substr(0, message.find('\n'));
  line = line.substr(0, line.find(" Exception raised from "));
  return std::string(line);
}

void rethrow_translated(std::string_view doing) {
  try {
    throw;
  } catch (const ModelError&) {
    throw;
  } catch (const CudaError&) {
    throw;
  } catch (const OutOfDeviceMemory&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const c10::OutOfMemoryError& error) {
    throw OutOfDeviceMemory(std::string(doing) + ": " + essence_of(error.what_without_backtrace()));
  } catch (const c10::AcceleratorError& error) {
    throw CudaError(std::string(doing) + ": " + essence_of(error.what_without_backtrace()));
  } catch (const c10::Error& error) {
    throw_by_text(doing, error.what_without_backtrace());
  } catch (const std::exception& error) {
    throw_by_text(doing, error.what());
  } catch (...) {
    throw ModelError(std::string(doing) + ": an exception of unknown type");
  }
}

}  // namespace tailrace
