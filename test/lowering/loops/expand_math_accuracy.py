"""Measures the functions of expand-math against NumPy, in units in the last place.

Each function is compiled by the pass and LLVM, as scalar and as vector code, into
a library that has no undefined symbol, and runs over random and special values.
Prints "PASS: name: error" or "FAIL: name: error" and where.
Usage: expand_math_accuracy.py BIN_FOLDER [function ...]
"""

import ctypes
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

BIN = pathlib.Path(sys.argv[1])
LENGTHS = {"f32": 8, "f64": 4}
TYPES = {"f32": np.float32, "f64": np.float64}


def erf(x):
    return np.array([math.erf(v) for v in x.astype(np.float64)])


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


# What is more than one operation, of %a.
SOFTPLUS = ["%size = math.absf %a", "%negated = arith.negf %size", "%power = math.exp %negated",
            "%log = math.log1p %power", "%positive = arith.maximumf %a, %e", "%s = arith.addf %positive, %log"]
NEGATED = ["%s = arith.negf %a"]
# Where the pass makes zeros of powers.
LEAST = -86.98997
OR_ZERO = ["%power = math.exp %a", "%less = arith.cmpf olt, %a, %e", "%nothing = arith.constant ZERO",
           "%s = arith.select %less, %nothing, %power : MASK"]
COMPOSED = {"exp_of_negative": NEGATED, "exp_or_zero": OR_ZERO, "softplus": SOFTPLUS, "tanh_of_softplus": SOFTPLUS,
            "tanh_of_log": ["%power = math.exp %a", "%sum = arith.addf %power, %e", "%s = math.log %sum"]}
