/* Calls a compiled model again and again: the shortest of `runs` calls in
 * seconds, or minus the status of a failed one. */
#include "onnxc/runtime.h"

#include <alloca.h>

double benchmark_now(void);

double benchmark_shortest(onnxc_loaded *model, void *arena, uint64_t bytes,
                          const onnxc_tensor *inputs, onnxc_tensor *outputs,
                          const onnxc_parallel *parallel,
                          onnxc_message *message, int runs) {
  double shortest = 1e9;
  for (int i = 0; i < runs; i++) {
    double start = benchmark_now();
    int32_t status =
        onnxc_run_in(model, arena, bytes, inputs, outputs, parallel, message);
    double took = benchmark_now() - start;
    if (status)
      return -status;
    shortest = took < shortest ? took : shortest;
  }
  return shortest;
}

/* The same with the stack pointer `shift` bytes lower: spilled vectors cross
 * cache lines at some of 0, 16, 32 and 48. */
double benchmark_shifted(onnxc_loaded *model, void *arena, uint64_t bytes,
                         const onnxc_tensor *inputs, onnxc_tensor *outputs,
                         const onnxc_parallel *parallel, onnxc_message *message,
                         int runs, int shift) {
  volatile char *below = alloca(shift + 16);
  below[0] = 0;
  double seconds = benchmark_shortest(model, arena, bytes, inputs, outputs,
                                      parallel, message, runs);
  below[shift] = 1; /* so this is no tail call */
  return seconds;
}
