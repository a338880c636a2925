#include "compiler/Outputs.h"
#include "compiler/Output.h"
#include "compiler/Pipeline.h"
#include "dialects/onnxc/ModuleOptions.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

#include <fmt/format.h>

using namespace mlir;

namespace onnxc {

// Of a text that remembers a weights file, beside the object.
static std::string rememberedWeights(ModuleOp module, StringRef object) {
  auto name = module->getAttrOfType<StringAttr>(outsideAttrName);
  if (!name || llvm::sys::path::filename(name.getValue()) != name.getValue())
    return "";
  llvm::SmallString<128> path(llvm::sys::path::parent_path(object));
  llvm::sys::path::append(path, name.getValue());
  return std::string(path);
}

Outputs::~Outputs() {
  for (const std::string &path : guarded)
    llvm::sys::DontRemoveFileOnSignal(path);
}

void Outputs::learn(ModuleOp module, std::vector<std::string> files) {
  sources = std::move(files);
  if (module && outside.empty())
    outside = rememberedWeights(module, options.output);
}

bool Outputs::isRead(const std::string &path) const {
  auto is = [&](const std::string &file) {
    return llvm::sys::fs::equivalent(path, file);
  };
  return is(options.input) || llvm::any_of(sources, is);
}

LogicalResult Outputs::check(Diagnostics &diagnostics) const {
  std::vector<std::string> paths = all();
  for (size_t stage = 0; stage < pipeline().size(); ++stage)
    if (std::string path = dump(stage); !path.empty())
      paths.push_back(path);
  llvm::StringSet<> places;
  for (const std::string &path : paths) {
    if (isRead(path))
      return diagnostics.error("'" + path + "' would replace the input",
                               Exit::Usage);
    if (!isWrittenInPlace(path) && !places.insert(placeOf(path)).second)
      return diagnostics.error("'" + path + "' would be written twice",
                               Exit::Usage);
  }
  return success();
}

void Outputs::guard() {
  for (const std::string &path : all())
    if (path != "-" && !isRead(path) && !llvm::is_contained(guarded, path)) {
      llvm::sys::RemoveFileOnSignal(path);
      guarded.push_back(path);
    }
}

void Outputs::removeEarlier() const {
  for (const std::string &path : all())
    if (!isRead(path))
      removeFile(path);
}

bool Outputs::hasHeader() const {
  return options.form != Form::Llvm && options.form != Form::Bitcode &&
         !isWrittenInPlace(options.output);
}

std::string Outputs::besides(StringRef extension) const {
  llvm::SmallString<128> path(options.output);
  llvm::sys::path::replace_extension(path, extension);
  return std::string(path);
}

std::vector<std::string> Outputs::all() const {
  if (options.checkOnly)
    return {};
  std::vector<std::string> paths{options.output};
  if (!options.report.empty())
    paths.push_back(options.report);
  if (!emitsObject() && options.output != "-")
    paths.push_back(options.output + ".weights");
  else if (hasHeader())
    paths.push_back(header());
  if (emitsObject() && (isText() || keepsWeightsOutside()))
    paths.push_back(weights());
  if (options.writeDependencies)
    paths.push_back(dependencies());
  return paths;
}

std::string Outputs::dump(size_t stage) const {
  StringRef name = pipeline()[stage].name;
  if (options.dumpFolder.empty() ||
      !(options.dumps.empty() || llvm::is_contained(options.dumps, name)))
    return "";
  return fmt::format("{}/{}-{}.mlir", options.dumpFolder, stage, name.str());
}

// Make wants spaces in names escaped.
static std::string escaped(StringRef path) {
  std::string text;
  for (char c : path)
    text += (c == ' ' || c == '#' ? "\\"
             : c == '$'           ? "$"
                                  : "") +
            std::string(1, c);
  return text;
}

std::string Outputs::dependencyRule() const {
  std::string rule = escaped(options.output) + ":";
  StringRef separator = " ";
  for (const std::string &source : sources) {
    rule += separator.str() + escaped(source);
    separator = " \\\n  ";
  }
  return rule + "\n";
}

} // namespace onnxc
