#include "consumer/consumer_main.hpp"
#include "consumer/sinks/make_sink.hpp"

int main(int argc, char** argv) {
  using namespace tailrace;
  return consumer_main(
      argc, argv,
      {.name = "tailrace-consumer",
       .version = TAILRACE_VERSION,
       .description =
           "Leases batches from a pipeline's ring, post-processes or stores them, and hands the slots back",
       .argument = {},
       .make_sink = [](const ConsumerOptions& options) {
         return make_sink(options.group.sink, model_input_size(options.config.source));
       }});
}
