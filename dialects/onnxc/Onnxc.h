// The compiler's own dialect: operations and attributes that are neither ONNX's
// nor upstream's.
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/onnxc/OnnxcDialect.h.inc"
#include "dialects/onnxc/Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/onnxc/Attributes.h.inc"

#define GET_OP_CLASSES
#include "dialects/onnxc/Onnxc.h.inc"

namespace onnxc {

// Names of module attributes.
inline constexpr llvm::StringLiteral targetAttrName = "onnxc.target";
inline constexpr llvm::StringLiteral stageAttrName = "onnxc.stage";
// Name of the argument and result attribute that holds the model's own name.
inline constexpr llvm::StringLiteral nameAttrName = "onnxc.name";
// On an onnx operation whose rank nobody knows: what the model declares.
inline constexpr llvm::StringLiteral rankAttrName = "onnxc.rank";
// Names of the symbolic dims of an argument or result, "" for static ones.
inline constexpr llvm::StringLiteral dimsAttrName = "onnxc.dims";
// Its element type in the model, where that is not the one in memory: ui8 or i1
// in an i8. The tensor stage writes both as it erases them from the types.
inline constexpr llvm::StringLiteral elementAttrName = "onnxc.element";
// On an argument of @model that is written: the output's index.
inline constexpr llvm::StringLiteral outputAttrName = "onnxc.output";
// Module attributes of stage memory: the constants with their offsets, and the
// names of the symbols, which are the arguments of the functions below.
inline constexpr llvm::StringLiteral weightsAttrName = "onnxc.weights";
inline constexpr llvm::StringLiteral symbolsAttrName = "onnxc.symbols";
// How many bytes those constants take; 0 before there is a list.
int64_t weightsBytes(mlir::Operation *module);
// Module attribute: the size of the arena where it is a constant.
inline constexpr llvm::StringLiteral arenaBytesAttrName = "onnxc.arena_bytes";
// Module attribute: what each further worker takes; the size of the arena holds
// what one alone does.
inline constexpr llvm::StringLiteral workerBytesAttrName = "onnxc.worker_bytes";
// On a function that does the share of a task: its last three arguments are the
// worker, the task and how many tasks there are.
inline constexpr llvm::StringLiteral tasksAttrName = "onnxc.tasks";
// Functions of the symbols: the size of the arena; that of a worker's own part
// of it, where it is no constant; the sizes of the dynamic dimensions of the
// output arguments, in their order.
inline constexpr llvm::StringLiteral arenaBytesName = "model_arena_bytes";
inline constexpr llvm::StringLiteral workerBytesName = "model_worker_bytes";
inline constexpr llvm::StringLiteral outputDimsName = "model_output_dims";

} // namespace onnxc
