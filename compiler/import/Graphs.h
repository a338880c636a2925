// The importer's state. One Scope for each graph that is being read, one Frame
// for each function call.
#pragma once
#include "compiler/import/Model.h"
#include "compiler/import/Types.h"
#include "dialects/onnx/Record.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/StringSet.h"

namespace onnxc {

// The values a node can name. Subgraphs see those around them, functions do
// not.
struct Scope {
  const Scope *around = nullptr;
  llvm::StringMap<mlir::Value> values = {};
  llvm::StringMap<llvm::SmallVector<mlir::Value>> sequences = {};
  llvm::StringSet<> absent = {};  // optional inputs that a call leaves out
  llvm::StringSet<> unknown = {}; // what a node makes that `check` complains of
  llvm::StringMap<const ::onnx::TensorShapeProto *> declared = {};

  mlir::Value find(llvm::StringRef name) const {
    for (const Scope *scope = this; scope; scope = scope->around)
      if (mlir::Value value = scope->values.lookup(name))
        return value;
    return {};
  }
  // Null where the name is none of a sequence whose tensors are known.
  const llvm::SmallVector<mlir::Value> *
  findSequence(llvm::StringRef name) const;
  bool isAbsent(llvm::StringRef name) const {
    for (const Scope *scope = this; scope; scope = scope->around)
      if (name.empty() || scope->absent.contains(name))
        return true;
    return false;
  }
};

// Whether nothing but its name is known of a value.
inline bool isUnknown(const Scope &scope, llvm::StringRef name) {
  for (const Scope *at = &scope; at; at = at->around) {
    if (at->unknown.contains(name))
      return true;
    if (at->values.count(name))
      return false;
  }
  return false;
}

using Opsets = llvm::StringMap<int64_t>; // by domain
using AttributesByName = llvm::StringMap<const ::onnx::AttributeProto *>;

// "" and "ai.onnx" are one.
Opsets opsetsOf(
    const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto> &ids);

// Whether it makes a sequence of tensors or reads one; see Sequences.cpp.
bool isOfSequences(const ::onnx::NodeProto &node);

struct Frame {
  Opsets opsets;
  // Of a call: what its attribute references mean, and where it stands.
  AttributesByName attributes = {};
  const ::onnx::FunctionProto *function = nullptr;
  std::optional<mlir::Location> caller = {};
  unsigned depth = 0;
};

class GraphImporter {
public:
  GraphImporter(mlir::MLIRContext *context, Model &model,
                const Options &options);
  llvm::LogicalResult importMain(mlir::ModuleOp module);
  llvm::LogicalResult checkModel(); // Check.cpp

private:
  using Result = llvm::LogicalResult;

  // Importer.cpp
  Result checkOpsets(const Opsets &opsets, mlir::Location loc) const;
  Result importInputs(mlir::Block &entry, Scope &scope);
  static void learnDeclared(const ::onnx::GraphProto &graph, Scope &scope);
  void keepRanks(const ::onnx::NodeProto &node, const Scope &scope,
                 mlir::Operation *op);
  Result importInitializers(const ::onnx::GraphProto &graph, Scope &scope);
  Result finishMain(Scope &scope, mlir::Operation *function);
  Result importNodes(
      const google::protobuf::RepeatedPtrField<::onnx::NodeProto> &nodes,
      Scope &scope, const Frame &frame);
  Result importNode(const ::onnx::NodeProto &node, Scope &scope,
                    const Frame &frame);
  Result importOperator(const ::onnx::NodeProto &node, Scope &scope,
                        const Frame &frame, mlir::Location loc);
  Result define(Scope &scope, llvm::StringRef name, mlir::Value value,
                mlir::Location loc);
  llvm::FailureOr<llvm::SmallVector<mlir::Value>>
  readInputs(const ::onnx::NodeProto &node, const Scope &scope,
             mlir::Location loc, bool takesSequences = false);
  llvm::FailureOr<mlir::RegisteredOperationName>
  findForm(const ::onnx::NodeProto &node, const Frame &frame,
           mlir::Location loc);
  llvm::FailureOr<mlir::NamedAttrList>
  readAttributes(const ::onnx::NodeProto &node,
                 mlir::RegisteredOperationName form, const Frame &frame,
                 mlir::Location loc);
  mlir::Value createConstant(mlir::ElementsAttr value, mlir::Location loc);
  mlir::Location locate(const ::onnx::NodeProto &node, const Frame &frame);

