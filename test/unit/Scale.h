// Calls the model of models/scale.c.

#ifndef ONNXC_TEST_UNIT_SCALE_H
#define ONNXC_TEST_UNIT_SCALE_H

#include "onnxc/runtime.h"

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

struct Scale {
  explicit Scale(int64_t rows, int64_t pick = 0) : xDims{rows, 3}, k(pick) {
    x.resize(rows * 3);
    std::iota(x.begin(), x.end(), 0.0f);
    y.resize(x.size());
  }

  int32_t run(onnxc_loaded *model, const onnxc_parallel *parallel = nullptr) {
    onnxc_tensor inputs[] = {
        {x.data(), xDims, 0, 2, ONNXC_FLOAT},
        {&k, nullptr, 0, 0, ONNXC_INT64},
    };
    onnxc_tensor outputs[] = {
        {y.data(), yDims, y.size() * sizeof(float), 2, ONNXC_FLOAT},
        {row, rowDims, sizeof row, 1, ONNXC_FLOAT},
        {nullptr, keptDims, 0, 1, ONNXC_FLOAT},
    };
    int32_t status = onnxc_run(model, inputs, outputs, parallel, &message);
    if (auto *data = static_cast<float *>(outputs[2].data))
      kept.assign(data, data + keptDims[0]);
    onnxc_free(outputs[2].data);
    return status;
  }

  int64_t xDims[2];
  int64_t yDims[2] = {-1, -1};
  int64_t rowDims[1] = {-1};
  int64_t keptDims[1] = {-1};
  int64_t k;
  float row[3] = {};
  std::vector<float> x, y, kept;
  onnxc_message message = {};
};

inline std::string unitModel(const char *name) {
  return std::string(UNIT_MODELS) + name;
}

#endif // ONNXC_TEST_UNIT_SCALE_H