# name: operation, reference, allowed error, ranges to draw from
FUNCTIONS = {
    "exp": ("math.exp", np.exp, 4, [(-104, 89), (-1, 1), (-750, 710)]),
    "exp_of_negative": ("math.exp", lambda x: np.exp(-x), 4, [(-89, 104), (-1, 1), (-710, 750)]),
    "exp_or_zero": ("math.absf", lambda x: np.where(x < LEAST, 0, np.exp(x)), 4,
                    [(-104, 89), (-1, 1), (88, 89), (-87, -86.9)]),
    "exp2": ("math.exp2", np.exp2, 4, [(-151, 129), (-1, 1)]),
    "expm1": ("math.expm1", np.expm1, 4, [(-20, 89), (-1, 1), (-1e-3, 1e-3)]),
    "log": ("math.log", np.log, 4, [(0, 10), (0.5, 2), (0, 1e30)]),
    "log2": ("math.log2", np.log2, 4, [(0, 10), (0.5, 2), (0, 1e30)]),
    "log10": ("math.log10", np.log10, 4, [(0, 10), (0.5, 2), (0, 1e30)]),
    "log1p": ("math.log1p", np.log1p, 4, [(-1, 1), (0, 100), (-1e-4, 1e-4), (0, 1e20)]),
    "tanh": ("math.tanh", np.tanh, 5, [(-10, 10), (-0.1, 0.1), (-25, 25)]),
    "erf": ("math.erf", erf, 5, [(-4, 4), (-0.1, 0.1), (0.9, 1.1), (-7, 7)]),
    "sin": ("math.sin", np.sin, 4, [(-10, 10), (-1e4, 1e4), (-1e-3, 1e-3), (-1e8, 1e8), (-1e30, 1e30)]),
    "cos": ("math.cos", np.cos, 4, [(-10, 10), (-1e4, 1e4), (-1e-3, 1e-3), (-1e8, 1e8), (-1e30, 1e30)]),
    "tan": ("math.tan", np.tan, 4, [(-10, 10), (-1e4, 1e4), (-1e-3, 1e-3), (-1e8, 1e8)]),
    "asin": ("math.asin", np.arcsin, 4, [(-1, 1), (-0.01, 0.01)]),
    "acos": ("math.acos", np.arccos, 4, [(-1, 1), (0.9, 1)]),
    "atan": ("math.atan", np.arctan, 4, [(-1, 1), (-10, 10), (-1e6, 1e6)]),
    "sinh": ("math.sinh", np.sinh, 4, [(-1, 1), (-89.4, 89.4), (-1e-3, 1e-3)]),
    "cosh": ("math.cosh", np.cosh, 4, [(-1, 1), (-89.4, 89.4)]),
    "asinh": ("math.asinh", np.arcsinh, 4, [(-1, 1), (-100, 100), (-1e20, 1e20)]),
    "acosh": ("math.acosh", np.arccosh, 4, [(1, 2), (1, 100), (1, 1e20)]),
    "atanh": ("math.atanh", np.arctanh, 4, [(-1, 1), (-0.01, 0.01)]),
    "cbrt": ("math.cbrt", np.cbrt, 4, [(-10, 10), (-1e30, 1e30), (-1e-30, 1e-30)]),
    "rsqrt": ("math.rsqrt", lambda x: 1 / np.sqrt(x), 4, [(0, 10), (0, 1e30)]),
    "pow": ("math.powf", np.power, 4, [(0, 10), (-5, 5), (0.9, 1.1), (0, 1e3)]),
    "pow_quarter": ("math.powf", lambda x: np.power(x, 0.25), 2, [(0, 10), (0, 1e30)]),
    "pow_three_quarters": ("math.powf", lambda x: np.power(x, 0.75), 2, [(0, 10), (0, 1e30)]),
    "pow_minus_quarter": ("math.powf", lambda x: np.power(x, -0.25), 4, [(0, 10), (0, 1e30)]),
    "pow_minus_half": ("math.powf", lambda x: np.power(x, -0.5), 4, [(0, 10), (0, 1e30)]),
    "pow_minus_three_quarters": ("math.powf", lambda x: np.power(x, -0.75), 4, [(0, 10), (0, 1e30)]),
    "pow_minus_three_halves": ("math.powf", lambda x: np.power(x, -1.5), 4, [(0, 10), (0, 1e30)]),
    "pow_minus_two": ("math.powf", lambda x: np.power(x, -2.0), 4, [(-10, 10), (-1e20, 1e20)]),
    "pow_minus_five_halves": ("math.powf", lambda x: np.power(x, -2.5), 4, [(0, 10), (0, 1e16)]),
    "pow_minus_three": ("math.powf", lambda x: np.power(x, -3.0), 4, [(-10, 10), (-1e14, 1e14)]),
    "softplus": ("", softplus, 4, [(-104, 89), (-1, 1), (-20, 20)]),
    "tanh_of_softplus": ("math.tanh", lambda x: np.tanh(softplus(x)), 4, [(-104, 89), (-8, 0), (-1, 1), (-20, 20)]),
    "tanh_of_log": ("math.tanh", lambda x: np.tanh(softplus(x)), 4, [(-104, 89), (-1, 1), (-20, 20)]),
    "atan2": ("math.atan2", np.arctan2, 4, [(-1, 1), (-100, 100)]),
    "remainder": ("arith.remf", np.fmod, 0, [(-10, 10), (-1e6, 1e6), (-1e30, 1e30)]),
}
# More pairs of ranges: logarithms times as much as fits.
PAIRS = {"pow": [((0.7, 1.42), (-180, 180)), ((0.99, 1.01), (-8000, 8000)), ((0, 1e-37), (-1, 1.1))]}
BINARY = {"pow", "atan2", "remainder"}
EXPONENTS = {"pow_quarter": 0.25, "pow_three_quarters": 0.75, "pow_minus_quarter": -0.25, "pow_minus_half": -0.5,
             "pow_minus_three_quarters": -0.75, "pow_minus_three_halves": -1.5, "pow_minus_two": -2.0,
             "pow_minus_five_halves": -2.5, "pow_minus_three": -3.0}
CONSTANTS = EXPONENTS | {"exp_or_zero": LEAST, "softplus": 0.0, "tanh_of_softplus": 0.0, "tanh_of_log": 1.0}
# On a target without vectors these are arithmetic too.
ROUNDING = {
    "floor": ("math.floor", np.floor, 0, [(-10, 10), (-1e7, 1e7)]),
    "ceil": ("math.ceil", np.ceil, 0, [(-10, 10), (-1e7, 1e7)]),
    "trunc": ("math.trunc", np.trunc, 0, [(-10, 10), (-1e7, 1e7)]),
    "roundeven": ("math.roundeven", np.rint, 0, [(-10, 10), (-1e7, 1e7)]),
}
FUNCTIONS |= ROUNDING

NO_VECTORS = """#onnxc.target<triple = "x86_64-linux-gnu", cpu = "x86-64", features = "",
  vector_bits = 0, vector_registers = 0, fma_per_cycle = 0, l1_bytes = 0, l2_bytes = 0,
  index_bits = 64, heap = false, has_f16 = false>"""