  // Sequences.cpp
  Result defineSequence(Scope &scope, llvm::StringRef name,
                        llvm::ArrayRef<mlir::Value> tensors,
                        mlir::Location loc);
  Result importOfSequences(const ::onnx::NodeProto &node, Scope &scope,
                           const Frame &frame, mlir::Location loc);

  // Check.cpp
  Result checkGraph(const ::onnx::GraphProto &graph, const Frame &frame);
  Result
  checkNodes(const google::protobuf::RepeatedPtrField<::onnx::NodeProto> &nodes,
             const Frame &frame);

  // After an error: without `check` it is the end; with it, what would have
  // been defined is not known, unless the model says of which type it is.
  Result leaveOut(llvm::StringRef name, Scope &scope);
  Result leaveOut(const ::onnx::NodeProto &node, Scope &scope,
                  const Frame &frame);
  bool readsUnknown(const ::onnx::NodeProto &node, const Scope &scope) const;
  mlir::Value declaredValue(llvm::StringRef name);

  // Attributes.cpp
  llvm::FailureOr<mlir::Attribute>
  convertAttribute(const ::onnx::AttributeProto &attribute,
                   llvm::StringRef name, mlir::Location loc);
  // The value of a Constant, which has a kind of attribute for each type:
  // `name` says which, for `attribute` may be what a reference means.
  llvm::FailureOr<mlir::Attribute>
  convertConstant(llvm::StringRef name, const ::onnx::AttributeProto &attribute,
                  llvm::StringRef label, mlir::Location loc);
  // What a reference inside a function means; null where the call leaves the
  // attribute out.
  const ::onnx::AttributeProto *resolve(const ::onnx::AttributeProto &attribute,
                                        const Frame &frame) const;

  // Functions.cpp
  const ::onnx::FunctionProto *
  findFunction(const ::onnx::NodeProto &node) const;
  Result inlineFunction(const ::onnx::FunctionProto &function,
                        const ::onnx::NodeProto &node, Scope &scope,
                        const Frame &frame, mlir::Location loc);
  Frame enter(const ::onnx::FunctionProto &function,
              const ::onnx::NodeProto &node, const Frame &frame,
              mlir::Location loc) const;

  // Subgraphs.cpp
  Result importSubgraphs(const ::onnx::NodeProto &node,
                         mlir::RegisteredOperationName form,
                         mlir::ValueRange inputs,
                         const mlir::NamedAttrList &attributes,
                         const Scope &scope, const Frame &frame,
                         mlir::Location loc, NodeParts &parts);
  llvm::FailureOr<std::unique_ptr<mlir::Region>>
  importBody(const ::onnx::GraphProto &graph, mlir::TypeRange arguments,
             const Scope &scope, const Frame &frame, mlir::Location loc);
  llvm::FailureOr<std::unique_ptr<mlir::Region>>
  importBranch(const ::onnx::GraphProto &graph, const Scope &scope,
               const Frame &frame, mlir::Location loc,
               std::optional<mlir::Diagnostic> &problem);
  Result replaceWrongBranches(
      llvm::MutableArrayRef<std::optional<mlir::Diagnostic>> problems,
      mlir::Location loc, NodeParts &parts);

  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  Registry registry;
  Model &model;
  Types types;
  const Options &options;
  llvm::StringMap<const ::onnx::FunctionProto *> functions;
  llvm::DenseSet<const ::onnx::FunctionProto *> active;     // being inlined
  llvm::StringMap<const ::onnx::ValueInfoProto *> declared; // in `check`
  mlir::Block *entry = nullptr;                             // of the model
  llvm::SmallVector<mlir::Value> leftOver; // what nodes read that are left out
  uint64_t nodeCount = 0;
  unsigned nesting = 0;
};

} // namespace onnxc
