// All attributes of the dialect: TableGen writes one parser for them.
include "dialects/onnxc/Schedule.td"
include "dialects/onnxc/Target.td"
include "dialects/onnxc/Weight.td"
