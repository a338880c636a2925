// What the patterns of the operator families share. Each family has a file of
// its own (Lower*.cpp) that offers its patterns through one function below.
#pragma once
#include "dialects/onnx/OnnxDialect.h"
#include "dialects/onnx/Status.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/Transforms/DialectConversion.h"

namespace onnxc {

void addScalarPatterns(mlir::TypeConverter &types,
                       mlir::RewritePatternSet &patterns);
void addReductionPatterns(mlir::TypeConverter &types,
                          mlir::RewritePatternSet &patterns);
void addGeneratorPatterns(mlir::TypeConverter &types,
                          mlir::RewritePatternSet &patterns);
// Also says that subgraphs may stay, if their types are those in memory.
void addSubgraphPatterns(mlir::TypeConverter &types,
                         mlir::RewritePatternSet &patterns,
                         mlir::ConversionTarget &target);

void addMovementPatterns(mlir::TypeConverter &types,
                         mlir::RewritePatternSet &patterns);
void addContractionPatterns(mlir::TypeConverter &types,
                            mlir::RewritePatternSet &patterns);
void addWindowPatterns(mlir::TypeConverter &types,
                       mlir::RewritePatternSet &patterns);
void addIrregularPatterns(mlir::TypeConverter &types,
                          mlir::RewritePatternSet &patterns);

using mlir::utils::IteratorType;
llvm::SmallVector<IteratorType> parallel(int64_t rank);

// The scalars that a loop body yields, from those of its inputs and, if it
// folds, its outputs.
using Body = llvm::function_ref<llvm::SmallVector<Scalar>(
    ScalarBuilder &, llvm::ArrayRef<Scalar>)>;

// linalg.generic on onnx element types: `from` and `to` have signedness, the
// values are what the tensor stage holds.
llvm::SmallVector<mlir::Value>
generic(mlir::ImplicitLocOpBuilder &builder, mlir::ValueRange inputs,
        llvm::ArrayRef<mlir::Type> from, mlir::ValueRange outputs,
        llvm::ArrayRef<mlir::Type> to, llvm::ArrayRef<mlir::AffineMap> maps,
        llvm::ArrayRef<IteratorType> iterators, Body body);

// tensor.empty of an onnx element type.
mlir::Value emptyOf(mlir::ImplicitLocOpBuilder &builder,
                    llvm::ArrayRef<mlir::OpFoldResult> sizes,
                    mlir::Type element);
llvm::SmallVector<mlir::OpFoldResult>
sizesOf(mlir::ImplicitLocOpBuilder &builder, mlir::Value tensor);
mlir::Value indexValue(mlir::ImplicitLocOpBuilder &builder,
                       mlir::OpFoldResult size);

// Gives the value the type that was inferred, where sizes were proved apart.
mlir::Value castTo(mlir::ImplicitLocOpBuilder &builder, mlir::Value value,
                   mlir::Type type);

// Ends the call unless `condition` holds; `what` tells the operand's fault.
void check(mlir::ImplicitLocOpBuilder &builder, mlir::Value condition,
           Status status, mlir::Operation *op, llvm::StringRef what,
           llvm::StringRef operand);

} // namespace onnxc
