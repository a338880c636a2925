// The only place that knows how the bytes of constants lie: one element after
// another in row-major order, bool and everything narrower than a byte in one
// byte each. A splat is one element and stays one.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace onnxc {

// The value of a constant, of ours or of arith.
mlir::ElementsAttr constantOf(mlir::Value value);

// All elements of an integer or bool constant; null for other values.
std::optional<llvm::SmallVector<int64_t>> intsOf(mlir::ElementsAttr value);
std::optional<llvm::SmallVector<int64_t>> constantInts(mlir::Value value);

// All elements of a float constant of 16 bits or more; null for other values.
std::optional<llvm::SmallVector<double>> floatsOf(mlir::ElementsAttr value);
std::optional<llvm::SmallVector<double>> constantFloats(mlir::Value value);

// Whether all elements of an f32 constant are whole numbers: a quantized
// network's, whose sums are exact as they are.
bool areWhole(mlir::ElementsAttr value);

// How many bytes an element has; 0 for what is no number.
int64_t elementBytes(mlir::Type element);

// The elements, one only for a splat. A view where they lie so in memory,
// otherwise they are put into `storage`.
llvm::ArrayRef<char> bytesOf(mlir::ElementsAttr value,
                             llvm::SmallVectorImpl<char> &storage);

// A constant of these bytes, all elements or a splat's one. Copies them; more
// than 1 KiB becomes a resource.
mlir::ElementsAttr constantFrom(mlir::RankedTensorType type,
                                llvm::ArrayRef<char> bytes);

// The same, but a resource refers to `bytes`, which must live as long as the
// attribute. It is shown as `name`.
mlir::ElementsAttr constantViewOf(mlir::RankedTensorType type,
                                  llvm::ArrayRef<char> bytes,
                                  llvm::StringRef name);

// The same bytes under another type of as many elements as wide.
mlir::ElementsAttr retype(mlir::ElementsAttr value,
                          mlir::RankedTensorType type);

} // namespace onnxc
