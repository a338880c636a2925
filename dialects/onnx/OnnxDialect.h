// The dialect: what generated code needs, then the generated classes.
#pragma once
#include "dialects/onnx/Graph.h"
#include "dialects/onnx/Record.h"
#include "dialects/onnx/Scalar.h"
#include "dialects/onnx/Shape.h"
#include "dialects/onnx/Sizes.h"
#include "dialects/onnx/Window.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/onnx/OnnxDialect.h.inc"
#include "dialects/onnx/OnnxInterfaces.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/onnx/OnnxTypes.h.inc"