def kernel(name, element, lanes):
    operation = FUNCTIONS[name][0]
    value = element if lanes == 1 else f"vector<{lanes}x{element}>"
    buffer = f"memref<?x{element}>"

    def load(to, source):
        if lanes == 1:
            return f"    %{to} = memref.load %{source}[%i] : {buffer}\n"
        return f"    %{to} = vector.load %{source}[%i] : {buffer}, {value}\n"

    arguments = "%a, %b" if name in BINARY else "%a"
    constant = ""
    if name in CONSTANTS:
        number = CONSTANTS[name] if lanes == 1 else f"dense<{CONSTANTS[name]}>"
        arguments, constant = "%a, %e", f"  %e = arith.constant {number} : {value}\n"
    mask = "i1" if lanes == 1 else f"vector<{lanes}xi1>"
    steps = "".join(f"    {step} : {value}\n" for step in COMPOSED.get(name, []))
    steps = steps.replace("MASK :", f"{mask},").replace("ZERO", "0.0" if lanes == 1 else "dense<0.0>")
    result = f"{operation} {arguments}"
    if name in COMPOSED:
        result = f"{operation} %s" if operation else "arith.addf %s, %e"
    store = "memref.store %r, %out[%i]" if lanes == 1 else "vector.store %r, %out[%i]"
    suffix = "" if lanes == 1 else f", {value}"
    return f"""
func.func @{name}_{element}_{lanes}(%x: {buffer}, %y: {buffer}, %out: {buffer}) attributes {{llvm.emit_c_interface}} {{
  %zero = arith.constant 0 : index
  %step = arith.constant {lanes} : index
  %n = memref.dim %x, %zero : {buffer}
{constant}  scf.for %i = %zero to %n step %step {{
{load("a", "x")}{load("b", "y")}{steps}    %r = {result} : {value}
    {store} : {buffer}{suffix}
  }}
  return
}}"""


def run(*command, **options):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True, **options).stdout


# Those with an instruction of their own for powers of two, where this one has it.
SCALES = """#onnxc.target<triple = "x86_64-linux-gnu", cpu = "", features = "",
  vector_bits = 512, vector_registers = 32, fma_per_cycle = 2, l1_bytes = 0, l2_bytes = 0,
  index_bits = 64, heap = true, has_f16 = true, has_scale = true, has_fma = true>"""
SCALED = {"exp", "exp_or_zero", "exp2", "pow", "sinh", "cosh", "softplus", "tanh_of_softplus"}
# Those that are shorter, or no longer as close, where multiply-adds round once.
FUSES = SCALES.replace("has_scale = true", "has_scale = false")
FUSED = {"exp", "exp_of_negative", "exp_or_zero", "sinh", "cosh", "tanh", "tanh_of_softplus", "tanh_of_log"}


def compile_library(names, folder, target, cpu):
    target = NO_VECTORS if names & ROUNDING.keys() else target
    attributes = f"attributes {{onnxc.target = {target}}}" if target else ""
    kernels = "".join(kernel(n, t, l) for n in names for t in TYPES for l in (1, LENGTHS[t]))
    pipeline = ["--expand-math", "--convert-vector-to-scf", "--convert-scf-to-cf", "--convert-vector-to-llvm",
                "--finalize-memref-to-llvm", "--convert-to-llvm", "--reconcile-unrealized-casts"]
    text = run(BIN / "onnxc-opt", *pipeline, "-", input=f"module {attributes} {{{kernels}\n}}")
    source, library = folder / "kernels.ll", folder / "kernels.so"
    source.write_text(run("mlir-translate-22", "--allow-unregistered-dialect", "--mlir-to-llvmir", "-",
                          input=text))
    run("clang-22", "-O2", f"-march={cpu}", "-fPIC", "-shared", "-nostdlib", "-Wl,--no-undefined",
        "-Wno-override-module", source, "-o", library)
    return ctypes.CDLL(str(library))


class Memref(ctypes.Structure):
    _fields_ = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64),
                ("size", ctypes.c_int64), ("stride", ctypes.c_int64)]

    def __init__(self, array):
        super().__init__(array.ctypes.data, array.ctypes.data, 0, array.size, 1)


def special(dtype):
    info = np.finfo(dtype)
    values = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 7.0, 0.25, math.pi, math.pi / 2, math.e, 88.0, 89.5, 104.0, 710.5,
              1e5, 12345.678, 1e15, info.max, info.tiny, info.smallest_subnormal, 3 * info.smallest_subnormal,
              info.tiny / 2, info.eps, math.inf, math.nan]
    return np.array(values + [-v for v in values], dtype)


