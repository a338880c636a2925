"""Pools, regions and what else reads windows, and convolutions among others."""

import differential
import numpy as np

from graphs import chain, convolution, normal


def folded_pixels():
    """Means and maxima of what a convolution computes, of all pixels or along one axis, with the result and without it."""
    def made(attributes, *behind):
        return [("Conv", "x v", "i", {}), ("Conv", "i w", "c", attributes), ("Sigmoid", "c", "s", {}),
                ("Mul", "c s", "z", {}), *behind]

    gate = ("Mul", "z p", "y", {})
    folds = {"mean": ("GlobalAveragePool", "z", "p", {}), "largest": ("GlobalMaxPool", "z", "p", {}),
             "sums of columns": ("ReduceSum", "z two", "p", {}), "sums of rows": ("ReduceSum", "z last", "p", {})}
    for name, shape, filters, window, attributes, *scale in (
            ("depthwise", [1, 20, 15, 15], 20, (3, 3), {"group": 20, "pads": [1] * 4}),
            ("depthwise, stride 2, batch 3", [3, 72, 14, 18], 72, (5, 5), {"group": 72, "strides": [2, 2], "pads": [2] * 4}),
            ("depthwise, stride 2, padded behind", [1, 16, 22, 26], 16, (3, 3),
             {"group": 16, "strides": [2, 2], "pads": [0, 0, 1, 1]}),
            ("depthwise, many taps", [1, 480, 9, 11], 480, (5, 5), {"group": 480, "pads": [2] * 4}),
            ("depthwise, rows for several tasks", [1, 96, 28, 30], 96, (3, 3), {"group": 96, "pads": [1] * 4}),
            ("1x1", [1, 16, 7, 7], 600, (1, 1), {}), ("1x1, deep", [1, 2048, 6, 6], 256, (1, 1), {}),
            ("1x1, wide", [2, 16, 9, 40], 24, (1, 1), {}),
            ("3x3, stride 2", [1, 24, 21, 30], 40, (3, 3), {"strides": [2, 2], "pads": [1] * 4}),
            ("grouped", [1, 48, 13, 13], 48, (3, 3), {"group": 4, "pads": [1] * 4}),
            ("3x3", [1, 32, 28, 31], 64, (3, 3), {"pads": [1] * 4}, 0.06),
            ("3x3, batch 3", [3, 64, 7, 9], 50, (3, 3), {"pads": [1] * 4}, 0.04),
            ("1-D", [1, 16, 50], 300, (3,), {"pads": [1, 1]}), ("3-D", [1, 8, 5, 6, 7], 20, (3, 3, 3), {"pads": [1] * 6})):
        weights = {"v": normal(shape[1], shape[1], *[1] * len(window), scale=shape[1] ** -0.5),
                   "w": normal(filters, shape[1] // attributes.get("group", 1), *window,
                               scale=scale[0] if scale else min(0.2, shape[1] ** -0.5)),
                   "two": np.int64([2]), "last": np.int64([-1])}
        for kind, fold in folds.items():
            yield f"{name}, {kind} alone", chain(shape, made(attributes, fold[:2] + ("y", {})), weights)
            yield f"{name}, {kind} beside", chain(shape, made(attributes, fold, gate), weights)
            yield f"{name}, {kind} beside, any batch", chain(
                ["n", *shape[1:]], made(attributes, fold, gate), weights, [[n, *shape[1:]] for n in (1, 2)])
        sizes = [[1, shape[1], *(size + more for size in shape[2:])] for more in (0, 2)]
        for kind, fold in folds.items():
            for form, body in {"alone": [fold[:2] + ("y", {})], "beside": [fold, gate]}.items():
                yield f"{name}, {kind} {form}, any size", chain(
                    ["n", shape[1], *"hwd"[:len(window)]], made(attributes, *body), weights, sizes)
    for shape in (["n", 16, 20, "w"], ["n", 16, "h", 9]):
        sizes = [[n if isinstance(n, int) else more for n in shape] for more in (3, 14)]
        yield f"mean of {shape}", chain(shape, made({}, folds["mean"], gate), {
            "v": normal(16, 16, 1, 1, scale=0.25), "w": normal(40, 16, 1, 1, scale=0.25)}, sizes)
    yield "sums of images without pixels", chain(
        ["n", "h", "w", 16], [("MatMul", "x v", "c", {}), ("Sigmoid", "c", "s", {}), ("ReduceSum", "s all", "y", {})],
        {"v": normal(16, 40, scale=0.25), "all": np.int64([1, 2])},
        [[1, h, w, 16] for h, w in ((3, 0), (0, 3), (1, 1), (20, 7))])


