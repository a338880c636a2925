#!/usr/bin/env python3
"""Guards the form of the code in hot loops, as assembly for x86-64 shows it, and how much code there is.

    run.py BIN_FOLDER WORK_FOLDER [REGULAR_EXPRESSION]

Spills: no innermost loop of multiply-adds of the standard kernels keeps a vector on the stack. Scalars: no innermost loop
of a network computes with single elements, but for what the lanes of a row leave. Code: networks have less than 300 KB of
it, also where the batch is of any size. Prints "PASS: name", or "FAIL: name" and which loops or how much; a function is
named after its first node.
"""

import concurrent.futures
import contextlib
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tools/scripts/benchmark")]
import assembly
import networks
from graph import Graph
from kernels import attention, recurrent
from models import MODELS

CPUS = ["x86-64-v3", "x86-64-v4"]
# One whose scheduling LLVM knows: it unrolls more there.
SCHEDULED_CPU = "znver3"
MOST_CODE_BYTES = 300_000


def kernel(shape, op, *weights, **attributes):
    """One node of constant weights, with a Relu behind it."""
    names = [f"w{i}" for i in range(len(weights))]
    rng = np.random.default_rng(1)
    initializers = [numpy_helper.from_array(rng.standard_normal(s).astype(np.float32), n)
                    for n, s in zip(names, weights)]
    nodes = [helper.make_node(op, ["x", *names], ["t"], "kernel", **attributes), helper.make_node("Relu", ["t"], ["y"])]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, s)
              for name, s in (("x", shape), ("y", [None] * len(shape)))]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def convolution(size, channels, filters, window, group=1, stride=1):
    rank = len(size)
    return kernel([1, channels, *size], "Conv", [filters, channels // group, *[window] * rank], [filters], group=group,
                  strides=[stride] * rank, pads=[window // 2] * 2 * rank)


def product_and(follow, rows, inner, columns):
    """A product, a bias and what `follow` makes of them."""
    g = Graph("g")
    return g.model(follow(g, g.dense(g.input("x", [rows, inner]), columns)))


def convolution_and(follow, edge, channels, filters, window):
    g = Graph("g")
    return g.model(follow(g, g.conv(g.input("x", [1, channels, edge, edge]), filters, window, act=None)))


def gelu(g, x):
    return g.act(x, "Gelu")


def silu(g, x):
    return g.act(x, "Silu")


def residual(g, x):
    return g.add(x, g.input("residual", g.shape(x)))


def pooled(g, x):
    return g.pool(g.act(x, "Relu"), 2, 2)


def narrow(window):
    return lambda g, x: g.conv(g.act(x, "Relu"), 3, window, act=None)


def computed_product(size):
    g = Graph("g")
    return g.model(g.op("MatMul", g.input("x", [size, size]), g.input("y", [size, size])))


def standard_kernels():
    """(name, model, flags)"""
    for rows, inner, columns in ((1, 768, 768), (7, 768, 768), (128, 768, 3072), (197, 768, 768), (1024, 1024, 1024)):
        yield f"product {rows}x{inner}x{columns}", kernel([rows, inner], "MatMul", [inner, columns]), []
    for rows in (26, 28, 392):
        yield f"narrow product {rows}x256x8", kernel([rows, 256], "MatMul", [256, 8]), []
    for follow in (gelu, silu):
        yield f"product 128x768x3072, {follow.__name__}", product_and(follow, 128, 768, 3072), []
    yield "product 128x3072x768, residual", product_and(residual, 128, 3072, 768), []
    yield "product, weights transposed", kernel([64, 512], "Gemm", [512, 512], transB=1), []
    for edge, channels in ((56, 64), (28, 128), (14, 256), (7, 512)):
        yield f"1x1 {edge}", convolution((edge, edge), channels, 4 * channels, 1), []
        yield f"3x3 {edge}", convolution((edge, edge), channels, channels, 3), ["--numerics=strict"]
        yield f"3x3 {edge}, Winograd", convolution((edge, edge), channels, channels, 3), []
        yield f"3x3 {edge}, stride 2", convolution((edge, edge), channels, 2 * channels, 3, stride=2), []
        yield f"depthwise 3x3 {edge}", convolution((edge, edge), channels, channels, 3, channels), []
        yield (f"depthwise 3x3 {edge}, stride 2", convolution((edge, edge), channels, channels, 3, channels, 2), [])
        yield f"grouped 3x3 {edge}", convolution((edge, edge), channels, channels, 3, channels // 32), []
    for edge, channels, window, stride in ((28, 64, 2, 1), (28, 64, 5, 1), (17, 128, 7, 1), (57, 64, 4, 2), (57, 64, 5, 2)):
        yield (f"{window}x{window} {edge}, stride {stride}, Winograd",
               convolution((edge, edge), channels, channels, window, stride=stride), [])
    for taps, stride in ((3, 1), (7, 1), (8, 4)):
        yield f"line of {taps} taps, stride {stride}, Winograd", convolution((1000,), 64, 64, taps, stride=stride), []
    for width in (2, 4, 8):
        yield f"3x3 28, groups of {width}", convolution((28, 28), 128, 128, 3, 128 // width), []
        yield f"3x3 28, groups of {width}, stride 2", convolution((28, 28), 128, 128, 3, 128 // width, 2), []
    yield "first layer 3x3", convolution((224, 224), 3, 32, 3, stride=2), []
    yield "first layer 7x7", convolution((224, 224), 3, 64, 7, stride=2), []
    for window in (3, 5, 7):
        yield f"one channel {window}x{window}, pooled", convolution_and(pooled, 64, 1, 32, window), []
    for edge, channels in ((160, 16), (80, 32)):
        yield (f"3x3 {edge}, few channels, silu", convolution_and(silu, edge, channels, channels, 3),
               ["--numerics=strict"])
    yield "1x1 28, residual", convolution_and(residual, 28, 128, 512, 1), []
    yield "3x3 28, residual", convolution_and(residual, 28, 128, 128, 3), ["--numerics=strict"]
    yield "1x1 26, lanes of a part", convolution((26, 26), 64, 24, 1), []
    for window in (1, 3, 9):
        yield f"{window}x{window} to three channels", convolution_and(narrow(window), 64, 32, 32, 1), []
    yield "5x5 17", convolution((17, 17), 48, 64, 5), []
    yield "depthwise 7x7", convolution((28, 28), 96, 96, 7, 96), []
    yield "1-D", convolution((256,), 64, 64, 3), []
    yield "3-D", convolution((16, 16, 16), 32, 32, 3), []
    yield "product of two computed matrices", computed_product(1024), []
    for tokens in (49, 50, 65, 128, 197, 1500):
        yield f"attention of {tokens} tokens", attention("g", tokens), []
    yield "LSTM", recurrent("g", "LSTM", 4), []


def all_networks():
    for name in ("resnet50", "mobilenet_v2", "bert_base"):
        yield name, MODELS[name]
    yield from networks.NETWORKS.items()


class Compiler:
    def __init__(self, folder, work):
        self.program, self.work = pathlib.Path(folder) / "onnxc", pathlib.Path(work)
        self.work.mkdir(parents=True, exist_ok=True)

    @contextlib.contextmanager
    def compiled(self, model, cpu, *flags):
        """The file that onnxc wrote and what it said, or why there is none."""
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            path, output = pathlib.Path(folder) / "model.onnx", pathlib.Path(folder) / "model"
            onnx.save(model, path)
            done = subprocess.run(
                [self.program, path, "--target=x86_64-linux-gnu", f"--mcpu={cpu}", *flags, "-o", output,
                 f"--weights={path.with_name('weights')}"], capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(done.stderr)
            yield output, done.stderr

    def loops(self, model, cpu, flags=()):
        """The innermost loops."""
        with self.compiled(model, cpu, "-S", *flags) as (output, _):
            return list(assembly.innermost_loops(output.read_text()))

    def code_bytes(self, model, cpu):
        with self.compiled(model, cpu, "-v") as (_, said):
            return int(re.search(r"(\d+) bytes of code", said)[1])


def of_any_batch(model):
    """The same network where only the run knows how many images there are."""
    for value in [model.graph.input[0], *model.graph.output]:
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    del model.graph.value_info[:]
    return model


def check_size(compiler, cpu, model):
    size = compiler.code_bytes(model, cpu)
    return f"{size} bytes" if size >= MOST_CODE_BYTES else ""


def spilling(loops):
    """Loops of multiply-adds that spill, worst first; fails where there is no such loop at all."""
    loops = [loop for loop in loops if loop.count(assembly.FMA)]
    if not loops:
        raise RuntimeError("no loop of multiply-adds found")
    spills = [(loop.count(assembly.SPILL), loop) for loop in loops]
    return sorted(((count, loop) for count, loop in spills if count), key=lambda entry: -entry[0])


def check_spills(compiler, cpu, model, flags):
    return "\n".join(f"{loop.function}: {count} spills in a loop of {loop.count(assembly.FMA)} multiply-adds"
                     for count, loop in spilling(compiler.loops(model, cpu, flags)))


def is_scalar(loop):
    """Whether a loop computes with single elements. A row of a few vectors has no loop of its own, and what its folded
    lanes leave is computed beside them, once a row: in at most half as many operations, which read no more than the
    element that they add to."""
    scalars, vectors = loop.count(assembly.SCALAR_ARITHMETIC), loop.count(assembly.VECTOR_ARITHMETIC)
    return scalars > 0 and (2 * scalars > vectors or loop.count(assembly.SCALAR_READ) > 1)


def check_scalars(compiler, cpu, model):
    loops = compiler.loops(model, cpu)
    if not any(loop.count(assembly.VECTOR_ARITHMETIC) for loop in loops):
        raise RuntimeError("no vector loop found")
    return "\n".join(f"{loop.function}: a loop of {loop.count(assembly.SCALAR_ARITHMETIC)} scalar and "
                     f"{loop.count(assembly.VECTOR_ARITHMETIC)} vector operations" for loop in loops if is_scalar(loop))


SPILLING_TEXT = """k_test:                                 # @k_test
# %bb.0:
	xorl	%eax, %eax
.LBB0_1:
	vmovups	%zmm31, -96(%rsp)               # 64-byte Spill
	vfmadd231ps	%zmm1, %zmm2, %zmm3
	incq	%rax
	jne	.LBB0_1
# %bb.2:
	vaddss	%xmm0, %xmm1, %xmm2
	jne	.LBB0_2
.LBB0_2:
	vaddss	%xmm0, %xmm1, %xmm2
	vroundss	$9, %xmm2, %xmm2, %xmm2
	vcmpltss	%xmm0, %xmm2, %xmm3
	vcvttss2si	%xmm2, %eax
	vcvtsi2ssl	%eax, %xmm4, %xmm4
	vcvtdq2ps	%ymm0, %ymm0
	vcmpltps	%ymm0, %ymm1, %ymm2
	jmp	.LBB0_2
.Lfunc_end0:
k_row:                                  # @k_row
.LBB1_1:
	vaddps	(%rsi,%rax,4), %ymm0, %ymm1
	vaddps	%xmm1, %xmm2, %xmm1
	vaddss	(%rdi,%rax,4), %xmm1, %xmm1
	jne	.LBB1_1
.LBB1_2:
	vaddps	(%rsi,%rax,4), %ymm0, %ymm1
	vaddps	%xmm1, %xmm2, %xmm1
	vmovss	(%rsi,%rax,4), %xmm2
	vaddss	(%rdi,%rax,4), %xmm2, %xmm1
	jne	.LBB1_2
.Lfunc_end0:
"""


def check_reader(*_):
    """That the guards would see what they look for."""
    loops = list(assembly.innermost_loops(SPILLING_TEXT))
    seen = [(loop.count(assembly.FMA), loop.count(assembly.SPILL), loop.count(assembly.SCALAR_ARITHMETIC),
             is_scalar(loop)) for loop in loops]
    return "" if sorted(seen) == [(0, 0, 1, False), (0, 0, 1, True), (0, 0, 5, True), (1, 1, 0, False)] else f"saw {seen}"


def cases(compiler):
    yield "the reader sees spills and scalars", check_reader
    for name, model, flags in standard_kernels():
        for cpu in [*CPUS, SCHEDULED_CPU]:
            yield (f"spills: {name}, {cpu}",
                   lambda m=model, f=flags, c=cpu: check_spills(compiler, c, m, f))
    for name in ("densenet121", "efficientnet_b0", "regnet_y_400mf"):
        for cpu in CPUS:
            yield f"code: {name}, {cpu}", lambda n=name, c=cpu: check_size(compiler, c, MODELS[n]())
            yield (f"code: {name} of any batch, {cpu}",
                   lambda n=name, c=cpu: check_size(compiler, c, of_any_batch(MODELS[n]())))
    for name, make in all_networks():
        make = functools.cache(make)
        for cpu in CPUS:
            yield f"scalars: {name}, {cpu}", lambda m=make, c=cpu: check_scalars(compiler, c, m())


def main():
    compiler = Compiler(*sys.argv[1:3])
    pattern = re.compile(sys.argv[3] if len(sys.argv) > 3 else "")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        begun = [(name, pool.submit(check)) for name, check in cases(compiler) if pattern.search(name)]
        for name, check in begun:
            try:
                why = check.result()
            except RuntimeError as error:
                why = str(error)
            failed += bool(why)
            print(f"FAIL: {name}\n  " + why.replace("\n", "\n  ") if why else f"PASS: {name}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