def inputs(name, dtype, random):
    ranges = [random.uniform(low, high, 20000) for low, high in FUNCTIONS[name][3]]
    x = np.concatenate(ranges + [special(dtype)]).astype(dtype)
    y = x.copy()
    if name in BINARY:
        y = np.concatenate([random.permutation(r) for r in ranges] + [special(dtype)]).astype(dtype)
        grid = np.meshgrid(special(dtype), special(dtype))
        x, y = np.concatenate([x, grid[0].ravel()]), np.concatenate([y, grid[1].ravel()])
        pairs = [[random.uniform(low, high, 20000).astype(dtype) for low, high in pair] for pair in PAIRS.get(name, [])]
        x, y = (np.concatenate([z, *(pair[i] for pair in pairs)]) for i, z in enumerate((x, y)))
    if name == "remainder":
        x, y = near_multiples(x, y, random)
    padding = -x.size % 8
    return np.pad(x, (0, padding), constant_values=1), np.pad(y, (0, padding), constant_values=1)


def near_multiples(x, y, random):
    """And quotients up to both ends of the fast way that are whole but for one unit or none."""
    y, whole = y.copy(), np.rint(2.0 ** random.uniform(0, 26, x.size))
    with np.errstate(all="ignore"):
        x = np.concatenate([x, *(np.nextafter((y * whole).astype(x.dtype), x.dtype.type(to)) for to in (0, np.inf)),
                            (y * whole).astype(x.dtype)])
    return x, np.tile(y, 4)


def reference(name, x, y):
    wide = np.float64 if x.dtype == np.float32 else np.longdouble
    function = FUNCTIONS[name][1]
    return function(x.astype(wide), y.astype(wide)) if name in BINARY else function(x.astype(wide))


def error(name, x, y, result):
    """The greatest error in units in the last place, and where."""
    exact = reference(name, x, y)
    rounded = exact.astype(x.dtype)
    finite = np.isfinite(rounded)
    same = (result == rounded) & (np.signbit(result) == np.signbit(rounded)) | np.isnan(result) & np.isnan(rounded)
    unit = np.spacing(np.abs(np.where(finite, rounded, 1)))
    far = np.abs(result.astype(exact.dtype) - np.where(finite, exact, 0)) / unit
    ulp = np.where(same, np.where(finite, np.minimum(far, 1), 0), np.where(finite, far, np.inf))
    ulp = np.where(np.isnan(ulp), np.inf, ulp)
    # Overflow may begin one unit early or late.
    largest = np.finfo(x.dtype).max
    edge = np.isinf(rounded) & (np.abs(result) == largest) | np.isinf(result) & (np.abs(rounded) >= largest * (1 - 1e-6))
    ulp = np.where(edge & ~same, 1, ulp)
    worst = int(np.argmax(ulp))
    return float(ulp[worst]), f"({x[worst]!r}, {y[worst]!r}) gives {result[worst]!r}, not {rounded[worst]!r}"


def check(library, name):
    failures = 0
    for element, dtype in TYPES.items():
        x, y = inputs(name, dtype, np.random.default_rng(1))
        for lanes in (1, LENGTHS[element]):
            out = np.empty_like(x)
            function = getattr(library, f"_mlir_ciface_{name}_{element}_{lanes}")
            function(*(ctypes.byref(Memref(array)) for array in (x, y, out)))
            with np.errstate(all="ignore"):
                ulp, where = error(name, x, y, out)
            allowed = FUNCTIONS[name][2] + (1e-9 if name != "erf" or element == "f32" else 0.5)
            passed = ulp <= max(allowed, 0.5 + 1e-3 if FUNCTIONS[name][2] else 0.5)
            failures += not passed
            print(f"{'PASS' if passed else 'FAIL'}: {name} {element} x{lanes}: {ulp:.2f}{'' if passed else chr(10) + where}")
    return failures


def main():
    names = set(sys.argv[2:]) or set(FUNCTIONS)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        groups = [(names - ROUNDING.keys(), None, "native"), (names & ROUNDING.keys(), None, "native")]
        features = set(pathlib.Path("/proc/cpuinfo").read_text().split())
        if "avx512vl" in features:
            groups.append((names & SCALED, SCALES, "native"))
        if "fma" in features:
            groups += [(names & FUSED, FUSES, "native"), (names & FUSED, None, "x86-64")]
        for number, (group, target, cpu) in enumerate(groups):
            if group:
                path = pathlib.Path(folder) / f"{number}"
                path.mkdir()
                library = compile_library(group, path, target, cpu)
                failures += sum(check(library, name) for name in sorted(group))
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