def pooled_windows():
    """Pools right behind 3x3 convolutions, with the convolution's result and without it, whose windows lie side by side
    or not, in images that end inside of a window."""
    def pooled(pool, attributes, *behind):
        return [("Conv", "x w b", "c", {"pads": [1] * 4}), ("Relu", "c", "z", {}), (pool, "z", "p", attributes), *behind]

    two = {"kernel_shape": [2, 2], "strides": [2, 2]}
    windows = {"2x2": two, "4x4": {"kernel_shape": [4, 4], "strides": [4, 4]},
               "2x4": {"kernel_shape": [2, 4], "strides": [2, 4]}, "2x2, rounded up": {**two, "ceil_mode": 1},
               "3x3": {"kernel_shape": [3, 3], "strides": [3, 3]}, "3x3, stride 2": {"kernel_shape": [3, 3], "strides": [2, 2]}}
    alone, beside = [("Sigmoid", "p", "y", {})], [("GlobalMaxPool", "z", "m", {}), ("Add", "p m", "y", {})]
    for shape, filters in (([1, 32, 24, 28], 48), ([2, 40, 15, 19], 50)):
        weights = {"w": normal(filters, shape[1], 3, 3, scale=0.1), "b": normal(filters)}
        sizes = [[1, shape[1], *(size + more for size in shape[2:])] for more in (0, 1, 2, 3)]
        for name, attributes in windows.items():
            yield f"MaxPool {name} behind {shape}", chain(shape, pooled("MaxPool", attributes, *alone), weights)
        for pool in ("MaxPool", "AveragePool"):
            yield f"{pool} beside {shape}", chain(shape, pooled(pool, two, *beside), weights)
            yield f"{pool} behind {shape}, any batch", chain(
                ["n", *shape[1:]], pooled(pool, two, *alone), weights, [[n, *shape[1:]] for n in (1, 3)])
            yield f"{pool} behind {shape}, any size", chain(
                [1, shape[1], "h", "w"], pooled(pool, two, *alone), weights, sizes)
        yield f"AveragePool 4x4 behind {shape}", chain(shape, pooled("AveragePool", windows["4x4"], *alone), weights)


