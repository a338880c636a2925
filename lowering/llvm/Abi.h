// The structs of onnxc/model.h as LLVM types, and C functions of the support
// library that codegen links in (codegen/support/Call.c).
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace onnxc::abi {

// Indices of the fields that generated code touches.
enum TensorField {
  tensorData,
  tensorDims,
  tensorCapacity,
  tensorRank,
  tensorType
};
enum CallField {
  callSize,
  callFlags,
  callInputCount,
  callOutputCount,
  callInputs,
  callOutputs,
  callArena,
  callArenaBytes,
  callParallel,
  callAlloc,
  callUser,
  callWeights,
  callError
};
enum ParallelField { parallelWorkers, parallelRun };

mlir::LLVM::LLVMStructType tensorStruct(mlir::MLIRContext *context);
mlir::LLVM::LLVMStructType callStruct(mlir::MLIRContext *context);
mlir::LLVM::LLVMStructType parallelStruct(mlir::MLIRContext *context);

// Declares a function of the support library once and calls it.
mlir::Value callSupport(mlir::ImplicitLocOpBuilder &builder,
                        mlir::StringRef name, mlir::Type result,
                        mlir::ValueRange args);

// The memory at `pointer` as memref<?xi8>, without a bound.
mlir::Value bytesAt(mlir::ImplicitLocOpBuilder &builder, mlir::Value pointer,
                    mlir::IntegerType indexType);

// A dense memref there; `sizes` are those of the dynamic dimensions.
mlir::Value memrefAt(mlir::ImplicitLocOpBuilder &builder, mlir::MemRefType type,
                     mlir::Value pointer, mlir::ValueRange sizes,
                     mlir::IntegerType indexType);

} // namespace onnxc::abi
