#include "codegen/Target.h"

namespace onnxc {

#define TARGET(name) extern const TargetBackend target##name;
#include "codegen/Targets.def"
#undef TARGET

const TargetBackend *findTarget(const llvm::Triple &triple) {
  static const TargetBackend *const targets[] = {
#define TARGET(name) &target##name,
#include "codegen/Targets.def"
#undef TARGET
  };
  for (const TargetBackend *target : targets)
    if (target->accepts(triple))
      return target;
  return nullptr;
}

} // namespace onnxc
