// What a call ends with where its values do not fit: codes of onnxc/model.h.
#pragma once

namespace onnxc {

enum class Status { Shape = 1, Index = 2, Value = 9 };

} // namespace onnxc
