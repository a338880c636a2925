"""Sums of rows, elementwise chains, selections and other moves: one pass over memory."""

import numpy as np
from onnx import TensorProto, helper

from graphs import chain, normal


def products_around_a_norm():
    """Both inputs have as many rows, each in a dimension of its own."""
    nodes = [("Transpose", "a", "t", {"perm": [1, 0, 2]}), ("MatMul", "t w", "m", {}), ("Add", "x m", "s", {}),
             ("LayerNormalization", "s g b", "n", {}), ("MatMul", "n v", "p", {}), ("Relu", "p", "y", {})]
    proto, _ = chain([1, "rows", 16], nodes, {"w": normal(16, 16, scale=0.2), "v": normal(16, 16, seed=4, scale=0.2),
                                              "g": normal(16), "b": normal(16, seed=5)}, sizes=[])()
    proto.graph.input.append(helper.make_tensor_value_info("a", TensorProto.FLOAT, ["rows", 1, 16]))
    return proto, [[normal(1, rows, 16), normal(rows, 1, 16, seed=6)] for rows in (1, 5, 40)]


def rows():
    for axis in (-1, 1, 0):
        yield f"Softmax on axis {axis}", chain([3, 5, 37], [("Softmax", "x", "y", {"axis": axis})])
    for op in ("Softmax", "LogSoftmax"):
        for shape, axis, sizes in (([3, 40, 3], 1, None), ([2, 3, 64, 7], 2, None), ([24, 5, 2], 0, None),
                                   (["a", 36, 5], 1, [[1, 36, 5], [4, 36, 5]]), ([2, 17, 6], 1, None), ([3, 197, 6], 1, None)):
            yield f"{op} down the few columns of {shape}", chain(shape, [(op, "x", "y", {"axis": axis})], {}, sizes)
    for images in (4, "n"):
        yield f"Softmax over {images} images, then along three columns", chain(
            [images, 40, 3, 3], [("Softmax", "x", "t", {"axis": 0}), ("Softmax", "t", "y", {"axis": 3})], {},
            [[n, 40, 3, 3] for n in ((4,) if images == 4 else (1, 5, 9))])
    yield "Softmax of long rows", chain([2, 5000], [("Softmax", "x", "y", {})])
    for kind in ("Softmax", "LogSoftmax"):
        yield f"{kind} of a single long row", chain([1, 20011], [(kind, "x", "y", {})])
        yield f"{kind} of a single row of any length", chain(
            [1, "n"], [(kind, "x", "y", {})], sizes=[[1, n] for n in (1, 7, 16, 1000, 20011)])
    for op in ("Softmax", "LogSoftmax"):
        for shape, sizes in (([4, 0], None), (["n", 0], [[0, 0], [5, 0]])):
            yield f"{op} of {shape}", chain(shape, [(op, "x", "y", {})], {}, sizes)
        for axis in (-1, 1):
            yield f"{op} on axis {axis} of rows that have a NaN, and others", chain([16, 37, 21], [
                ("Add", "x three", "s", {}), ("Sqrt", "s", "r", {}), (op, "r", "y", {"axis": axis})], {"three": np.float32(3)})
        yield f"{op} of rows that hold nothing, and others", chain([37, 3], [
            ("Relu", "x", "r", {}), ("Log", "r", "l", {}), (op, "l", "y", {})])
    yield "Softmax, rows of the run", chain(["a", "b"], [("Softmax", "x", "y", {})], sizes=[[2, 3], [1, 70], [9, 16]])
    scale = {"s": normal(37), "o": normal(37, seed=5)}
    yield "LayerNormalization", chain([4, 37], [("LayerNormalization", "x s o", "y", {})], scale)
    yield "RMSNormalization from its parts", chain([4, 37], [
        ("Mul", "x x", "q", {}), ("ReduceMean", "q a", "m", {}), ("Add", "m e", "n", {}), ("Sqrt", "n", "r", {}),
        ("Div", "x r", "d", {}), ("Mul", "d s", "y", {})],
        {"a": np.int64([-1]), "e": np.float32(1e-5), "s": scale["s"]})
    yield "row maxima, batch and rows of the run", chain(
        ["a", 3, "b", "b"], [("ReduceMax", "x a", "y", {})], {"a": np.int64([3])}, [[2, 3, 13, 13], [1, 3, 40, 40]])
    last = {"a": np.int64([-1]), "zero": np.float32(0), "one": np.float32(1)}
    yield "Concat with nothing", chain([2, 5], [
        ("Slice", "x a a c", "n", {}), ("Concat", "x n x", "y", {"axis": 1})], {"a": np.int64([0]), "c": np.int64([1])})
    index = {"zero": np.int64(0), "one": np.int64(1), "last": np.int64(-1), "cut": np.int64([3, 3, 6])}
    yield "a sequence of parts, split by sizes", chain(["n", 12], [
        ("SplitToSequence", "x cut", "s", {"axis": 1}), ("SequenceAt", "s last", "e", {}), ("SequenceAt", "s one", "m", {}),
        ("SequenceLength", "s", "l", {}), ("Cast", "l", "f", {"to": 1}), ("Mul", "m f", "p", {}), ("Add", "p m", "q", {}),
        ("SequenceConstruct", "q m e", "t", {}), ("SequenceErase", "t one", "u", {}),
        ("ConcatFromSequence", "u", "y", {"axis": -1})], index, [[2, 12], [5, 12]])
    yield "rows of a sequence, stacked elsewhere", chain([3, 4, 5], [
        ("SplitToSequence", "x", "s", {"axis": 1, "keepdims": 0}), ("SequenceAt", "s zero", "a", {}),
        ("SequenceEmpty", "", "o", {}), ("SequenceInsert", "s a last", "t", {}), ("SequenceInsert", "o a", "v", {}),
        ("ConcatFromSequence", "v", "w", {"axis": 0}), ("ConcatFromSequence", "t", "z", {"axis": -1, "new_axis": 1}),
        ("Unsqueeze", "w axis", "i", {}), ("Add", "z i", "y", {})], {**index, "axis": np.int64([-1])})
    for op in ("Softmax", "LogSoftmax"):
        yield f"{op} of columns, rows of the run", chain(["c", 33, "d"], [(op, "x", "y", {"axis": 1})], {},
                                                         [[2, 33, 5], [3, 33, 40]])
    for side in ("h", 8):
        for op in ("Softmax", "LogSoftmax"):
            yield f"{op} of masked scores, {side} heads, rows of the run", chain([side, "s", "s"], [
                ("ReduceMean", "x a", "m", {}), ("Add", "x m", "l", {}), ("Sigmoid", "x", "g", {}), ("Add", "l g", "k", {}),
                (op, "k", "y", {})], {"a": np.int64([0])}, [[8, length, length] for length in (1, 16, 17, 70)])
    yield "Softmax of some rows, rows of the run", chain(["a", 3, "b", "b"], [
        ("Softmax", "x", "p", {}), ("ReduceMax", "x a", "m", {}), ("Greater", "m one", "c", {}),
        ("Where", "c p zero", "y", {})], last, [[2, 3, 13, 13], [1, 3, 40, 40]])
    yield "products around a norm, rows of two inputs of the run", products_around_a_norm
    for op, inputs, attributes in (("ReduceMax", "t a", {}), ("ReduceMean", "t a", {}), ("ReduceLogSumExp", "t a", {}),
                                   ("ArgMax", "t", {"axis": 2})):
        yield f"{op} of columns of channels that lie together", chain(
            [2, 6, 7, 20], [("Transpose", "x", "t", {"perm": [0, 3, 1, 2]}), (op, inputs, "r", {"keepdims": 0} | attributes),
                            ("Cast", "r", "y", {"to": 1})], {"a": np.int64([2])}, ranks=3)
    affine = {"g": normal(48), "b": normal(48, seed=5), "w": normal(48, 64, scale=0.2)}
    for shape, sizes in (([20, 1, 48], None), ([30, 2, 48], None), ([3, 5, 48], None), ([1, 90, 48], None),
                         (["s", 2, 48], [[3, 2, 48], [40, 2, 48]]), ([1, "s", 48], [[1, 3, 48], [1, 200, 48]])):
        yield f"a product of normalized rows of {shape}", chain(shape, [
            ("LayerNormalization", "x g b", "n", {}), ("MatMul", "n w", "m", {}), ("Relu", "m", "y", {})], affine, sizes)
    yield "a product of many long rows, in blocks", chain([1, 1037, 700], [
        ("MatMul", "x w", "m", {}), ("Add", "m b", "y", {})], {"w": normal(700, 512, scale=0.2), "b": normal(512)})
    for perm in ([0, 2, 1], [0, 1, 2]):
        yield f"a product of many computed rows, in blocks, {perm}", chain([1, 1040, 1040], [
            ("Sigmoid", "x", "s", {}), ("Transpose", "s", "t", {"perm": perm}), ("MatMul", "s t", "y", {})])
    yield "a product of lengths of columns, sizes of the run", chain(["a", 6, "b", 4], [
        ("ReduceL2", "x a", "l", {}), ("MatMul", "l w", "y", {})], {"a": np.int64([1]), "w": normal(4, 40)},
        [[2, 6, 3, 4], [1, 6, 50, 4]])
    yield "a row that is two results", chain([2, 4, 12, 8], [
        ("InstanceNormalization", "x g b", "n", {}), ("Max", "n n", "m", {}), ("Conv", "n v", "p", {}),
        ("Transpose", "m", "t", {"perm": [0, 1, 3, 2]}), ("Conv", "t w", "q", {}), ("Add", "p q", "y", {})],
        {"g": normal(4), "b": normal(4, seed=5), "v": normal(8, 4, 12, 8), "w": normal(8, 4, 8, 12)})
    yield "a sum behind an outer product", chain([5], [
        ("Einsum", "x a", "o", {"equation": "i,j->ij"}), ("Einsum", "o w", "s", {"equation": "ij,ji->"}),
        ("Add", "s x", "y", {})], {"a": normal(2), "w": normal(2, 5, seed=4)})
    yield "an Einsum of four factors", chain([4, 9], [
        ("Einsum", "x v w a", "y", {"equation": "ij,jk,lk,k->li"})],
        {"v": normal(9, 7), "w": normal(6, 7, seed=4), "a": normal(7, seed=5)})
    for batch in (5, "b"):
        for columns in (2, 4, 9):
            yield f"an Einsum of small matrices, {columns} columns, batch {batch}", chain([batch, 6, 3, 4], [
                ("Einsum", "x w", "e", {"equation": "bnij,cnjk->bncik"}), ("Add", "e a", "y", {})],
                {"w": normal(7, 6, 4, columns), "a": normal(3, columns, seed=5)},
                [[size, 6, 3, 4] for size in ((1, 3) if batch == "b" else (batch,))], ranks=5)
    for columns in (1, 3, 6, 12):
        for batch in (2, "n"):
            sizes = [[size, 3, 40, columns] for size in ((1, 4) if batch == "n" else (batch,))]
            yield f"a product to {columns} columns, batch {batch}", chain([batch, 3, 40, columns], [
                ("Einsum", "x w", "e", {"equation": "ncvl,vw->ncwl"}), ("Add", "e a", "y", {})],
                {"w": normal(40, 70), "a": normal(70, columns, seed=5)}, sizes, ranks=4)
            for equation in ("ncvl,vw->ncwl", "ncwl,vw->ncvl"):
                yield f"a computed product {equation} to {columns} columns, batch {batch}", chain(
                    [batch, 3, 40, columns], [
                        ("Einsum", "x x", "s", {"equation": "ncvl,ncwl->vw"}), ("Softmax", "s", "p", {}),
                        ("Einsum", "x p", "y", {"equation": equation})], {}, sizes)
    for equation, left, right in (("gfbe,egbc->fcg", (2, 12, 4, 3), (3, 2, 4, 24)),
                                  ("gba,edba->gdeb", (20, 4, 25), (8, 16, 4, 25)),
                                  ("efba,acgfb->cegaf", (24, 4, 32, 2), (2, 3, 3, 4, 32)),
                                  ("ijkl,bil->bijk", (9, 10, 16, 8), (1, 9, 8))):
        yield f"an Einsum {equation}", chain(left, [("Einsum", "x w", "y", {"equation": equation})],
                                             {"w": normal(*right, seed=5)}, ranks=len(equation.split("->")[1]))
    for equation, left, right in (("nctv,kvw->nctw", (2, 4, 30, 25), (3, 25, 25)), ("kij,jl->il", (5, 12, 20), (20, 48)),
                                  ("ijk,jl->i", (6, 20, 5), (20, 7)), ("ij,kl->", (6, 20), (20, 7)),
                                  ("iij,jk->k", (6, 6, 20), (20, 7))):
        yield f"an Einsum of labels of one factor, {equation}", chain(left, [("Einsum", "x w", "y", {"equation": equation})],
                                                                      {"w": normal(*right, seed=5)},
                                                                      ranks=len(equation.split("->")[1]))
    yield "an Einsum of batches that a later factor sums", chain([3, 5, 24], [
        ("Einsum", "x w a", "y", {"equation": "nth,nhd,tn->td"})],
        {"w": normal(3, 24, 40), "a": normal(5, 3, seed=4)}, ranks=2)
    for channels in range(2, 7):
        weights = {"w": normal(channels, 8, 1, 1), "v": normal(8, 8, 1, 1, seed=5), "a": np.int64([1])}
        for name, steps in (("Softmax", [("Softmax", "l", "y", {"axis": 1})]), ("ReduceL2", [("ReduceL2", "l a", "y", {})]),
                            ("extremes", [
                                ("ReduceMax", "l a", "p", {}), ("ReduceMin", "l a", "q", {}), ("Sub", "p q", "y", {})])):
            yield f"{name} of {channels} channels of any image", chain(
                [1, 8, "h", "w"], [("Conv", "x v", "h", {}), ("Conv", "h w", "l", {}), *steps], weights,
                [[1, 8, *size] for size in ((1, 1), (3, 5), (4, 8), (7, 9), (32, 33))])
            yield f"{name} of {channels} channels", chain(
                [2, 8, 7, 9], [("Conv", "x v", "h", {}), ("Conv", "h w", "l", {}), *steps], weights)
    for mode in ("reflect", "edge", "wrap"):
        for shape, pads in (([2, 3, 17, 21], [0, 0, 5, 6, 0, 0, 1, 9]), ([1, 9, 8, 3], [0, 2, 7, 0, 0, 0, 3, 2]),
                            ([3, 37], [0, 36, 0, 19]), ([2, 5, 40], [0, 3, -4, 0, -1, 16]), ([11], [6, 5]), ([2, 5000], [0, 4500, 0, 1])):
            yield f"Pad of {shape} by {pads}, {mode}", chain(
                shape, [("Pad", "x p", "y", {"mode": mode})], {"p": np.int64(pads)}, ranks=len(shape))
        yield f"Pad of any image, {mode}", chain(["b", 3, "h", "w"], [
            ("Pad", "x p", "z", {"mode": mode}), ("Conv", "z w", "y", {})], {"p": np.int64([0, 0, 6, 3, 0, 0, 2, 7]), "w": normal(5, 3, 3, 3)},
            [[1, 3, 7, 8], [2, 3, 20, 33], [1, 3, 64, 9]])
        for count in (2, 7):
            yield f"Pad by {count} between convolutions, {mode}", chain([1, 3, 24, 26], [
                ("Conv", "x w", "c", {}), ("Relu", "c", "r", {}), ("Pad", "r p", "z", {"mode": mode}), ("Conv", "z v", "y", {})],
                {"p": np.int64([0, 0, count, count] * 2), "w": normal(20, 3, 3, 3), "v": normal(6, 20, 3, 3, scale=0.2)})
    for columns, pads in ((1, [0, 1, 0, -1]), (2, [0, -2, 0, 3])):
        yield f"nothing but padding, {pads}", chain([3, columns], [("Pad", "x p", "y", {})], {"p": np.int64(pads)})
    for times in (30, "t"):
        yield f"a graph convolution, times {times}", chain([2, 8, times, 25], [
            ("Conv", "x v", "h", {}), ("Reshape", "h s", "p", {}), ("Einsum", "p g", "e", {"equation": "nkctv,kvw->nctw"}),
            ("Relu", "e", "r", {}), ("Conv", "r w", "y", {"pads": [1, 0, 1, 0]})],
            {"v": normal(48, 8, 1, 1, scale=0.3), "s": np.int64([2, 3, 16, -1, 25]), "g": normal(3, 25, 25, seed=4, scale=0.2),
             "w": normal(8, 16, 3, 1, seed=5, scale=0.2)}, [[2, 8, size, 25] for size in ((30,) if times == 30 else (1, 7, 33))])
    for width in (7, 32, 130, "w"):
        sizes = [[3, size] for size in ((1, 7, 64) if width == "w" else (width,))]
        last = {"a": np.int64([-1]), "s": np.int64([0, -1])}
        yield f"sines and cosines that take turns, {width}", chain([3, width], [
            ("Sin", "x", "p", {}), ("Cos", "x", "q", {}), ("Unsqueeze", "p a", "u", {}), ("Unsqueeze", "q a", "v", {}),
            ("Concat", "u v", "c", {"axis": -1}), ("Reshape", "c s", "y", {})], last, sizes)
        for step in (2, 3, 4, 5):
            yield f"every {step}th number, {width}", chain([3, width], [
                ("Slice", "x n e a k", "p", {}), ("Mul", "p p", "q", {}), ("Sub", "q p", "y", {})],
                last | {"n": np.int64([step - 2]), "e": np.int64([2 ** 31]), "k": np.int64([step])}, sizes)
    for width in (8, 40, 96):
        yield f"numbers turned in pairs, {width}", chain([2, 5, width], [
            ("Slice", "x zero e last two", "p", {}), ("Slice", "x one e last two", "q", {}), ("Mul", "p c", "f", {}),
            ("Mul", "q d", "g", {}), ("Sub", "f g", "h", {}), ("Mul", "p d", "i", {}), ("Mul", "q c", "j", {}),
            ("Add", "i j", "k", {}), ("Unsqueeze", "h last", "u", {}), ("Unsqueeze", "k last", "v", {}),
            ("Concat", "u v", "o", {"axis": -1}), ("Reshape", "o s", "y", {})],
            {"zero": np.int64([0]), "one": np.int64([1]), "two": np.int64([2]), "e": np.int64([2 ** 31]), "last": np.int64([-1]),
             "c": normal(5, width // 2), "d": normal(5, width // 2, seed=6), "s": np.int64([0, 0, -1])})
    yield "two reductions of one input", chain([6, 40], [
        ("ReduceMax", "x a", "p", {}), ("ReduceMean", "x a", "q", {}), ("Sub", "p q", "y", {})], {"a": np.int64([1])})


def shifted_windows():
    """Arithmetic between slices that begin elsewhere and have one length, whatever that is; and their like."""
    ints = {str(k): np.int64([k]) for k in range(-2, 3)} | {"all": np.int64([2 ** 31 - 1]), "end": np.int64([2 ** 63 - 1])}
    rows = [[3, size] for size in (0, 1, 2, 3, 4, 5, 9)]
    yield "second differences of a row of any length", chain([3, "t"], [
        ("Slice", "x 2 end 1", "a", {}), ("Slice", "x 0 -2 1", "b", {}), ("Slice", "x 1 -1 1", "c", {}),
        ("Add", "a b", "d", {}), ("Sub", "d c", "e", {}), ("Sub", "e c", "y", {})], ints, rows)
    yield "a row of any length less the one before", chain([3, "t"], [
        ("Slice", "x -1 all 1", "a", {}), ("Slice", "x 0 -1 1", "b", {}), ("Concat", "a b", "c", {"axis": 1}),
        ("Sub", "x c", "y", {})], ints, rows)
    for pads, window in (([0, 1, 0, 0], "x 0 -1 1"), ([0, 0, 0, 1], "x 1 all 1")):
        yield f"a row of any length and its shift, {pads}", chain([3, "t"], [
            ("Slice", window, "a", {}), ("Pad", "a p", "b", {}), ("Mul", "b b", "c", {}), ("Add", "c x", "y", {})],
            ints | {"p": np.int64(pads)}, rows)
    images = [[1, 2, *image] for image in ((1, 3), (2, 2), (3, 1), (3, 4), (5, 9), (17, 35))]
    for count in (1, 2):
        lists = {"p": np.int64([0, 0, count, count] * 2), "low": np.int64([2]), "high": np.int64([3])}
        lists |= {f"{k}": np.int64([k * count]) for k in range(-2, 3)}
        for mode in ("constant", "edge"):
            yield f"windows of an image of any size, {count}, {mode}", chain([1, 2, "h", "w"], [
                ("Pad", "x p", "z", {"mode": mode}), ("Slice", "z 0 -2 low", "n", {}), ("Slice", "n 1 -1 high", "u", {}),
                ("Slice", "z 2 all low", "m", {}), ("Slice", "m 1 -1 high", "v", {}), ("Slice", "z 1 -1 low", "k", {}),
                ("Slice", "k 0 -2 high", "l", {}), ("Slice", "k 2 end high", "r", {}), ("Sub", "u v", "f", {}),
                ("Sub", "l r", "g", {}), ("Mul", "f g", "q", {}), ("Max", "q x", "y", {})], ints | lists, images)


def boxes():
    """Elements of x[:, :, 1:, 2:], named one by one as exporters name them."""
    starts = [0, 0, 1, 2]
    weights = {f"start{k}": np.int64([start]) for k, start in enumerate(starts)}
    weights |= {f"column{k}": np.int64([-1] + [1] * (3 - k)) for k in range(4)}
    weights |= {f"axis{k}": np.int64(k) for k in range(4)}
    weights |= {"end": np.int64([2 ** 62]), "last": np.int64([-1]), "zero": np.int64(0), "one": np.int64(1)}
    nodes = [("Shape", "x", "sizes", {})]
    for k in range(4):
        nodes += [("Gather", f"sizes axis{k}", f"size{k}", {}), ("Range", f"zero size{k} one", f"range{k}", {}),
                  ("Slice", f"range{k} start{k} end", f"part{k}", {}), ("Reshape", f"part{k} column{k}", f"grid{k}", {})]
    nodes += [("Add", "grid0 grid1", "sum1", {}), ("Add", "sum1 grid2", "sum2", {}), ("Add", "sum2 grid3", "sum", {}),
              ("Shape", "sum", "box", {})]
    for k in range(4):
        nodes += [("Expand", f"grid{k} box", f"all{k}", {}), ("Unsqueeze", f"all{k} last", f"name{k}", {})]
    nodes += [("Concat", "name0 name1 name2 name3", "i", {"axis": -1}), ("GatherND", "x i", "g", {})]
    for shape, sizes in (([2, 3, 6, 7], None), (["n", 3, 6, 7], [[2, 3, 6, 7], [1, 3, 6, 7]])):
        yield f"GatherND of a box of {shape}", chain(shape, nodes + [("Neg", "g", "y", {})], weights, sizes)
        for reduction in ("none", "add", "max"):
            scatter = [("Mul", "g g", "u", {}), ("Neg", "x", "d", {}),
                       ("ScatterND", "d i u", "y", {"reduction": reduction})]
            yield f"ScatterND of a box of {shape}, {reduction}", chain(shape, nodes + scatter, weights, sizes)


def chains():
    yield "a product that is normalized in f32", chain([None, 24], [
        ("Cast", "x", "d", {"to": 11}), ("MatMul", "d w", "m", {}), ("LayerNormalization", "m s", "n", {}),
        ("Cast", "n", "y", {"to": 1})], {"w": normal(24, 10).astype(np.float64), "s": np.ones(10)}, [[1, 24], [17, 24]])
    for op, count in (("Pad", 4), ("Tile", 2), ("CenterCropPad", 2)):
        yield f"{op}, a list of a length that the run knows", chain([4, 5], [
            ("Equal", "x x", "t", {}), ("NonZero", "t", "n", {}), ("Slice", "n zero count one", "r", {}),
            ("ReduceMax", "r zero", "m", {"keepdims": 0}), ("Add", "m one", "l", {}), (op, "x l", "y", {})],
            {"zero": np.int64([0]), "one": np.int64([1]), "count": np.int64([count])})
    yield "ScatterND, an index of a length that the run knows", chain([4, 5], [
        ("Equal", "x x", "t", {}), ("NonZero", "t", "n", {}), ("Slice", "n zero one one", "i", {}),
        ("ScatterND", "x i u", "y", {"reduction": "add"})],
        {"zero": np.int64([0]), "one": np.int64([1]), "u": normal(2, 5)})
    for reduction in ("none", "add", "max"):  # slices, one of them twice
        for shape, sizes in (([6, 3, 21], None), (["a", 3, "b"], [[6, 3, 21], [4, 3, 1]])):
            yield f"ScatterND of slices of {shape}, {reduction}", chain(shape, [
                ("Slice", "x zero three zero", "s", {}), ("Neg", "s", "u", {}),
                ("ScatterND", "x i u", "y", {"reduction": reduction})],
                {"zero": np.int64([0]), "three": np.int64([3]), "i": np.int64([[3], [-1], [3]])}, sizes)
        yield f"ScatterND of rows, {reduction}", chain([4, 5, 1], [("ScatterND", "x i u", "y", {"reduction": reduction})],
                                                       {"i": np.int64([[1, 4], [3, 0]]), "u": normal(2, 1)})
    for exclusive in (0, 1):
        for reverse in (0, 1):
            for shape, axis, sizes in (([5, 40], 0, None), ([3, 6, 5, 7], 1, None), ([3, 70001], -2, None),
                                       ([1, 33], 0, None), (["a", 4, "b"], 1, [[2, 4, 37], [3, 4, 1], [1, 4, 70001]]),
                                       (["a", "n", "b"], 1, [[2, 5, 37], [3, 1, 1], [2, 0, 9], [2, 3, 0]])):
                yield f"CumSum of {shape} along {axis}, exclusive {exclusive}, reverse {reverse}", chain(shape, [
                    ("CumSum", "x a", "y", {"exclusive": exclusive, "reverse": reverse})], {"a": np.int64(axis)}, sizes)
    gelu = [("Div", "x r", "a", {}), ("Erf", "a", "e", {}), ("Add", "e one", "f", {}), ("Mul", "x f", "g", {}),
            ("Mul", "g half", "y", {})]
    for shape, axes in (([9, 21, 40], [0]), ([9, 21, 40], [0, 1]), ([9, 21, 40], [1]), ([9, 21, 40], [0, 2]), ([70, 3], [0])):
        yield f"ReduceLogSumExp of {shape} over {axes}", chain(shape, [
            ("ReduceLogSumExp", "x a", "y", {"keepdims": 1})], {"a": np.int64(axes)})
    for kind in ("ReduceMax", "ReduceMin", "ReduceSumSquare", "ReduceL1"):
        for columns in (1, 3, 13, 24, 40):
            for rows in (3, 15, 42, "n"):
                yield f"{kind} of {rows} rows of {columns} columns", chain([2, rows, columns], [
                    (kind, "x a", "y", {"keepdims": 1})], {"a": np.int64([1])},
                    [[2, count, columns] for count in ((1, 5, 42) if rows == "n" else (rows,))])
        yield f"{kind} over the outer and the last of 20x70x390", chain([20, 70, 390], [
            (kind, "x a", "y", {"keepdims": 1})], {"a": np.int64([0, 2])})
    for equation in ("ij,ij->i", "ij,ij->j"):
        for columns in (5, 40):
            yield f"weighted sum {equation} of {columns} columns", chain([30, columns], [
                ("Einsum", "x w", "y", {"equation": equation})], {"w": normal(30, columns, seed=5)}, ranks=1)
    yield "GELU", chain([7, 33], gelu, {"r": np.float32(2 ** 0.5), "one": np.float32(1), "half": np.float32(0.5)})
    yield "SiLU of a product", chain([7, 33], [("MatMul", "x w", "m", {}), ("Sigmoid", "m", "s", {}),
                                              ("Mul", "m s", "y", {})], {"w": normal(33, 21)})
    yield "residual of two convolutions", chain([1, 16, 9, 9], [
        ("Conv", "x u", "a", {"pads": [1] * 4}), ("Relu", "a", "b", {}), ("Conv", "b v", "c", {"pads": [1] * 4}),
        ("Add", "c x", "d", {}), ("Relu", "d", "e", {}), ("Conv", "e u", "f", {"pads": [1] * 4}),
        ("Add", "f e", "y", {})], {"u": normal(16, 16, 3, 3, scale=0.1), "v": normal(16, 16, 3, 3, seed=8, scale=0.1)})
    for op in ("MaxPool", "AveragePool"):
        for name, attributes in (("", {}), (", stride 2, pads", {"strides": [2, 2], "pads": [1] * 4})):
            yield f"{op}{name}", chain([1, 20, 13, 13], [(op, "x", "y", {"kernel_shape": [3, 3], **attributes})])
    for perm in ([0, 2, 3, 1], [0, 3, 1, 2], [3, 2, 1, 0], [1, 0, 2, 3]):
        yield f"Transpose {perm}", chain([3, 18, 20, 17], [("Transpose", "x", "y", {"perm": perm})])
    yield from turned_tiles()
    yield from scaled_channels()
    yield "normalized convolution between transposes", chain([1, 32, 14, 14], [
        ("Conv", "x w d", "c", {"group": 32, "pads": [3] * 4}), ("Transpose", "c", "t", {"perm": [0, 2, 3, 1]}),
        ("LayerNormalization", "t s o", "n", {}), ("MatMul", "n u", "m", {}), ("Add", "m b", "g", {}),
        ("Transpose", "g", "y", {"perm": [0, 3, 1, 2]})],
        {"w": normal(32, 1, 7, 7, scale=0.1), "d": normal(32), "s": normal(32), "o": normal(32, seed=5),
         "u": normal(32, 64, scale=0.2), "b": normal(64)})
    yield "squeeze and excite", chain([1, 24, 10, 10], [
        ("Conv", "x w", "c", {}), ("GlobalAveragePool", "c", "p", {}), ("Conv", "p d", "q", {}), ("Relu", "q", "r", {}),
        ("Conv", "r u", "s", {}), ("Sigmoid", "s", "t", {}), ("Mul", "c t", "y", {})],
        {"w": normal(24, 24, 1, 1, scale=0.2), "d": normal(6, 24, 1, 1, scale=0.2), "u": normal(24, 6, 1, 1)})


def scaled_channels():
    """Factors of an image that a convolution reads: for each channel, for channels of each image, for pixels."""
    for name, shape, factors, filters, window in (
            ("channels", [1, 24, 14, 14], [2, 3], 8, 1), ("channels, filters of no whole vector", [1, 20, 20, 13], [2, 3], 5, 1),
            ("channels of each image", [2, 24, 14, 14], [2, 3], 8, 1), ("pixels", [1, 24, 14, 14], [1], 8, 1),
            ("all", [1, 24, 14, 14], [1, 2, 3], 8, 1), ("rows", [1, 24, 14, 14], [1, 3], 8, 1),
            ("channels of a larger window", [1, 24, 14, 14], [2, 3], 8, 3)):
        yield f"factors for {name}", chain(shape, [
            ("Conv", "x v", "i", {}), ("ReduceMean", "i axes", "m", {}), ("Sigmoid", "m", "s", {}), ("Mul", "s i", "z", {}),
            ("Conv", "z w b", "c", {"pads": [window // 2] * 4}), ("Relu", "c", "y", {})],
            {"v": normal(shape[1], shape[1], 1, 1, scale=0.2), "axes": np.int64(factors), "b": normal(filters),
             "w": normal(filters, shape[1], window, window, scale=0.2)})


def turned_tiles():
    """Dimensions that are smaller than a vector, as large, and a little larger, at either side of a transpose."""
    for n in (2, 3, 4, 5, 7, 8, 12, 15, 16, 17):
        for m in (16, 23, 40):
            yield f"Transpose, {n} rows of {m}", chain([3, n, m], [("Transpose", "x", "y", {"perm": [0, 2, 1]})])
            yield f"Transpose, {m} rows of {n}", chain([3, m, n], [("Transpose", "x", "y", {"perm": [0, 2, 1]})])
    for n in (9, 13, 14, 20):
        yield f"Transpose, {n} rows of 333", chain([n, 333], [("Transpose", "x", "y", {"perm": [1, 0]})])
    for n in (*range(1, 19), 23, 31):
        yield f"Transpose of runs of {n}", chain([6, 4, n], [("Transpose", "x", "y", {"perm": [1, 0, 2]})])
        yield f"Transpose and sum of runs of {n}", chain([6, 4, n], [
            ("Transpose", "x", "t", {"perm": [1, 0, 2]}), ("Add", "t w", "y", {})], {"w": normal(6, 1)})
    for shape, perm in (([5, 2, 16, 2], [0, 2, 1, 3]), ([2, 20, 12, 2, 2], [0, 3, 1, 4, 2]), ([3, 11, 13, 7], [3, 2, 1, 0]),
                        ([2, 3, 4, 5, 6], [4, 3, 2, 1, 0]), ([2, 9, 24, 1, 3, 3], [0, 3, 1, 4, 2, 5]),
                        ([4, 40, 2, 2, 2], [0, 3, 2, 1, 4])):
        yield f"Transpose {perm} of {shape}", chain(shape, [("Transpose", "x", "y", {"perm": perm})])
    for block in (2, 3, 4):
        for mode in ("DCR", "CRD"):
            yield f"DepthToSpace {block} {mode}", chain([2, block * block * 3, 5, 21], [
                ("DepthToSpace", "x", "y", {"blocksize": block, "mode": mode})])
        yield f"SpaceToDepth {block}", chain([2, 3, block * 4, block * 19], [
            ("SpaceToDepth", "x", "y", {"blocksize": block})])
    yield "blocks of channels behind a convolution", chain([1, 16, 6, 18], [
        ("Conv", "x w", "c", {}), ("DepthToSpace", "c", "y", {"blocksize": 2, "mode": "CRD"})],
        {"w": normal(32, 16, 1, 1, scale=0.2)})
    yield "Transpose and sum", chain([3, 21, 19], [
        ("Transpose", "x", "t", {"perm": [0, 2, 1]}), ("Exp", "w", "e", {}), ("Add", "t e", "y", {})],
        {"w": normal(3, 19, 21)})
    yield "Transpose and sum in place", chain([21, 21], [
        ("Transpose", "x", "t", {"perm": [1, 0]}), ("Exp", "x", "e", {}), ("Add", "t e", "s", {}), ("Add", "s b", "y", {})],
        {"b": normal(21)})
    for n, m in ((17, 5), (16, 3), (40, 2), (21, 7)):
        yield f"a column for rows of {m}", chain([3, 4, n, m], [("Mul", "x w", "y", {})], {"w": normal(n, 1)})
    for perm in ([0, 2, 1], [2, 0, 1]):
        yield f"Transpose {perm}, sizes of the run", chain(["a", "b", "c"], [("Transpose", "x", "y", {"perm": perm})],
                                                           sizes=[[2, 3, 40], [2, 40, 3], [1, 16, 17], [3, 33, 19]])
    yield "Transpose, few rows of the run of 17", chain([2, "b", 17], [("Transpose", "x", "y", {"perm": [0, 2, 1]})],
                                                        sizes=[[2, 1, 17], [2, 5, 17], [2, 40, 17]])
    for perm in ([0, 2, 1], [2, 1, 0], [2, 0, 1]):
        yield f"Transpose {perm}, few rows of the run", chain(
            ["b", "n", "m"], [("Transpose", "x", "y", {"perm": perm})],
            sizes=[[b, n, m] for b in (0, 1, 2) for n, m in ((15, 40), (40, 15), (9, 33), (5, 50), (7, 4), (3, 17), (20, 37))])
    yield "Transpose of images of the run", chain(
        ["b", 3, "h", "w"], [("Transpose", "x", "y", {"perm": [2, 3, 0, 1]})],
        sizes=[[5, 3, 9, 13], [1, 3, 9, 13], [2, 3, 8, 8], [7, 3, 1, 5], [4, 3, 0, 5], [3, 3, 2, 2]])
    yield "Transpose of numbers of 64 bits, few rows of the run", chain(["n", "m"], [
        ("Cast", "x", "d", {"to": TensorProto.DOUBLE}), ("Transpose", "d", "t", {"perm": [1, 0]}),
        ("Cast", "t", "y", {"to": TensorProto.FLOAT})], sizes=[[n, m] for n in (2, 3, 5, 7, 8, 9) for m in (3, 17)])
    yield "Transpose of numbers of 8 bits", chain([2, 3, 45], [
        ("Cast", "x", "i", {"to": TensorProto.INT8}), ("Transpose", "i", "t", {"perm": [0, 2, 1]}),
        ("Cast", "t", "y", {"to": TensorProto.FLOAT})])


def selections():
    """Values of few digits, so that equal ones occur; places follow values in one tensor."""
    def topk(shape, k, sizes=None, **attributes):
        ranked = [("Round", "x", "r", {}), ("TopK", "r k", "v i", attributes), ("Cast", "i", "p", {"to": 1}),
                  ("Concat", "v p", "y", {"axis": 0})]
        return chain(shape, ranked, {"k": np.int64([k])}, sizes)
    yield "TopK", topk([7, 50], 4)
    yield "TopK of one", topk([7, 50], 1)
    yield "TopK of one, the smallest", topk([7, 50], 1, largest=0)
    yield "TopK of one of any rows", topk(["rows", 33], 1, sizes=[[1, 33], [5, 33]])
    for axis in (0, 1):
        yield f"TopK of axis {axis}, any columns", topk(
            ["a", "b", "c"], 5, [[9, 7, c] for c in (1, 3, 4, 7, 8, 15, 16, 17, 40)], axis=axis)
    yield "TopK of an axis between", topk([3, 40, 5], 6, axis=1)
    yield "TopK, the smallest", topk([4, 33], 5, largest=0)
    yield "TopK of all", topk([3, 20], 20)
    yield "TopK of many", topk([3, 301], 10)
    yield "TopK of many, the smallest", topk([3, 301], 13, largest=0)
    yield "TopK of many, more than a vector", topk([3, 301], 20)
    yield "TopK of many, more than two vectors", topk([2, 301], 40, largest=0)
    yield "TopK of many, more than any vectors", topk([2, 301], 70)
    yield "TopK of all, more than any vectors", topk([2, 301], 301)
    yield "TopK of many, most of them, the smallest", topk([3, 333], 200, largest=0)
    yield "TopK of equal ones", chain([2, 150], [
        ("Clip", "x low low", "r", {}), ("TopK", "r k", "v i", {}), ("Cast", "i", "p", {"to": 1}),
        ("Concat", "v p", "y", {"axis": 0})], {"low": np.float32(-0.0), "k": np.int64([100])})
    for k in (20, 100, 120, 150):  # ranked, too many to be ranked, sorted by digits
        for largest in (0, 1):
            yield f"TopK of long rows, {k} {'largest' if largest else 'smallest'}", topk([2, 1250], k, largest=largest)
        yield f"TopK of long rows, {k}, few of them positive", chain([2, 1250], [
            ("Sub", "x much", "s", {}), ("Relu", "s", "r", {}), ("TopK", "r k", "v i", {}),
            ("Cast", "i", "p", {"to": 1}), ("Concat", "v p", "y", {"axis": 0})],
            {"much": np.float32(1.8), "k": np.int64([k])})
    yield "TopK across vectors", topk([3, 40, 21], 6, axis=1)
    yield "TopK across vectors, the smallest", topk([50, 16], 8, axis=0, largest=0)
    yield "TopK across vectors, of all", topk([2, 5, 3, 33], 5, axis=1)
    yield "TopK of rows apart, as many as vectors", topk([3, 140, 9], 20, axis=1)
    yield "TopK of rows apart, sorted, the smallest", topk([150, 6], 90, axis=0, largest=0)
    yield "TopK of rows apart, sizes of the run", chain(["n", 60, "m"], [
        ("Round", "x", "r", {}), ("TopK", "r k", "y i", {"axis": 1})], {"k": np.int64([12])},
        sizes=[[1, 60, 1], [2, 60, 7], [3, 60, 40]])
    for op in ("ArgMax", "ArgMin"):
        for last in (0, 1):
            yield f"{op} along vectors, last: {last}", chain([6, 133], [
                ("Round", "x", "r", {}), (op, "r", "i", {"axis": 1, "select_last_index": last}),
                ("Cast", "i", "y", {"to": 1})])
    yield "TopK, sizes of the run", chain(["rows", "n"], [("Round", "x", "r", {}), ("TopK", "r k", "y i", {})],
                                          {"k": np.int64([6])}, sizes=[[2, 6], [3, 40], [1, 333]])
    yield "TopK of every third", chain([4, 99], [
        ("Slice", "x from to axis step", "s", {}), ("TopK", "s k", "y i", {})],
        {"from": np.int64([1]), "to": np.int64([99]), "axis": np.int64([1]), "step": np.int64([3]), "k": np.int64([5])})
    back = {"from": np.int64([-1]), "to": np.int64([-1000]), "axis": np.int64([-1]), "step": np.int64([-1])}
    for kind in ("FLOAT", "FLOAT16", "INT8", "INT64", "DOUBLE"):
        backwards = [("Cast", "x", "c", {"to": TensorProto.DataType.Value(kind)}), ("Slice", "c from to axis step", "s", {}),
                     ("Cast", "s", "y", {"to": 1})]
        for size in (5, 16, 37, 64):
            yield f"rows of {size} backwards, {kind}", chain([3, 4, size], backwards, back)
        yield f"rows of any length backwards, {kind}", chain(
            [2, "n"], backwards, back, [[2, n] for n in (0, 1, 7, 8, 15, 16, 17, 33, 100)])
    for low in (1, 3, 40):
        yield f"rows backwards from {low}, and what they are added to", chain([5, 61], [
            ("Slice", "x from to axis step", "s", {}), ("Slice", "x low to2 axis one", "t", {}), ("Exp", "s", "e", {}),
            ("Add", "e t", "y", {})],
            back | {"to": np.int64([low - 1]), "low": np.int64([low]), "to2": np.int64([61]), "one": np.int64([1])})
    for name, shape, k, attributes in (("", [3, 70], 7, {}), (", more than any vectors", [3, 90], 75, {}),
                                       (" across vectors", [30, 20], 4, {"axis": 0}),
                                       (" across vectors, of all", [6, 20], 6, {"axis": 0, "largest": 0})):
        yield f"TopK of integers{name}", chain(shape, [
            ("Mul", "x much", "t", {}), ("Cast", "t", "n", {"to": 6}), ("TopK", "n k", "v i", attributes),
            ("Cast", "v", "p", {"to": 1}), ("Cast", "i", "q", {"to": 1}), ("Concat", "p q", "y", {"axis": 0})],
            {"much": np.float32(10 if k == 7 else 4e8), "k": np.int64([k])})
    for op in ("ArgMax", "ArgMin"):
        for last in (0, 1):
            yield f"{op} of columns, {'last' if last else 'first'}", chain([6, 21, 37], [
                ("Round", "x", "r", {}), (op, "r", "i", {"axis": 1, "select_last_index": last}),
                ("Cast", "i", "y", {"to": 1})])


def different_elements():
    """Values, first positions, positions among them, and counts in one tensor."""
    def unique(shape, element, much, sizes=None, **attributes):
        return chain(shape, [
            ("Mul", "x much", "m", {}), ("Round", "m", "r", {}), ("Cast", "r", "e", {"to": element}),
            ("Unique", "e", "u f i c", attributes), *[("Cast", a, a + "0", {"to": 1}) for a in "ufic"],
            ("Reshape", "u0 all", "v", {}), ("Concat", "v f0 i0 c0", "y", {"axis": 0})],
            {"much": np.float32(much), "all": np.int64([-1])}, sizes, ranks=1)
    for element in (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT8, TensorProto.INT64):
        for sorted in (0, 1):
            for much in (1, 40):
                yield f"Unique of {TensorProto.DataType.Name(element)}, sorted: {sorted}, up to {much}", unique(
                    ["n"], element, much, [[n] for n in (1, 2, 7, 300)], sorted=sorted)
    for sorted in (0, 1):
        yield f"Unique of a matrix, sorted: {sorted}", unique([9, 33], TensorProto.FLOAT, 3, sorted=sorted)
        yield f"Unique of many, sorted: {sorted}", unique([3000], TensorProto.FLOAT, 1e4, sorted=sorted)
        yield f"Unique of rows, sorted: {sorted}", unique([40, 2], TensorProto.FLOAT, 1, sorted=sorted, axis=0)
        yield f"Unique of none, sorted: {sorted}", unique(["n"], TensorProto.FLOAT, 1, [[0], [3]], sorted=sorted)


def kept_slices():
    """Compress: the slices of an axis, in front of others and behind."""
    for shape, axis in (([20, 33], 0), ([20, 33], 1), ([3, 20, 7], 1), ([20], 0), ([4, 5, 20], 2), ([6, 7], None)):
        size = shape[axis] if axis is not None else 42
        attributes = {} if axis is None else {"axis": axis}
        for name, kept in (("", size), (" of a shorter condition", size - 3)):
            condition = normal(kept, seed=9) > 0
            for form in ("known", "of the run"):
                sizes = None if form == "known" else [shape]
                given = shape if form == "known" else [f"d{i}" for i in range(len(shape))]
                yield f"Compress {shape} along {axis}{name}, sizes {form}", chain(
                    given, [("Compress", "x c", "k", attributes), ("Add", "k k", "y", {})], {"c": condition}, sizes,
                    ranks=None if attributes else 1)
    for shape in ([0, 5], [5, 0]):
        yield f"Compress of nothing {shape}", chain(["a", "b"], [("Compress", "x c", "y", {"axis": 0})],
                                                    {"c": np.zeros(0, bool)}, [shape])


def computed_positions():
    """Elements read where a table says: rows of vectors, windows of vectors, single ones."""
    def resize(shape, scales, mode, **attributes):
        nodes = [("Resize", "x - scales", "y", {"mode": mode, **attributes})]
        return chain(shape, nodes, {"scales": np.float32(scales)})
    for mode in ("nearest", "linear", "cubic"):
        yield f"Resize {mode}, twice as large", resize([1, 3, 17, 33], [1, 1, 2, 2], mode)
        yield f"Resize {mode}, by a fraction", resize([2, 3, 20, 50], [1, 1, 1.25, 1.75], mode)
        yield f"Resize {mode}, smaller", resize([1, 3, 20, 50], [1, 1, 0.75, 0.375], mode)
        if mode != "nearest":
            yield f"Resize {mode}, smaller and smooth", resize([1, 3, 20, 50], [1, 1, 0.75, 0.375], mode, antialias=1)
            yield f"Resize {mode}, much smaller and smooth", resize([1, 3, 50, 60], [1, 1, 0.25, 0.05], mode, antialias=1)
        for width in (7, 17, 30, 200):
            for scale in (0.5, 0.4, 0.3125):
                yield f"Resize {mode} of {width} columns by {scale}", resize([2, 3, 6, width], [1, 1, 1.5, scale], mode)
        yield f"Resize {mode}, rows shorter than a vector", resize([1, 3, 5, 3], [1, 1, 4, 9], mode)
    yield "Resize of corners", resize([1, 2, 9, 40], [1, 1, 3, 3], "linear",
                                      coordinate_transformation_mode="align_corners")
    yield "Resize between convolutions", chain([1, 12, 9, 11], [
        ("Conv", "x w", "c", {}), ("Resize", "c - scales", "r", {"mode": "nearest"}), ("Conv", "r w", "y", {})],
        {"w": normal(12, 12, 1, 1, scale=0.2), "scales": np.float32([1, 1, 2, 2])})
    for width in (64, 21, 5):
        yield f"Gather of rows of {width}", chain([30, width], [("Gather", "x i", "y", {})], {"i": np.int64([3, -1, 0, 29])})
    yield "Gather of columns", chain([7, 40], [("Gather", "x i", "y", {"axis": 1})], {"i": np.int64([39, -2, 0, 5])})


def resized_images():
    """Images of any size, channels in front. A scale of the run may be far from what is usual."""
    images = [[2, 3, height, width] for height, width in ((1, 1), (3, 9), (5, 15), (9, 16), (4, 31), (12, 70))]
    for mode in ("nearest", "linear", "cubic"):
        for scale in (0.3, 0.5, 1.5, 2, 3):
            yield f"Resize, any image, {mode}, by {scale}", chain(
                [2, 3, "h", "w"], [("Resize", "x - s", "y", {"mode": mode})], {"s": np.float32([1, 1, scale, scale])},
                images[1:])
        for wider, narrower in ((1, 5), (5, 1), (3, 2)):
            yield f"Resize, any image, {mode}, to {wider} / {narrower} of its size", chain(
                [2, 3, "h", "w"], [("Shape", "x", "n", {}), ("Mul", "n m", "p", {}), ("Div", "p d", "s", {}),
                                   ("Resize", "x - - s", "y", {"mode": mode})],
                {"m": np.int64([1, 1, wider, wider]), "d": np.int64([1, 1, narrower, narrower])},
                images if narrower == 1 else images[3:4] + images[5:])


    for channels in (1, 3, 20):
        for mode in ("linear", "cubic"):
            turned = [("Transpose", "x", "t", {"perm": [0, 3, 1, 2]}), ("Resize", "t - - s", "y", {"mode": mode})]
            to = {"s": np.int64([2, channels, 7, 10])}
            yield f"Resize, channels last, {channels} of them, {mode}", chain([2, 13, 37, channels], turned, to)
            yield f"Resize, any image, channels last, {channels} of them, {mode}", chain(
                [2, "h", "w", channels], turned, to, [[2, *image[2:], channels] for image in images])


def heads():
    """Attentions that count channels through the heads first, 3 of 8, with projections around them."""
    weights = {f"w{i}": normal(24, 24, seed=i, scale=0.3) for i in range(4)}
    weights |= {"b": normal(24), "s": np.int64([0, 0, 8, 3]), "m": np.int64([0, 0, 24])}
    for name, length in (("", 9), (", any length", "l")):
        sizes = [[2, size, 24] for size in ((9,) if length == 9 else (1, 7, 33))]
        yield f"heads innermost{name}", chain([2, length, 24], [
            ("MatMul", "x w0", "q0", {}), ("Add", "q0 b", "q1", {}), ("Reshape", "q1 s", "q2", {}),
            ("Transpose", "q2", "q", {"perm": [0, 3, 1, 2]}),
            ("MatMul", "x w1", "k0", {}), ("Reshape", "k0 s", "k1", {}), ("Transpose", "k1", "k", {"perm": [0, 3, 2, 1]}),
            ("MatMul", "x w2", "v0", {}), ("Reshape", "v0 s", "v1", {}), ("Transpose", "v1", "v", {"perm": [0, 3, 1, 2]}),
            ("MatMul", "q k", "l", {}), ("Softmax", "l", "p", {}), ("MatMul", "p v", "o", {}),
            ("Transpose", "o", "t", {"perm": [0, 2, 3, 1]}), ("Reshape", "t m", "c", {}), ("MatMul", "c w3", "y", {})],
            weights, sizes)
        columns = {name: array[..., None] if name.startswith("w") else array for name, array in weights.items()}
        columns |= {"s": np.int64([0, 8, 3, -1]), "m": np.int64([0, 24, -1])}
        yield f"heads innermost, Einsum{name}", chain([2, 24, length], [
            ("Conv", "x w0 b", "q0", {}), ("Reshape", "q0 s", "q", {}), ("Conv", "x w1", "k0", {}), ("Reshape", "k0 s", "k", {}),
            ("Conv", "x w2", "v0", {}), ("Reshape", "v0 s", "v", {}),
            ("Einsum", "q k", "l", {"equation": "bdhn,bdhm->bhnm"}), ("Softmax", "l", "p", {}),
            ("Einsum", "p v", "o", {"equation": "bhnm,bdhm->bdhn"}), ("Reshape", "o m", "c", {}), ("Conv", "c w3", "y", {})],
            columns, [[size[0], 24, size[1]] for size in sizes])
        yield f"queries that are keys{name}", chain([2, 24, length], [
            ("Conv", "x w0 b", "q0", {}), ("Reshape", "q0 s", "q", {}), ("Transpose", "q", "t", {"perm": [0, 2, 1, 3]}),
            ("Einsum", "q q", "l", {"equation": "bdhn,bdhm->bhnm"}), ("MatMul", "t l", "y", {})],
            columns, [[size[0], 24, size[1]] for size in sizes], ranks=4)
        for size in (256, 80) if length == 9 else ("l",):
            yield f"attention of channels first{name}, {size} long", chain([2, 3, 32, size], [
                ("Sigmoid", "x", "k", {}), ("Einsum", "x k", "s", {"equation": "bhdi,bhdj->bhij"}), ("Softmax", "s", "p", {}),
                ("Einsum", "p k", "y", {"equation": "bhij,bhdj->bhid"})], {},
                [[2, 3, 32, n] for n in ((size,) if size != "l" else (1, 64, 130))])
        for channels in (24, 12, 0):
            yield f"attention of {channels} channels first, and of the result{name}", chain([2, 3, channels, length], [
                ("Sigmoid", "x", "k", {}), ("Einsum", "x k", "s", {"equation": "bhdi,bhdj->bhij"}), ("Softmax", "s", "p", {}),
                ("Einsum", "p k", "y", {"equation": "bhij,bhdj->bhdi"})], {},
                [[2, 3, channels, n] for n in ((length,) if length != "l" else (1, 64, 130))])
        yield f"scores whose rows are neither first nor last{name}", chain([length, 3, 5, 8], [
            ("Einsum", "x x", "s", {"equation": "ihbd,jhbd->hjib"}), ("Softmax", "s", "p", {"axis": 1}),
            ("Einsum", "p x", "y", {"equation": "hjib,jhbd->bihd"})], {},
            [[n, 3, 5, 8] for n in ((length,) if length != "l" else (1, 2, 16, 33))])
        yield f"scores with their heads innermost{name}", chain([2, length, 3, 32], [
            ("Einsum", "x x", "s", {"equation": "bihd,bjhd->bijh"}), ("Softmax", "s", "p", {"axis": 2}),
            ("Einsum", "p x", "y", {"equation": "bijh,bjhd->bihd"})], {},
            [[2, n, 3, 32] for n in ((length,) if length != "l" else (1, 64, 130))])
        yield f"values by shares that are turned{name}", chain([3, 32, length], [
            ("Transpose", "x", "q", {"perm": [0, 2, 1]}), ("MatMul", "q x", "s", {}), ("Softmax", "s", "p", {}),
            ("Transpose", "p", "t", {"perm": [0, 2, 1]}), ("MatMul", "x t", "y", {})], {},
            [[3, 32, n] for n in ((length,) if length != "l" else (1, 64, 130))])
        parts = {"w": normal(24, 72, scale=0.3), "s": np.int64([0, 0, 3, 8, 3]), "out": np.int64([-1]), "m": np.int64([0, 0, 24]),
                 **{f"at{i}": np.int64(i) for i in range(4)}, **{f"from{i}": np.int64([i]) for i in range(4)}}
        takers = {"Gather": [("Gather", f"r at{i}", f"{part}1", {"axis": -1}) for i, part in enumerate("qkv")],
                  "Split": [("Split", "r", "q0 k0 v0", {"axis": -1, "num_outputs": 3}),
                            *(("Squeeze", f"{part}0 out", f"{part}1", {}) for part in "qkv")],
                  "Slice": [node for i, part in enumerate("qkv") for node in (
                      ("Slice", f"r from{i} from{i + 1} out", f"{part}0", {}), ("Squeeze", f"{part}0 out", f"{part}1", {}))]}
        for taker, taken in takers.items():
            for turned in ("before", "behind"):
                turns = [("Transpose", f"{part}1", part, {"perm": [0, 2, 1, 3]}) for part in "qkv"]
                first = [("MatMul", "x w", "z", {}), ("Reshape", "z s", "r", {})]
                if turned == "before":
                    turns = [("Identity", f"{part}1", part, {}) for part in "qkv"]
                    first = [("MatMul", "x w", "z", {}), ("Reshape", "z s", "u", {}), ("Transpose", "u", "r", {"perm": [0, 2, 1, 3, 4]})]
                yield f"queries, keys and values innermost, {taker}, turned {turned}{name}", chain([2, length, 24], [
                    *first, *taken, *turns, ("Transpose", "k", "t", {"perm": [0, 1, 3, 2]}), ("MatMul", "q t", "l", {}),
                    ("Softmax", "l", "p", {}), ("MatMul", "p v", "o", {}), ("Transpose", "o", "h", {"perm": [0, 2, 1, 3]}),
                    ("Reshape", "h m", "y", {})], parts, sizes)


def repeated_queries():
    queries = [("Shape", "x", "n", {"start": 0, "end": 1}), ("Concat", "n rest", "sizes", {"axis": 0}),
               ("Expand", "q sizes", "e", {}), ("MatMul", "e w", "m", {}), ("Add", "m c", "a", {}), ("Erf", "a", "g", {}),
               ("Transpose", "g", "t", {"perm": [1, 0, 2]}),
               ("Einsum", "t v", "h", {"equation": "ibh,hnd->bnid"}), ("Unsqueeze", "x axis", "u", {}),
               ("MatMul", "u h", "y", {})]
    weights = {"q": normal(1, 5, 8), "w": normal(8, 6, seed=4), "c": normal(5, 6, seed=5), "v": normal(6, 2, 3, seed=6),
               "rest": np.int64([5, 8]), "axis": np.int64([1])}
    yield "queries repeated to a batch of the run", chain(["b", 4, 5], queries, weights, [[1, 4, 5], [3, 4, 5]], ranks=4)
    longer = [("Shape", "x", "n", {}), ("Expand", "q n", "e", {}), ("Mul", "e x", "m", {}), ("Abs", "e", "a", {}),
              ("Add", "a c", "b", {}), ("Sub", "m b", "y", {})]
    yield "repeats that others meet", chain(["b", "s", 5], longer, {"q": normal(1, 5), "c": normal(5, seed=4)},
                                            [[1, 1, 5], [2, 3, 5]])


def norms():
    """Norms of groups of channels between convolutions, and rows of few elements."""
    weights = {"w": normal(24, 24, 1, 1, scale=0.2), "g": np.int64([0, 4, -1]), "a": np.int64([2]), "e": np.float32(1e-3),
               "one": np.ones(4, np.float32), "c": normal(24, 1, 1)}
    around = lambda *norm: [("Conv", "x w", "z", {}), ("Reshape", "z g", "r", {}), *norm,
                            ("Shape", "z", "s", {}), ("Reshape", "n s", "i", {}), ("Mul", "i c", "j", {}), ("Conv", "j w", "y", {})]
    for name, norm in (
            ("InstanceNormalization", [("InstanceNormalization", "r one one", "n", {})]),
            ("means", [("ReduceMean", "r a", "m", {}), ("Sub", "r m", "d", {}), ("Mul", "d d", "q", {}),
                       ("ReduceMean", "q a", "v", {}), ("Add", "v e", "f", {}), ("Sqrt", "f", "h", {}), ("Div", "d h", "n", {})])):
        yield f"groups of channels by {name}", chain([2, 24, 5, 7], around(*norm), weights)
        yield f"groups of channels by {name}, any image", chain(
            ["n", 24, "h", "w"], around(*norm), weights, [[1, 24, 1, 1], [2, 24, 5, 7], [1, 24, 17, 16]])
    for shape, image in (([2, 24, 700], None), ([3, 24, 40, 40], None), ([2, 24, 3, 5], None),
                         (["n", 24, "l"], [[1, 24, 1], [2, 24, 700]])):
        for groups in (1, 2, 8):
            one = {"g": np.int64([0, groups, -1]), "o": normal(groups), "z": normal(groups, seed=5),
                   "c": normal(24, *[1] * (len(shape) - 2)), "d": normal(24), "e": normal(24, seed=5)}
            yield f"{groups} groups of all of {shape}, by InstanceNormalization", chain(shape, [
                ("Reshape", "x g", "r", {}), ("InstanceNormalization", "r o z", "n", {}), ("Shape", "x", "s", {}),
                ("Reshape", "n s", "i", {}), ("Mul", "i c", "y", {})], one, image)
            yield f"{groups} groups of all of {shape}", chain(shape, [
                ("GroupNormalization", "x d e", "y", {"num_groups": groups})], one, image)
    for width in (2, 4, 9, 16, 21, 33, 77, 130, 256, 300, 1001):
        for op in ("LogSoftmax", "LayerNormalization"):
            inputs = "x" if op == "LogSoftmax" else "x k"
            yield f"{op} of rows of {width}", chain([37, width], [(op, inputs, "y", {})], {"k": normal(width)})
            yield f"{op} of rows of {width}, any number", chain(
                ["n", width], [(op, inputs, "y", {})], {"k": normal(width)}, [[rows, width] for rows in (1, 3, 16, 17, 50)])
        yield f"LogSoftmax of products, {width} columns", chain([37, 20], [
            ("MatMul", "x w", "l", {}), ("LogSoftmax", "l", "y", {})], {"w": normal(20, width, scale=0.5)})


def pixel_norms():
    """What is computed of the channels of every pixel between convolutions, in the forms that exporters write."""
    weights = {"w": normal(24, 24, 1, 1, scale=0.2), "a": np.int64([1]), "e": np.float32(1e-3), "two": np.float32(2),
               "g": normal(24, 1, 1), "b": normal(24, 1, 1, seed=5)}
    mean = lambda of, to, keep: ([("ReduceMean", f"{of} a", to, {})] if keep else
                                 [("ReduceMean", f"{of} a", f"{to}0", {"keepdims": 0}), ("Unsqueeze", f"{to}0 a", to, {})])
    scaled = [("Mul", "q g", "s", {}), ("Add", "s b", "n", {})]
    root = [("Add", "v e", "f", {}), ("Sqrt", "f", "h", {})]
    forms = [("Softmax", [("Softmax", "z", "n", {"axis": 1})]), ("LogSoftmax", [("LogSoftmax", "z", "n", {"axis": 1})]),
             ("ArgMax", [("ArgMax", "z", "i", {"axis": 1}), ("Cast", "i", "f", {"to": 1}), ("Mul", "z f", "n", {})]),
             ("ReduceMax", [("ReduceMax", "z a", "m", {}), ("Mul", "z m", "n", {})]),
             ("extremes as channels", [("ReduceMean", "z a", "m", {}), ("ReduceMax", "z a", "h", {}),
                                       ("Concat", "m h", "c", {"axis": 1}), ("ReduceSum", "c a", "d", {}),
                                       ("Mul", "z d", "n", {})])]
    for keep in (True, False):
        kind = "kept" if keep else "dropped"
        forms += [
            (f"LayerNormalization, {kind}", [*mean("z", "m", keep), ("Sub", "z m", "d", {}), ("Pow", "d two", "p", {}),
                                             *mean("p", "v", keep), *root, ("Div", "d h", "q", {}), *scaled]),
            (f"LayerNormalization of two means, {kind}", [
                *mean("z", "m", keep), ("Mul", "z z", "p", {}), *mean("p", "k", keep), ("Mul", "m m", "o", {}),
                ("Sub", "k o", "v", {}), *root, ("Sub", "z m", "d", {}), ("Div", "d h", "q", {}), *scaled]),
            (f"RMSNormalization, {kind}", [("Mul", "z z", "p", {}), *mean("p", "v", keep), *root, ("Div", "z h", "q", {}), *scaled])]
    for name, norm in forms:
        nodes = [("Conv", "x w", "z", {}), *norm, ("Conv", "n w", "y", {})]
        for shape in ([2, 24, 5, 7], [1, 24, 1, 33]):
            yield f"{name} of the channels of {shape}", chain(shape, nodes, weights)
        yield f"{name} of the channels, any image", chain(
            ["n", 24, "h", "w"], nodes, weights, [[1, 24, 1, 1], [2, 24, 5, 7], [1, 24, 17, 16]])
    for name, steps in (("maximum", [("ReduceMax", "x b", "m", {"keepdims": 0}), ("Unsqueeze", "m b", "k", {}),
                                     ("Sub", "x k", "y", {})]),
                        ("number", [("ReduceSum", "x b", "m", {"keepdims": 0}), ("Unsqueeze", "m ends", "k", {}),
                                    ("Exp", "k", "h", {}), ("Reshape", "h shape", "j", {}), ("Mul", "x j", "y", {})])):
        yield f"a {name} of each row that gets its dimension later", chain(
            [4, 6, 40], steps, {"b": np.int64([2]), "ends": np.int64([2, 3]), "shape": np.int64([4, 6, 1])})


def folded_scales():
    """So many constants to compute that they are no longer computed all together."""
    nodes, weights, last = [], {}, "x"
    for i in range(60):
        weights |= {f"w{i}": normal(4, 4, 1, 1, seed=i, scale=0.5), f"v{i}": np.abs(normal(4, seed=i)) + np.float32(0.5)}
        weights |= {f"{name}{i}": normal(4, seed=90 * k + i) for k, name in enumerate("sbm")}
        nodes += [("Conv", f"{last} w{i}", f"c{i}", {}), ("BatchNormalization", f"c{i} s{i} b{i} m{i} v{i}", f"n{i}", {}),
                  ("Tanh", f"n{i}", "y" if i == 59 else f"t{i}", {})]
        last = f"t{i}"
    yield "sixty convolutions and their normalizations", chain([2, 4, 3, 5], nodes, weights)


def quotients():
    """Of integers of 64 bits by a number."""
    for divisor in (3, 7, -7, 10, 1000, -641, 6700417, 16, 2 ** 40 + 1, -2 ** 62 - 1, 2 ** 63 - 1, -2 ** 63):
        for name, scale in (("large", 2e18), ("small", 3e4)):
            steps = [("Mul", "x scale", "s", {}), ("Cast", "s", "i", {"to": 7})]
            for op in ("Div", "Mod"):  # digits of a float hold 2^20
                steps += [(op, "i divisor", op, {}), ("Mod", f"{op} digits", f"{op}d", {}),
                          ("Cast", f"{op}d", f"{op}f", {"to": 1})]
            yield f"quotients by {divisor}, {name}", chain([3, 77], [*steps, ("Concat", "Divf Modf", "y", {"axis": 0})], {
                "scale": np.float32(scale), "divisor": np.int64(divisor), "digits": np.int64(2 ** 20)})


def residuals():
    """What is read for the last time where a convolution or a product is added to it, and what is not."""
    add = [("Add", "c t", "r", {})]
    gelu = [("Gelu", "c", "g", {}), ("Add", "g t", "r", {})]
    ends = (("", add), (" behind a GELU", gelu), (" and a Relu", [("Add", "c t", "a", {}), ("Relu", "a", "r", {})]),
            (" to subtract from", [("Sub", "t c", "r", {})]),
            (" read twice", [("Mul", "c t", "m", {}), ("Add", "m t", "r", {})]),
            (" read later", [("Add", "c t", "a", {}), ("Conv", "a w0", "d", {}), ("Add", "d t", "r", {})]))
    for kind, channels, group, taps in (("1x1", 20, 1, 1), ("1x1", 48, 1, 1), ("3x3", 20, 1, 3), ("3x3", 64, 1, 3),
                                        ("3x3 in two groups", 48, 2, 3), ("depthwise", 20, 20, 3)):
        weights = {"w0": normal(channels, channels, 1, 1, scale=channels ** -0.5),
                   "w": normal(channels, channels // group, taps, taps, seed=4, scale=0.1), "b": normal(channels)}
        for end, steps in ends:
            block = [("Conv", "t w b", "c", {"group": group, "pads": [taps // 2] * 4}), *steps]
            yield f"residual of {kind} over {channels} channels{end}", chain([2, channels, 13, 15], [
                ("Conv", "x w0", "t", {}), *block, ("Conv", "r w0", "y", {})], weights)
    for rows, inner, columns in ((45, 64, 50), (7, 300, 48), (45, 2100, 40)):
        weights = {"u": normal(30, columns, scale=0.2), "v": normal(columns, inner, scale=0.1),
                   "w": normal(inner, columns, seed=5, scale=inner ** -0.5)}
        for end, steps in ends[:-1]:
            yield f"residual of {rows}x{inner}x{columns}{end}", chain([1, rows, 30], [
                ("MatMul", "x u", "t", {}), ("MatMul", "t v", "h", {}), ("Relu", "h", "k", {}), ("MatMul", "k w", "c", {}),
                *steps, ("MatMul", "r v", "y", {})], weights)
    weights = {"w": normal(20, 20, 1, 1, scale=0.2), "v": normal(20, 20, 3, 3, scale=0.1)}
    blocks = [step for x, y in ("xa", "ab", "bc") for step in (
        ("Conv", f"{x} w", f"h{x}", {}), ("Relu", f"h{x}", f"k{x}", {}),
        ("Conv", f"k{x} v", f"l{x}", {"pads": [1] * 4}), ("Add", f"l{x} {x}", y, {}))]
    for end, steps in (("", [("Relu", "c", "y", {})]),
                       (" and end with its square", [("Mul", "x x", "s", {}), ("Add", "c s", "y", {})])):
        yield f"residuals that begin at an image{end}", chain([2, 20, 13, 15], [*blocks, *steps], weights)
    square = {"u": normal(40, 40, scale=0.2)}
    yield "residual that a product reads, too", chain([40, 40], [
        ("MatMul", "x u", "t", {}), ("MatMul", "t u", "c", {}), *add, ("MatMul", "r u", "y", {})], square)
    yield "residual that is turned", chain([40, 40], [
        ("MatMul", "x u", "t", {}), ("Relu", "t", "h", {}), ("MatMul", "h u", "c", {}), ("Transpose", "t", "s", {}),
        ("Add", "c s", "r", {}), ("MatMul", "r u", "y", {})], square)


KINDS = (rows, shifted_windows, boxes, heads, repeated_queries, norms, pixel_norms, chains, selections, different_elements,
         kept_slices, computed_positions, resized_images, folded_scales, quotients, residuals)
