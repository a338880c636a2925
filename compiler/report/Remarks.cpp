#include "compiler/report/Remarks.h"
#include "dialects/onnx/NodeLocation.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace onnxc {
namespace {

struct Listener : remark::detail::MLIRRemarkStreamerBase {
  explicit Listener(std::vector<MissedRemark> &list) : list(list) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    NodeName node = nodeOf(remark.getLocation());
    MissedRemark missed{remark.getCategoryName().str(), node.name.str(),
                        node.type.str(), "", ""};
    for (const auto &argument : remark.getArgs())
      (argument.key == "with" ? missed.with : missed.reason) += argument.val;
    if (!llvm::is_contained(list, missed))
      list.push_back(std::move(missed));
  }

  std::vector<MissedRemark> &list;
};

} // namespace

void listenToRemarks(MLIRContext &context, std::vector<MissedRemark> &list) {
  remark::RemarkCategories all;
  all.missed = ".*";
  (void)remark::enableOptimizationRemarks(
      context, std::make_unique<Listener>(list),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), all);
}

} // namespace onnxc
