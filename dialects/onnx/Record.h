// What the importer knows of an operator, and the one way to build any of them.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/Region.h"
#include "llvm/ADT/StringMap.h"

namespace onnxc {

struct Slot {
  enum Kind { One, Optional, Variadic };
  llvm::StringRef name;
  Kind kind;
  bool (*accepts)(mlir::Type element); // null where it need not be a tensor
};

struct AttributeSlot {
  llvm::StringRef name;
  bool isRequired;
  llvm::SmallVector<llvm::StringRef> words; // what it may say; none: anything
};

// A graph attribute, which the operation holds as a region.
struct RegionSlot {
  llvm::StringRef name;
  bool isOptional; // absent, it is a region without blocks
};

struct OpRecord {
  llvm::StringRef type, domain;
  llvm::SmallVector<int> since;
  llvm::SmallVector<Slot> operands;
  llvm::SmallVector<AttributeSlot> attributes;
  llvm::SmallVector<RegionSlot> regions; // in the operation's order
  llvm::SmallVector<llvm::SmallVector<llvm::StringRef>>
      alike; // operands of one element type
};

// All records, found by walking the operations of the dialect.
class Registry {
public:
  explicit Registry(mlir::MLIRContext *context);
  // The newest form that opset `opset` knows.
  std::optional<mlir::RegisteredOperationName>
  find(llvm::StringRef domain, llvm::StringRef type, int opset) const;

private:
  llvm::StringMap<llvm::SmallVector<mlir::RegisteredOperationName>> forms;
};

// What a node has beside operands and attributes.
struct NodeParts {
  // One for each of the record's regions.
  llvm::SmallVector<std::unique_ptr<mlir::Region>> regions = {};
  // How many outputs the model names. An operator with variadic results
  // declares the attribute `result_count`, which is filled from this.
  unsigned resultCount = 0;
};

// `inputs` as the model has them: null where one is absent, trailing ones left
// out. Result types are inferred.
llvm::FailureOr<mlir::Operation *>
createOp(mlir::OpBuilder &builder, mlir::Location loc,
         mlir::RegisteredOperationName name, mlir::ValueRange inputs,
         mlir::NamedAttrList attributes, NodeParts parts = {});

// That the operands which the record calls alike have one element type.
llvm::LogicalResult verifyAlike(mlir::Operation *op);

// The node's name in the model; empty if it has none.
llvm::StringRef nodeName(mlir::Location loc);

} // namespace onnxc