def lines():
    """Pools right behind convolutions that go row by row, so that windows of several rows are kept in between."""
    windows = {"2x2": {"kernel_shape": [2, 2], "strides": [2, 2]}, "3x3, stride 1": {"kernel_shape": [3, 3], "pads": [1] * 4},
               "3x3, stride 2": {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4},
               "3x2, rounded up": {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [0, 1, 1, 0], "ceil_mode": 1},
               "2x3, stride 3": {"kernel_shape": [2, 3], "strides": [3, 3]}, "5x1": {"kernel_shape": [5, 1], "strides": [2, 1]}}
    for name, shape, filters, window, attributes in (
            ("3x3, stride 2", [1, 3, 45, 57], 40, (3, 3), {"strides": [2, 2], "pads": [1] * 4}),
            ("5x5", [2, 3, 24, 31], 20, (5, 5), {"pads": [2] * 4}), ("1x1", [1, 16, 24, 40], 24, (1, 1), {}),
            ("depthwise", [1, 24, 25, 30], 24, (3, 3), {"group": 24, "pads": [1] * 4}),
            ("3-D", [1, 4, 13, 6, 15], 16, (3, 3, 3), {"pads": [1] * 6})):
        rank = len(window)
        weights = {"w": normal(filters, shape[1] // attributes.get("group", 1), *window, scale=0.2), "b": normal(filters)}
        for kind, pool in windows.items():
            if rank == 3:
                pool = {key: [1] + pool[key] for key in ("kernel_shape", "strides") if key in pool}
            steps = [("Conv", "x w b", "c", attributes), ("Relu", "c", "z", {}), ("MaxPool", "z", "p", pool),
                     ("Sigmoid", "p", "y", {})]
            yield f"pool {kind} of rows of {name}", chain(shape, steps, weights)
        if rank == 2:
            large = [("MaxPool", "s", "l", {"kernel_shape": [5, 5], "pads": [2] * 4}), ("Add", "l s", "y", {})]
            yield f"large pool of rows of {name}", chain(shape, steps[:2] + [("Sigmoid", "z", "s", {}), *large], weights)
        steps[2] = ("AveragePool", "z", "p", {**windows["2x2"], "kernel_shape": [2] * rank, "strides": [2] * rank})
        yield f"means of rows of {name}, any batch", chain(
            ["n", *shape[1:]], steps, weights, [[n, *shape[1:]] for n in (1, 3)])


def strided():
    """What reads every second or third element of a tensor, or all from the end: neighbours are not neighbours in
    memory."""
    def windows(name, channels, step, nodes, **weights):
        start, end = (0, 1000) if step > 0 else (-1, -1000)
        ends = {key: np.int64([value]) for key, value in (("from", start), ("to", end), ("axis", 3), ("step", step))}
        yield f"{name} of every element {step} on", chain([2, channels, 6, 150], [
            ("Slice", "x from to axis step", "s", {}), *nodes], ends | weights)
    for step in (2, 3, -1):
        for channels, filters, width, group in ((1, 1, 1, 1), (3, 2, 3, 1), (2, 2, 3, 2), (8, 8, 3, 1), (32, 32, 3, 1)):
            for stride in (1, 2):
                yield from windows(
                    f"Conv {channels} to {filters}, group {group}, stride {stride}", channels, step,
                    [("Conv", "s w", "y", {"pads": [width // 2, 1] * 2, "group": group, "strides": [1, stride]})],
                    w=normal(filters, channels // group, width, 3, scale=0.2))
        for kind in ("MaxPool", "AveragePool"):
            yield from windows(kind, 3, step, [(kind, "s", "y", {"kernel_shape": [3, 3], "pads": [1] * 4})])
        for columns in (1, 5, 40):
            for axis in (0, 1):
                inner = len(range(33)[::step]) if axis else 33
                ends = {"from": np.int64([-1 if step < 0 else 0]), "to": np.int64([step * 1000]),
                        "axis": np.int64([axis]), "step": np.int64([step])}
                yield f"MatMul by {columns} columns of every element {step} on, axis {axis}", chain([150, 33], [
                    ("Slice", "x from to axis step", "s", {}), ("MatMul", "s w", "y", {})],
                    ends | {"w": normal(inner, columns)})


def skipped_pixels():
    """Images that 1x1 convolutions with strides read, and who makes them; behind them whatever has a size of its own."""
    def model(shape, nodes, stride, group=1, sizes=None, more=()):
        dims = len(shape) - 2
        weights = {"w0": normal(20, 8, *[1] * dims, scale=0.3), "w1": normal(20, 20 // group, *[3] * dims, scale=0.1),
                   "w2": normal(24, 20, *[1] * dims, scale=0.2), "w3": normal(24, 20, *[1] * dims, seed=5, scale=0.2),
                   "f": normal(20, *[1] * dims), "b": normal(20)}
        strides = {"strides": stride}
        return chain(shape, [("Conv", "x w0", "z", {}), *nodes, ("Conv", "a w2", "c", strides), ("Relu", "c", "r", {}),
                             ("Conv", "a w3", "d", strides), *(more or [("Add", "r d", "y", {})])], weights, sizes)

    def windows(dims, group, **attributes):
        return ("Conv", "z w1 b", "v", {"group": group, **(attributes or {"pads": [1] * 2 * dims})})

    for name, image, sizes, stride in (
            ("", [9, 12], None, [2, 2]), (", one pixel", [1, 1], None, [2, 2]), (", stride 3 and 1", [7, 10], None, [3, 1]),
            (" of a row", [31], None, [2]), (", three dimensions", [4, 5, 6], None, [2, 2, 3]),
            (" of the run", ["h", "w"], [(8, 8), (9, 7), (1, 1), (1, 6), (30, 41)], [2, 2]),
            (", width of the run", [6, "w"], [(6, 2), (6, 33)], [2, 2]),
            (", a row of the run", ["t"], [(1,), (2,), (40,), (41,)], [4])):
        dims = len(image)
        shape, runs = [2, 8, *image], sizes and [[2, 8, *size] for size in sizes]
        for group in (1, 5, 20):
            yield f"skipped pixels{name}, 3x3, {group} groups", model(
                shape, [windows(dims, group), ("Sigmoid", "v", "a", {})], stride, group, runs)
        for kind in ("MaxPool", "AveragePool"):
            yield f"skipped pixels{name}, {kind}", model(
                shape, [(kind, "z", "a", {"kernel_shape": [3] * dims, "pads": [1] * 2 * dims})], stride, 1, runs)
        chains = [windows(dims, 1), ("Mul", "v f", "m", {}), ("Add", "z m", "s", {}), ("Relu", "s", "a", {})]
        yield f"skipped pixels{name}, residual", model(shape, chains, stride, 1, runs)
        yield f"skipped pixels{name}, padded alike", model(
            shape, [windows(dims, 1, auto_pad="SAME_LOWER"), ("Add", "z v", "a", {})], stride, 1, runs)
        yield f"pixels{name} that another reader needs", model(
            shape, chains, stride, 1, runs, [("GlobalAveragePool", "s", "g", {}), ("Conv", "g w2", "h", {}),
                                             ("Add", "r d", "e", {}), ("Mul", "e h", "y", {})])
    # Channels of a window that its reader has as rows of pixels.
    row = [("Conv", "x v", "c", {}), ("Add", "c o", "a", {}), ("Conv", "a w", "y", {"strides": [2, 2]})]
    weights = {"v": normal(6, 5, 1), "o": normal(1, 4, 6, 16), "w": normal(3, 4, 1, 1)}
    yield "skipped channels of a row", chain([4, 5, 16], row, weights, ranks=4)
    yield "skipped channels of a row, pooled", chain([4, 6, 16], [
        ("MaxPool", "x", "p", {"kernel_shape": [3], "pads": [1, 1]}), ("Add", "p o", "a", {}),
        ("MaxPool", "a", "y", {"kernel_shape": [1, 1], "strides": [2, 2]})], {"o": normal(1, 4, 6, 16)}, ranks=4)
    yield "skipped channels of a row of any size", chain(["n", 6, "t"], [
        ("MaxPool", "x", "p", {"kernel_shape": [3], "pads": [1, 1]}), ("Add", "p o", "a", {}),
        ("MaxPool", "a", "y", {"kernel_shape": [1, 1], "strides": [2, 2]})], {"o": normal(1, 4, 6, 16)},
        [[4, 6, 16], [1, 6, 16]], 4)


def siblings():
    """Heads of one image, their maps one after another."""
    for name, shape, sizes in (("three heads", [2, 16, 9, 11], None),
                               ("three heads, height and width of the run", [1, 16, "h", "w"],
                                [[1, 16, 9, 30], [1, 16, 20, 5]])):
        same = {"pads": [1, 1, 1, 1], "kernel_shape": [3, 3]}
        weights = {"w0": normal(24, 16, 1, 1, scale=0.2), "b0": normal(3), "b1": normal(9, seed=5)}
        weights |= {f"w{i + 1}": normal(maps, 24, 3, 3, seed=i, scale=0.1) for i, maps in enumerate((3, 9, 14))}
        yield name, chain(shape, [
            ("Conv", "x w0", "z", {}), ("Conv", "z w1 b0", "c0", same), ("Conv", "z w2 b1", "c1", same),
            ("Conv", "z w3", "c2", same), ("Sigmoid", "c1", "s1", {}), ("Concat", "c2 s1 c0", "y", {"axis": 1})],
            weights, sizes)


def pyramids():
    """Images of two sizes that the run knows meet: of one size, as a rule, but one row or column is repeated."""
    ends = {"w0": normal(8, 3, 1, 1), "w1": normal(8, 8, 3, 3, scale=0.1), "b": normal(8)}
    half = {"strides": [2, 2], "pads": [1, 1, 1, 1]}
    twice = [("Conv", "z w1 b", "c", half), ("Resize", "c - scales", "u", {"mode": "nearest"})]
    scales = {"scales": np.float32([1, 1, 2, 2])}

    def meet(nodes, images, wrong=(), weights=ends):
        nodes = [("Conv", "x w0", "z", {}), *nodes, ("Relu", "s", "r", {}), ("Conv", "r w1 b", "y", {"pads": [1] * 4})]
        proto, fitting = chain([1, 3, "h", "w"], nodes, weights, [[1, 3, *image] for image in images])()
        message = "(Add): shapes do not broadcast"
        return lambda: (proto, fitting + [differential.Fails(message, [normal(1, 3, *image)]) for image in wrong])

    images = [(6, 8), (1, 1), (1, 8), (4, 1), (20, 34)]
    yield "upsampled and skipped", meet([*twice, ("Add", "z u", "s", {})], images, [(5, 8), (6, 3)], ends | scales)
    yield "upsampled and a convolution", meet([*twice, ("Conv", "z w1 b", "d", {"pads": [1] * 4}), ("Add", "u d", "s", {})],
                                              images, [(3, 3)], ends | scales)
    # Where neither is surely more than one element.
    yield "two ways to halve", meet(
        [("Conv", "z w1 b", "c", half), ("MaxPool", "z", "p", {"kernel_shape": [2, 2], "strides": [2, 2]}),
         ("Add", "c p", "s", {})], [(8, 6), (3, 4), (2, 3), (3, 3), (22, 40)], [(5, 6), (4, 7)])
    yield "a sum, halved twice", meet(
        [*twice, ("Add", "z u", "a", {}), ("Conv", "a w1", "e", half), ("Add", "c e", "s", {})], images, [(5, 8)], ends | scales)


def lone_windows():
    """Pools and depthwise convolutions of images with channels in front, and nothing around them."""
    def pool(kind, shape, kernel, sizes=None, **attributes):
        return chain(shape, [(kind, "x", "y", {"kernel_shape": kernel, **attributes})], sizes=sizes)
    for kind in ("MaxPool", "AveragePool"):
        yield f"{kind} 3x3, stride 2", pool(kind, [2, 5, 19, 31], [3, 3], strides=[2, 2], pads=[1] * 4)
        yield f"{kind} 3x3", pool(kind, [1, 3, 9, 70], [3, 3], pads=[1] * 4)
        yield f"{kind} 2x2, stride 2", pool(kind, [1, 3, 10, 64], [2, 2], strides=[2, 2])
        yield f"{kind} 5x5, stride 3", pool(kind, [1, 3, 30, 48], [5, 5], strides=[3, 3], pads=[2] * 4)
        yield f"{kind} 1x7, pads that differ", pool(kind, [1, 2, 3, 300], [1, 7], strides=[1, 2], pads=[0, 5, 0, 1])
        yield f"{kind} of a row", pool(kind, [1, 4, 100], [4], strides=[2], pads=[1, 2])
    yield "MaxPool 3x3, dilated", pool("MaxPool", [1, 2, 20, 40], [3, 3], dilations=[2, 2], pads=[2] * 4)
    yield "MaxPool 3x3, rounded up", pool("MaxPool", [1, 2, 20, 40], [3, 3], strides=[2, 2], ceil_mode=1)
    for kind in ("MaxPool", "AveragePool"):
        for ceil in (0, 1):
            yield f"{kind} 3x4, stride 2 and 3, every size, rounded up: {ceil}", pool(
                kind, [1, 3, "h", "w"], [3, 4], strides=[2, 3], pads=[1, 0, 0, 2], ceil_mode=ceil,
                sizes=[[1, 3, 3 + more, 30 - more] for more in range(7)])
    images = [[1, 3, height, width] for height, width in (
        (1, 1), (2, 15), (3, 16), (9, 17), (7, 18), (8, 31), (10, 32), (16, 33), (5, 48), (6, 64), (4, 66), (3, 130))]
    for kind in ("MaxPool", "AveragePool"):
        for name, kernel, pads, more in (("3x3", [3, 3], [1] * 4, {}), ("2x2", [2, 2], [0, 0, 1, 1], {}),
                                         ("1x7", [1, 7], [0, 3, 0, 3], {}), ("1x40", [1, 40], [0, 19, 0, 20], {}),
                                         ("3x3, far pads", [3, 3], [2, 2, 2, 2], {}),
                                         ("3x3, dilated", [3, 3], [2] * 4, {"dilations": [2, 2]})):
            yield f"{kind} {name}, any image", pool(kind, [1, 3, "h", "w"], kernel, images, pads=pads, **more)
        yield f"{kind} of any row", pool(kind, ["n", 4, "t"], [3], [[2, 4, t] for t in (1, 15, 16, 17, 64, 97)], pads=[1, 1])
    yield "MaxPool 3x3, stride 2, batch and height of the run", pool(
        "MaxPool", ["n", 3, "h", 65], [3, 3], strides=[2, 2], pads=[1] * 4, sizes=[[1, 3, 7, 65], [2, 3, 20, 65]])
    for stride in (1, 2, 3):
        yield f"depthwise 3x3 alone, stride {stride}", convolution(
            [2, 6, 17, 45 + stride], 6, (3, 3), group=6, before=False, strides=[stride] * 2, pads=[1] * 4)
    yield "depthwise 5x5 alone, no pads", convolution([1, 6, 12, 40], 6, (5, 5), group=6, before=False)
    yield "depthwise 3x3 alone, wide rows", convolution([1, 2, 5, 700], 2, (3, 3), group=2, before=False, pads=[1] * 4)


def pools():
    """Of images with channels last. Large windows are folded along one dimension after another."""
    def pool(kind, shape, kernel, sizes=None, **attributes):
        channels, dims = shape[1], len(kernel)
        weights = {name: normal(channels, channels, *[1] * dims, seed=i, scale=0.3) for i, name in enumerate("uv")}
        return chain(shape, [("Conv", "x u", "z", {}), (kind, "z", "p", {"kernel_shape": kernel, **attributes}),
                             ("Conv", "p v", "y", {})], weights, sizes)
    for kind, more in (("MaxPool", {}), ("AveragePool", {}), ("AveragePool", {"count_include_pad": 1}), ("LpPool", {})):
        name = kind + " with padding" * bool(more)
        yield f"{name} 3x3 between", pool(kind, [2, 20, 19, 17], [3, 3], pads=[1] * 4, **more)
        yield f"{name} 5x5", pool(kind, [1, 20, 13, 22], [5, 5], pads=[2] * 4, **more)
        yield f"{name} 5x7, stride 2 and 1, pads that differ", pool(
            kind, [2, 9, 23, 31], [5, 7], strides=[2, 1], pads=[0, 3, 4, 2], **more)
        yield f"{name} 13x13 of as many pixels", pool(kind, [1, 17, 13, 13], [13, 13], pads=[6] * 4, **more)
        yield f"{name} 9x9, no pads, dilated", pool(kind, [1, 8, 20, 19], [9, 9], dilations=[2, 1], **more)
        yield f"{name} 3x3x3", pool(kind, [1, 20, 6, 9, 8], [3, 3, 3], pads=[1] * 6, **more)
        yield f"{name} 6x6, rounded up", pool(kind, [1, 5, 20, 23], [6, 6], strides=[1, 2], pads=[1] * 4, ceil_mode=1,
                                              **more)
        yield f"{name} 5x5, sizes of the run", pool(kind, ["n", 20, "h", "w"], [5, 5], pads=[2] * 4, **more,
                                                    sizes=[[1, 20, 9, 30], [2, 20, 3, 2], [1, 20, 1, 7]])
        yield f"{name} 3x3, sizes of the run", pool(kind, [1, 20, "h", "w"], [3, 3], pads=[1] * 4, **more,
                                                    sizes=[[1, 20, 9, 30], [1, 20, 3, 2], [1, 20, 2, 9]])


def blocks():
    """What a window took from an image goes back to it. Image, kernel, strides, pads."""
    for image, kernel, strides, pads in (
            ((9,), (4,), [2], [0, 0]), ((40,), (16,), [4], [3, 5]), ((11,), (3,), [1], [1, 1]), ((24,), (6,), [6], [0, 0]),
            ((30,), (7,), [3], [2, 1]), ((9,), (2,), [4], [0, 0]), ((5,), (5,), [5], [5, 5]), ((7, 18), (3, 3), [1, 1], [1] * 4),
            ((14, 9), (3, 4), [2, 3], [1, 0, 1, 2]), ((16, 24), (8, 8), [8, 8], [0] * 4), ((5, 6, 7), (2, 3, 3), [1, 2, 1], [0] * 6)):
        dims, elements = len(image), int(np.prod(kernel))
        places = [(size + pads[i] + pads[dims + i] - kernel[i]) // strides[i] + 1 for i, size in enumerate(image)]
        weights, how = {"image": np.int64(image), "block": np.int64(kernel)}, {"strides": strides, "pads": pads}
        yield f"blocks of {kernel} in {image}, {how}", chain(
            [2, 3 * elements, int(np.prod(places))], [("Col2Im", "x image block", "s", how), ("Tanh", "s", "y", {})], weights,
            ranks=2 + dims)
    # The product of frames by a synthesis, added up where they overlap.
    yield "blocks, as many as the run has", chain(["n", "length", 20], [
        ("MatMul", "x w", "f", {}), ("Transpose", "f", "t", {"perm": [0, 2, 1]}), ("Shape", "x", "l", {"start": 1, "end": 2}),
        ("Mul", "l stride", "m", {}), ("Add", "m more", "size", {}), ("Col2Im", "t size block", "y", {"strides": [8], "pads": [4, 3]})],
        {"w": normal(20, 30, scale=0.2), "stride": np.int64([8]), "more": np.int64([15]), "block": np.int64([30])},
        [[2, 9, 20], [1, 1, 20], [1, 40, 20]])


def samples():
    """Positions that the model makes of x, some outside the image."""
    image, grid = normal(2, 3, 6, 7), [("Tanh", "x", "g0", {}), ("Mul", "g0 two", "g", {})]
    for mode in ("linear", "cubic", "nearest"):
        for padding in ("zeros", "border", "reflection"):
            for align in (0, 1):
                yield f"GridSample, {mode}, {padding}, align {align}", chain([2, 4, 5, 2], [
                    *grid, ("GridSample", "image g", "y", {"mode": mode, "padding_mode": padding,
                                                           "align_corners": align})],
                    {"image": image, "two": np.float32(1.4)})
                yield f"GridSample, channels last, {mode}, {padding}, align {align}", chain(
                    [2, 20, "h", "w"], [("GridSample", "x g", "y", {"mode": mode, "padding_mode": padding,
                                                                    "align_corners": align})],
                    {"g": 1.4 * np.tanh(normal(2, 4, 5, 2))}, [[2, 20, 6, 7], [2, 20, 3, 1]])
    yield "GridSample, between convolutions", chain([1, 5, 9, 8], [
        ("Conv", "x w", "c", {}), ("GridSample", "c g", "s", {}), ("Conv", "s v", "y", {})],
        {"w": normal(19, 5, 3, 3, scale=0.2), "v": normal(7, 19, 1, 1), "g": np.tanh(normal(1, 11, 6, 2))})
    for channels in (3, 6):
        yield f"GridSample, three dimensions, {channels} channels", chain(
            [None, channels, 4, 5, 6], [("GridSample", "x g", "y", {"padding_mode": "border"})],
            {"g": 1.2 * np.tanh(normal(2, 3, 4, 5, 3))}, [[2, channels, 4, 5, 6]])
    for channels in (16, 19):
        yield f"GridSample, {channels} channels, samples summed", chain([4, channels, 6, 7], [
            ("GridSample", "x g", "s", {}), ("Mul", "s weights", "m", {}),
            ("ReduceSum", "m last", "y", {"keepdims": 0})],
            {"g": np.tanh(normal(4, 11, 4, 2)), "weights": normal(4, 1, 11, 4), "last": np.int64([-1])}, ranks=3)
    nodes = [("Conv", "x p", "o", {"pads": [1] * 4}), ("Conv", "x q", "m0", {"pads": [1] * 4}), ("Sigmoid", "m0", "m", {}),
             ("DeformConv", "x w o b m", "y", {"pads": [1] * 4, "group": 2, "offset_group": 2})]
    yield "DeformConv, image of the run", chain([None, 4, "h", "w"], nodes, {
        "p": normal(36, 4, 3, 3, scale=0.1), "q": normal(18, 4, 3, 3), "w": normal(6, 2, 3, 3, scale=0.3),
        "b": normal(6)}, [[1, 4, 7, 6], [2, 4, 3, 9]])


def regions():
    """Regions inside, across and outside the borders, without a size, turned around, and of many samples each."""
    edges = np.float32([[1, 1, 7, 6], [0, 0, 10, 8], [-5, -4, 3, 2], [20, 20, 30, 30], [4, 3, 4, 3],
                        [2.3, 1.7, 2.9, 8.2], [6, 5, 2, 1]])
    batches = np.int64([0, 1, 1, 0, 1, 0, 1])
    made = [("Split", "x", "low size", {"axis": 1, "num_outputs": 2}), ("Abs", "size", "s", {}),
            ("Add", "low s", "high", {}), ("Concat", "low high", "edges", {"axis": 1}), ("Mul", "edges six", "r", {}),
            ("ArgMax", "x", "b", {"axis": 1, "keepdims": 0})]
    for mode in ("avg", "max"):
        for half in ("half_pixel", "output_half_pixel"):
            for ratio in (0, 2, 3):
                attributes = {"mode": mode, "coordinate_transformation_mode": half, "sampling_ratio": ratio,
                              "output_height": 3, "output_width": 2, "spatial_scale": 0.75}
                # ONNX Runtime fails where it has less than no samples.
                count = 6 if half == "half_pixel" and ratio == 0 else 7
                given = {"r": edges[:count], "b": batches[:count]}
                name = f"RoiAlign, {mode}, {half}, {ratio or 'any'} samples"
                for channels in (1, 70):
                    yield f"{name}, {channels} channels", chain(
                        [2, channels, 9, 11], [("RoiAlign", "x r b", "y", attributes)], given)
                yield f"{name}, sizes of the run", chain(
                    ["n", "c", "h", "w"], [("RoiAlign", "x r b", "y", attributes)], given,
                    [[2, 20, 9, 11], [3, 1, 1, 2], [2, 7, 40, 30]])
                yield f"{name}, regions of the run", chain(
                    ["regions", 4], [*made, ("RoiAlign", "image r b", "y", attributes)],
                    {"six": np.float32(6), "image": normal(4, 19, 6, 7)}, [[9, 4], [0, 4], [1, 4]], ranks=4)
    for ratio in (0, 1):
        attributes = {"sampling_ratio": ratio, "output_height": 5, "output_width": 4}
        yield f"RoiAlign, {ratio or 'any'} samples, between convolutions", chain([2, 5, 9, 8], [
            ("Conv", "x w", "c", {}), ("RoiAlign", "c r b", "s", attributes), ("Conv", "s v", "y", {})],
            {"w": normal(19, 5, 3, 3, scale=0.2), "v": normal(7, 19, 1, 1), "r": edges[:6], "b": batches[:6]})
        yield f"RoiAlign, {ratio or 'any'} samples, few of a large image", chain(
            [2, 19, 50, 60], [("RoiAlign", "x r b", "y", attributes)], {"r": 5 * edges[:1], "b": np.int64([1])})
    greatest = {"pooled_shape": [3, 2], "spatial_scale": 0.75}
    given = {"r": np.concatenate([batches[:, None], edges], 1).astype(np.float32)}
    for channels in (1, 70):
        yield f"MaxRoiPool, {channels} channels", chain(
            [2, channels, 9, 11], [("MaxRoiPool", "x r", "y", greatest)], given)
    yield "MaxRoiPool, sizes of the run", chain(
        ["n", "c", "h", "w"], [("MaxRoiPool", "x r", "y", greatest)], given, [[2, 20, 9, 11], [3, 1, 1, 2], [2, 7, 40, 30]])
    yield "MaxRoiPool, regions of the run", chain(["regions", 5], [
        ("Abs", "x", "r", {}), ("MaxRoiPool", "image r", "y", greatest)], {"image": normal(4, 19, 6, 7)}, [[9, 5], [0, 5]], 4)
    yield "MaxRoiPool between convolutions", chain([2, 5, 9, 8], [
        ("Conv", "x w", "c", {}), ("MaxRoiPool", "c r", "s", greatest), ("Conv", "s v", "y", {})],
        {"w": normal(19, 5, 3, 3, scale=0.2), "v": normal(7, 19, 1, 1), **given})


KINDS = (folded_pixels, pooled_windows, lines, strided, skipped_pixels, siblings, pyramids, lone_windows, pools, blocks,
         samples, regions)
