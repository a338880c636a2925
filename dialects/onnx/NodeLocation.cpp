#include "dialects/onnx/NodeLocation.h"

using namespace mlir;

namespace onnxc {

Location nodeLocation(MLIRContext *context, StringRef name, StringRef type,
                      DictionaryAttr metadata) {
  Location below = UnknownLoc::get(context);
  if (metadata && !metadata.empty())
    below = FusedLoc::get({below}, metadata, context);
  Location ofType = NameLoc::get(StringAttr::get(context, type), below);
  return NameLoc::get(StringAttr::get(context, name), ofType);
}

NodeName nodeOf(Location loc) {
  if (auto named = dyn_cast<NameLoc>(loc)) {
    if (auto type = dyn_cast<NameLoc>(named.getChildLoc()))
      return {named.getName(), type.getName()};
    return {};
  }
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return nodeOf(call.getCallee());
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (NodeName found = nodeOf(part); !found.name.empty())
        return found;
  return {};
}

std::string describeNode(Location loc) {
  NodeName node = nodeOf(loc);
  if (node.name.empty())
    return "";
  return ("node '" + node.name + "' (" + node.type + ")").str();
}

} // namespace onnxc
