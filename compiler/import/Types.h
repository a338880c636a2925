// The types that a model declares.
#pragma once
#include "compiler/Options.h"
#include "mlir/IR/BuiltinTypes.h"

#include "onnx.pb.h"

namespace onnxc {

// Symbolic sizes keep the model's names; one without a name gets a fresh one,
// so that it is known to equal itself.
class Types {
public:
  Types(mlir::MLIRContext *context, const Options &options)
      : context(context), dims(options.dims), shapes(options.shapes) {}

  // What --shape says of an input holds for its symbols everywhere.
  void bindSymbols(const ::onnx::GraphProto &graph);

  llvm::FailureOr<mlir::Type> inputType(const ::onnx::ValueInfoProto &input,
                                        mlir::Location loc);
  // That what the model declares of a value can be true. With --shape, what it
  // says of sizes is not meant.
  llvm::LogicalResult checkElement(const ::onnx::ValueInfoProto &declared,
                                   mlir::Type type, mlir::Location loc);
  llvm::LogicalResult checkDeclared(const ::onnx::ValueInfoProto &declared,
                                    mlir::Type type, mlir::Location loc);
  // Null where the model leaves it open.
  llvm::FailureOr<mlir::Type> elementType(int32_t number, mlir::Location loc);

private:
  llvm::FailureOr<mlir::Type>
  tensorType(const ::onnx::TypeProto::Tensor &tensor, llvm::StringRef name,
             mlir::Location loc);

  mlir::MLIRContext *context;
  std::map<std::string, int64_t> dims;
  const std::map<std::string, llvm::SmallVector<int64_t>> &shapes;
  unsigned unnamed = 0;
};

// Fails, with an error, where a tensor's size overflows what we compute with.
llvm::LogicalResult checkSize(llvm::ArrayRef<int64_t> sizes, mlir::Type element,
                              mlir::Location loc);

} // namespace onnxc
