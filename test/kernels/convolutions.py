"""Convolutions alone, and what windows, channels and sizes make of them."""

import numpy as np

from graphs import chain, convolution, normal


def by_way_of_floats():
    """Padded to whole windows, as many as an exporter computes with floats: ceil((n - size) / step + 1), a half, a third."""
    steps = [("Shape", "x", "n", {"start": 2}), ("Sub", "n size", "a", {}), ("Cast", "a", "f", {"to": 1})]
    ends = [("Cast", "e", "i", {"to": 7}), ("Sub", "i one", "l", {}), ("Mul", "l step", "m", {}), ("Add", "m size", "t", {}),
            ("Sub", "t n", "r", {}), ("Concat", "before r", "pads", {"axis": 0}), ("Pad", "x pads", "p", {}),
            ("Conv", "p w", "c", {"strides": [3]}), ("Relu", "c", "y", {})]
    weights = {"size": np.int64([3]), "step": np.int64([3]), "one": np.int64([1]), "before": np.int64([0, 0, 0, 0, 0]),
               "fone": np.float32([1]), "fstep": np.float32([3]), "half": np.float32([0.5]), "w": normal(16, 8, 3)}
    for name, middle in {
        "ceil": [("Div", "f fstep", "q", {}), ("Add", "q fone", "s", {}), ("Ceil", "s", "e", {})],
        "floor and a half": [("Div", "f fstep", "q", {}), ("Add", "q half", "s", {}), ("Add", "s half", "h", {}),
                             ("Floor", "h", "g", {}), ("Add", "g fone", "e", {})],
        "conversion": [("Cast", "f", "d", {"to": 11}), ("Cast", "fstep", "dstep", {"to": 11}), ("Div", "d dstep", "q", {}),
                       ("Cast", "half", "dhalf", {"to": 11}), ("Add", "q dhalf", "u", {}), ("Ceil", "u", "v", {}),
                       ("Cast", "fone", "done", {"to": 11}), ("Add", "v done", "e", {})],
    }.items():
        yield f"windows by way of floats, {name}", chain(
            ["b", 8, "n"], steps + middle + ends, weights, [[1, 8, n] for n in (3, 4, 5, 6, 31, 32, 33)])


def few_channels():
    """Convolutions to a few channels of an image whose channels are last, what follows them, and rows of a product."""
    for channels, filters, window, attributes in (
            (16, 2, (3, 3), {"pads": [1] * 4}), (16, 3, (1, 1), {}), (48, 4, (5, 3), {"pads": [2, 1, 2, 1], "strides": [2, 1]}),
            (32, 3, (9, 9), {"pads": [4] * 4}), (64, 7, (3, 3), {"dilations": [2, 3], "pads": [2, 3, 2, 3]}),
            (80, 3, (2, 2), {"strides": [3, 3]}), (24, 3, (3, 3), {"pads": [1] * 4})):
        weights = {"v": normal(channels, channels, 1, 1, scale=channels ** -0.5), "b": normal(filters),
                   "w": normal(filters, channels, *window, scale=0.1)}
        layers = [("Conv", "x v", "u", {}), ("Relu", "u", "z", {}), ("Conv", "z w b", "c", attributes)]
        name = f"{channels} to {filters} channels, windows of {'x'.join(map(str, window))}"
        for shape in ([1, channels, 13, 17], [2, channels, 9, 30]):
            yield f"{name}, image {shape}", chain(shape, [*layers, ("Sigmoid", "c", "y", {})], weights)
        yield f"{name}, sizes of the run", chain(
            ["n", channels, "h", "w"], [*layers, ("Sigmoid", "c", "y", {})], weights,
            [[1, channels, 9, 9], [2, channels, 10, 31], [1, channels, 23, 14]])
        yield f"{name}, softmax", chain([1, channels, 12, 15], [*layers, ("Softmax", "c", "y", {"axis": 1})], weights)
        yield f"{name}, pooled", chain([1, channels, 12, 18], [*layers, ("MaxPool", "c", "y", {"kernel_shape": [2, 2]})], weights)
        yield f"{name}, mean", chain([1, channels, 12, 15], [*layers, ("GlobalAveragePool", "c", "y", {})], weights)
    for channels, filters, width, stride in ((32, 1, 4, 2), (16, 3, 4, 2), (24, 2, 5, 3), (48, 3, 3, 1)):
        weights = {"v": normal(channels, channels, 3, 3, scale=0.1), "w": normal(channels, filters, width, width, scale=0.1),
                   "b": normal(filters)}
        attributes = {"strides": [stride] * 2, "pads": [1] * 4}
        for name, before in (("an image with channels last", [("Conv", "x v", "u", {}), ("Relu", "u", "z", {})]),
                             ("one with channels first", [("Identity", "x", "z", {})])):
            yield f"transposed convolution of {name}, {channels} to {filters} channels, window of {width}", chain(
                [2, channels, 9, 12], [*before, ("ConvTranspose", "z w b", "t", attributes), ("Tanh", "t", "y", {})], weights)
    yield "convolution of an image with channels first, 32 to 3 channels", chain([1, 32, 14, 19], [
        ("Conv", "x w", "c", {"pads": [1] * 4}), ("Relu", "c", "y", {})], {"w": normal(3, 32, 3, 3, scale=0.1)})
    for rows in (1, 2, 9):
        for columns in (1, 2, 4, 8):
            yield f"product of {rows} rows of 96 to {columns} columns", chain(
                [rows, 96], [("Gemm", "x w b", "g", {"transB": 1}), ("Tanh", "g", "y", {})],
                {"w": normal(columns, 96, scale=0.1), "b": normal(columns)})
            yield f"product of {rows} rows of 96 to {columns} columns, softmax", chain(
                [rows, 96], [("Gemm", "x w b", "g", {"transB": 1}), ("Softmax", "g", "y", {})],
                {"w": normal(columns, 96, scale=0.1), "b": normal(columns)})
    yield "rows of the run, to 3 columns", chain(["n", 5, 64], [("MatMul", "x w", "m", {}), ("Softmax", "m", "y", {})],
                                                 {"w": normal(64, 3, scale=0.1)}, [[n, 5, 64] for n in (1, 2, 7)])


def convolutions():
    same = {"pads": [1, 1, 1, 1]}
    yield "3x3, many pixels", convolution([1, 32, 28, 28], 48, (3, 3), **same)
    yield "3x3, as many pixels as a tile", convolution([1, 64, 14, 14], 64, (3, 3), **same)
    yield "3x3, odd sizes, batch 2", convolution([2, 40, 13, 17], 24, (3, 3), **same)
    yield "3x3, pads that differ", convolution([1, 32, 19, 21], 32, (3, 3), pads=[0, 2, 1, 0])
    for shape in ([2, 32, 19, 21], ["n", 40, 13, 17]):
        sizes = [[b, *shape[1:]] for b in (1, 3)] if shape[0] == "n" else None
        yield f"3x3, channels first, {shape}", convolution(shape, 48, (3, 3), sizes=sizes, before=False, pads=[0, 2, 1, 0])
    yield "3x3, no pads", convolution([1, 32, 18, 18], 32, (3, 3))
    yield "3x3, few pixels", convolution([1, 48, 7, 7], 64, (3, 3), **same)
    yield "3x3, few channels", convolution([1, 5, 9, 9], 7, (3, 3), **same)
    yield "3x3, one output channel", convolution([2, 24, 18, 37], 1, (3, 3), **same)
    yield "5x5, three output channels", convolution([1, 24, 20, 48], 3, (5, 5), pads=[2, 2, 2, 2])
    yield "3x3, three output channels of a first layer", convolution([1, 40, 20, 33], 3, (3, 3), before=False, **same)
    long = {"w": normal(40, 1, 63, scale=0.1), "b": normal(40)}
    yield "63 taps of a row of any length", chain(
        ["n", 40, "t"], [("Conv", "x w b", "c", {"group": 40, "pads": [31, 31]}), ("Relu", "c", "y", {})], long,
        [[1, 40, t] for t in (1, 7, 64, 200)] + [[2, 40, 75]])
    yield "nine taps, two output channels", convolution([2, 24, 100], 2, (9,), pads=[4, 4])
    yield "3x3, stride 2", convolution([1, 24, 15, 18], 32, (3, 3), strides=[2, 2], **same)
    yield "3x3, dilated", convolution([1, 24, 17, 17], 16, (3, 3), dilations=[2, 2], pads=[2] * 4)
    for shape in ([1, 40, 16, 32], [2, 36, 19, 21]):
        for taps in ((3, 3), (5, 5)):
            yield f"{taps[0]}x{taps[1]}, dilated, channels first, {shape}", convolution(
                shape, 40, taps, before=False, dilations=[2, 2], pads=[taps[0] - 1] * 4)
    yield "3x3, dilated, no image", convolution([0, 40, 16, 32], 40, (3, 3), before=False, dilations=[2, 2], pads=[2] * 4)
    for taps, stride, size in ((1, 1, 70), (3, 2, 131), (3, 1, 50)):
        weights = {"w": normal(136, 520, taps, scale=0.03), "b": normal(136)}
        yield f"{taps} of a row of 520 channels, stride {stride}", chain([1, 520, size], [
            ("Conv", "x w b", "c", {"strides": [stride], "pads": [taps // 2] * 2}), ("Relu", "c", "y", {})], weights)
    for channels, taps, pads, dilation in ((1, 61, [30, 30], 1), (1, 251, [125, 125], 1), (1, 25, [3, 20], 1), (1, 9, [0, 700], 1),
                                           (4, 7, [9, 9], 3), (2, 5, [2, 2], 1)):
        for size in (60, 259, 1003):
            how = {"pads": pads, "dilations": [dilation]}
            if size + sum(pads) >= (taps - 1) * dilation + 1:
                yield f"{taps} taps of a long row, {channels} channels, {size} pixels, pads {pads}", convolution(
                    [2, channels, size], 40, (taps,), before=False, **how)
    for shape, filters, taps, stride, pads in (
            ([1, 1, 1003], 72, (16,), [8], [0, 0]), ([3, 1, 1003], 130, (10,), [5], [5, 5]), ([1, 1, 800], 96, (40,), [20], [0, 7]),
            ([2, 4, 501], 128, (5,), [2], [2, 2]), ([1, 1, 1, 1003], 72, (1, 16), [1, 8], [0, 3, 0, 9]),
            ([1, 2, 1, 400], 70, (1, 7), [1, 2], [0, 0, 0, 0]), ([1, 1, 700], 64, (7,), [3], [0, 300])):
        yield f"{taps} leaping by {stride} along the row of {shape}, pads {pads}", convolution(
            shape, filters, taps, before=False, strides=stride, pads=pads)
        yield f"{taps} leaping by {stride} along the row of {shape}, pads {pads}, any batch", convolution(
            ["n", *shape[1:]], filters, taps, sizes=[[n, *shape[1:]] for n in (1, 3)], before=False, strides=stride, pads=pads)
    yield "5x3, stride 2 and 1", convolution([1, 16, 17, 20], 16, (5, 3), strides=[2, 1], pads=[2, 1, 2, 1])
    yield "7x7, first layer", convolution([1, 3, 37, 41], 20, (7, 7), before=False, strides=[2, 2], pads=[3] * 4)
    yield "3x3, channels in front", convolution([1, 32, 20, 20], 32, (3, 3), before=False, **same)
    yield "depthwise 3x3", convolution([1, 20, 15, 15], 20, (3, 3), group=20, **same)
    yield "depthwise 5x5, stride 2", convolution([1, 36, 14, 14], 36, (5, 5), group=36, strides=[2, 2], pads=[2] * 4)
    yield "grouped", convolution([1, 32, 12, 12], 48, (3, 3), group=4, **same)
    for channels in (2, 4, 8):  # as many groups as a vector holds, and less of them at the end
        yield f"groups of {channels}", convolution([1, 40, 11, 13], 40, (3, 3), group=40 // channels, **same)
        yield f"groups of {channels}, stride 2", convolution([2, 32, 12, 9], 32, (3, 3), group=32 // channels,
                                                             strides=[2, 2], pads=[0, 1, 1, 0])
    for channels, maps in ((1, 2), (1, 4), (1, 8), (2, 4), (2, 8)):
        groups = 40 // maps
        yield f"groups of {channels}, {maps} maps", convolution([1, groups * channels, 11, 13], 40, (3, 3),
                                                                group=groups, **same)
    yield "groups of one channel, 4 maps, height and width of the run", convolution(
        [1, 9, "h", "w"], 36, (3, 3), group=9, **same, sizes=[[1, 9, 9, 30], [1, 9, 20, 5]])
    for before in (True, False):
        for filters, group, kernel, attributes in (
                (17, 17, (1, 1), {}), (17, 17, (3, 3), {"pads": [1] * 4}), (2, 2, (7, 7), {"pads": [3] * 4}),
                (6, 3, (3, 3), {"strides": [2, 2], "pads": [1, 0, 1, 2]}), (4, 2, (3,), {"pads": [1, 1]}),
                (2, 2, (3, 3, 3), {"dilations": [1, 2, 1], "pads": [1] * 6})):
            shape = [2, 8 * group, 9, 20, 18][:2 + len(kernel)]
            yield f"{filters} maps of {group} groups, {kernel}, {'behind another' if before else 'alone'}", convolution(
                shape, filters, kernel, group=group, before=before, **attributes)
    for maps, kernel, attributes in (
            (1, (4, 4), {"strides": [2, 2], "pads": [1] * 4}), (1, (9, 9), {"strides": [3, 3], "pads": [4] * 4}),
            (2, (3, 3), {"strides": [2, 2], "pads": [1] * 4, "output_padding": [1, 1]}),
            (3, (3, 3), {"strides": [2, 2], "pads": [1] * 4, "output_padding": [1, 1]}),
            (1, (3, 5), {"strides": [4, 2], "dilations": [1, 3]}), (5, (2, 2), {"strides": [3, 2]}),
            (12, (2, 2), {"strides": [2, 2]}), (1, (20,), {"strides": [10], "pads": [5, 5]}),
            (2, (3, 3, 3), {"strides": [2, 1, 2], "pads": [1] * 6})):
        for bias in (True, False):
            known = [2, 24, 6, 7, 5][:2 + len(kernel)]
            unknown = [2, 24, "h", "w", "d"][:2 + len(kernel)]
            for shape in (known, unknown):
                weights = {"w": normal(24, maps, *kernel, seed=4, scale=0.1), **({"b": normal(maps)} if bias else {})}
                yield f"ConvTranspose of {shape} to {maps} maps, {kernel}, {attributes}{', bias' * bias}", chain(
                    shape, [("ConvTranspose", "x w b" if bias else "x w", "t", attributes), ("Tanh", "t", "y", {})], weights,
                    [known])
    for kernel, stride in (((4, 4), 2), ((2, 2), 2), ((3, 4), 3)):
        for width in (32, 41):  # rows of whole vectors, and not
            for batch, batches in ((2, [2]), ("n", [1, 2])):
                yield f"ConvTranspose of {batch} images, rows of {width} to three maps, {kernel}, stride {stride}", chain(
                    [batch, 20, 6, width], [("ConvTranspose", "x w b", "t", {"strides": [stride] * 2}), ("Relu", "t", "y", {})],
                    {"w": normal(20, 3, *kernel, scale=0.1), "b": normal(3)},
                    [[b, 20, 6, width] for b in batches])
    yield "groups of many channels, one map", convolution([2, 96, 9, 7], 2, (1, 1), group=2)
    yield "groups of many channels, one map, stride 2", convolution([1, 99, 9, 7], 3, (1, 1), group=3, strides=[2, 2])
    for name, filters, group, kernel in (("3x3", 40, 1, (3, 3)), ("5x5, odd sizes", 23, 1, (5, 5)),
                                         ("3x3, groups", 48, 4, (3, 3)), ("6x6, depthwise", 24, 24, (6, 6)),
                                         ("2x2, few channels", 48, 12, (2, 2))):
        nodes = [("Sigmoid", "x", "s", {}), ("ReduceMean", "s", "m", {"keepdims": 1}), ("Mul", "w m", "f", {}),
                 ("Conv", "x f b", "c", {"group": group}), ("Relu", "c", "y", {})]
        yield f"computed filters, {name}", chain([2, 24, 19, 17], nodes, {
            "w": normal(filters, 24 // group, *kernel, scale=0.1), "b": normal(filters)})
    yield "1x1, one output channel", convolution([2, 40, 9, 7], 1, (1, 1))
    yield "1x1, one output channel, height and width of the run", convolution(
        [1, 48, "h", "w"], 1, (1, 1), sizes=[[1, 48, 9, 30], [1, 48, 20, 5]])
    yield "groups of 4 in one dimension", convolution([1, 48, 30], 48, (5,), group=12, pads=[2, 2], dilations=[1])
    yield "groups of 8, channels in front", convolution([1, 24, 10, 10], 24, (3, 3), group=3, before=False, **same)
    for channels, maps, attributes in ((4, 4, same), (2, 8, {"pads": [0, 2, 1, 0], "dilations": [1, 2]}), (3, 4, {}),
                                       (2, 2, {"pads": [1] * 4, "strides": [2, 1]})):
        yield f"groups of {channels}, {maps} maps, along rows", convolution(
            [2, 6 * channels, 9, 45], 6 * maps, (3, 3), group=6, before=False, **attributes)
    for channels in (3, 5, 6):
        yield f"groups of {channels}, a batch of the run", convolution(["n", 8 * channels, 9, 14], 8 * channels, (3, 3),
                                                                       group=8, **same,
                                                                       sizes=[[n, 8 * channels, 9, 14] for n in (1, 3)])
    yield "groups of 4, height and width of the run", convolution([1, 16, "h", "w"], 16, (3, 3), group=4, **same,
                                                                  sizes=[[1, 16, 9, 30], [1, 16, 20, 5]])
    yield "one dimension", convolution([2, 12, 50], 20, (5,), pads=[2, 2])
    yield "three dimensions", convolution([1, 6, 7, 8, 9], 10, (3, 3, 3), pads=[1] * 6)
    yield from by_way_of_floats()
    yield from long_windows()
    yield from frames()
    yield from filtered_windows()
    yield "3x3, many channels, batch of the run", convolution(["n", 40, 21, 19], 56, (3, 3), **same,
                                                              sizes=[[1, 40, 21, 19], [3, 40, 21, 19]])
    yield "5x5, three output channels, sizes of the run", convolution(
        ["n", 24, "h", "w"], 3, (5, 5), pads=[2] * 4, sizes=[[2, 24, 9, 40], [1, 24, 6, 5], [1, 24, 3, 2]])
    # By Winograd's filtering, with tiles at borders that the run finds.
    images = [(1, 1), (3, 4), (4, 2), (9, 30), (20, 5), (37, 41)]
    yield "3x3, many channels, height and width of the run", convolution(
        [1, 40, "h", "w"], 56, (3, 3), **same, sizes=[[1, 40, *image] for image in images])
    yield "3x3, many channels, all sizes of the run, pads that differ", convolution(
        ["n", 64, "h", "w"], 72, (3, 3), pads=[0, 2, 1, 0], sizes=[[2, 64, 7, 9], [1, 64, 30, 33], [3, 64, 2, 1]])
    yield "3x3, many channels, width of the run, no pads", convolution(
        [1, 48, 22, "w"], 33, (3, 3), sizes=[[1, 48, 22, 3], [1, 48, 22, 17]])
    # Rows of a tile and each number that is left of them.
    widths = [[1, 20, 2, width] for width in (*range(1, 17), 29, 43)]
    for width, taps in ((2, 3), (4, 5), (4, 3), (9, 17), (30, 31)):
        yield f"pool of {taps} taps, {width} columns, every height", chain(
            [1, 3, "h", width], [("AveragePool", "x", "y", {"kernel_shape": [1, taps], "pads": [0, taps // 2] * 2})],
            sizes=[[1, 3, height, width] for height in (1, 2, 9, 30)])
    tall = [[1, 24, height, 1] for height in (1, 5, 14, 15, 29, 200)]
    yield "1x1, one column, every height", convolution([1, 24, "h", 1], 4, (1, 1), sizes=tall)
    yield "3x1, one column, every height", convolution([1, 24, "h", 1], 40, (3, 1), sizes=tall, pads=[1, 0, 1, 0])
    yield "1x1, one column, any batch", convolution(
        ["n", 24, "h", 1], 36, (1, 1), sizes=[[3, *size[1:]] for size in tall] + tall)
    for height in (1, 8, 30, 70):
        yield f"64x1, {height} rows of one column, any batch", convolution(
            ["n", 8, height, 1], 24, (64, 1), sizes=[[n, 8, height, 1] for n in (1, 3)], pads=[31, 0, 32, 0])
        yield f"64x1, stride 4, {height} rows of one column", convolution(
            [2, 8, height, 1], 24, (64, 1), pads=[31, 0, 33, 0], strides=[4, 1])
    for width in (2, 3):
        yield f"9x1, {width} columns, any batch", convolution(
            ["n", 12, 40, width], 24, (9, 1), sizes=[[n, 12, 40, width] for n in (1, 2)], pads=[4, 0, 4, 0])
        yield f"5x5, stride 2, {2 * width} columns", convolution([2, 12, 41, 2 * width], 24, (5, 5), strides=[2, 2], pads=[2] * 4)
        yield f"3x3, {width} columns, every height", convolution(
            [1, 12, "h", width], 40, (3, 3), sizes=[[1, 12, height, width] for height in (1, 2, 15, 50)], **same)
        yield f"depthwise 3x3, {width} columns", convolution([2, 40, 33, width], 40, (3, 3), group=40, **same)
    yield "1x1, every width", convolution([1, 20, 2, "w"], 40, (1, 1), sizes=widths)
    yield "3x3, every width", convolution([1, 20, 2, "w"], 40, (3, 3), sizes=widths, **same)
    for stride in (2, 3):
        yield f"3x3, stride {stride}, every width", convolution([1, 20, 2, "w"], 40, (3, 3), sizes=widths,
                                                                strides=[1, stride], **same)
        yield f"3x2, stride {stride}, no pads, every width", convolution(
            [1, 20, 2, "w"], 40, (3, 2), sizes=[size for size in widths if size[-1] > 1], pads=[1, 0, 1, 0],
            strides=[1, stride])
    # Tiles at borders that only the run finds, up to images that no tap but the middle one meets.
    yield "3x3, dilation 2, every width", convolution(
        [1, 20, 2, "w"], 40, (3, 3), sizes=widths, pads=[2] * 4, dilations=[2, 2])
    yield "3x3, dilation 12, every width", convolution(
        [1, 20, 2, "w"], 40, (3, 3), sizes=widths, pads=[12] * 4, dilations=[12, 12])
    yield "3x5, stride 2, dilation 3, every width, pads that differ", convolution(
        [1, 20, 2, "w"], 40, (3, 5), sizes=widths, pads=[1, 7, 1, 9], strides=[1, 2], dilations=[1, 3])
    yield "3 taps, every length", convolution(
        [1, 20, "l"], 40, (3,), sizes=[[1, 20, length] for *_, length in widths], pads=[1, 1])
    yield "three dimensions of the run", convolution([1, 20, "t", "h", "w"], 40, (3, 3, 3), pads=[1] * 6, sizes=[
        [1, 20, 2, 3, 1], [1, 20, 1, 2, 4], [1, 20, 3, 2, 11], [1, 20, 2, 1, 14]])
    # Longer windows than code for each tile at a border pays for.
    # Down the columns of an image.
    for taps, stride, dilation in ((2, 1, 1), (3, 1, 1), (5, 2, 1), (7, 1, 2), (11, 1, 1), (16, 1, 1), (21, 1, 1), (9, 3, 2)):
        pad = (taps - 1) * dilation // 2
        how = {"group": 40, "strides": [stride, 1], "dilations": [dilation, 1], "pads": [pad, 0, pad, 0]}
        name = f"depthwise {taps}x1, stride {stride}, dilation {dilation}"
        yield name, convolution([2, 40, 30, 13], 40, (taps, 1), **how)
        yield f"{name}, alone", convolution([1, 40, 22, 16], 40, (taps, 1), before=False, **how)
        yield f"{name}, sizes of the run", convolution(["n", 40, "h", "w"], 40, (taps, 1), **how,
                                                       sizes=[[1, 40, 24, 9], [2, 40, 41, 2], [1, 40, 17, 1]])
    for name, shape, sizes in (("", [1, 20, 32, 32], None),
                               (", batch of the run", ["n", 20, 14, 30], [[1, 20, 14, 30], [3, 20, 14, 30]]),
                               (", sizes of the run", ["n", 20, "h", "w"],
                                [[1, 20, 28, 28], [2, 20, 5, 40], [1, 20, 33, 3], [1, 20, 1, 1]])):
        yield f"depthwise 31x31{name}", convolution(shape, 20, (31, 31), group=20, sizes=sizes, pads=[15] * 4)
    yield "depthwise 13x21, stride 2, pads that differ", convolution(
        [1, 20, 15, 30], 20, (13, 21), group=20, strides=[1, 2], pads=[7, 13, 5, 9])
    # Rows whose tiles all end at the image, or hold what lies inside; several taps a step, and what is left of them.
    for taps, dilation, width in ((27, 1, 14), (12, 1, 70), (13, 1, 29), (9, 3, 100), (10, 2, 61), (11, 1, 7)):
        beside = (taps - 1) * dilation
        how = {"group": 24, "dilations": [1, dilation], "pads": [1, beside // 2, 1, beside - beside // 2]}
        name = f"depthwise 3x{taps}, dilation {dilation}"
        yield f"{name}, {width} columns", convolution([2, 24, 5, width], 24, (3, taps), **how)
        yield f"{name}, columns of the run", convolution(
            [1, 24, 5, "w"], 24, (3, taps), sizes=[[1, 24, 5, columns] for columns in (width, 1, 50, 64)], **how)
    for shape, sizes in (([2, 24, 100], None), (["n", 24, "l"], [[2, 24, 100], [1, 24, 1], [3, 24, 37], [1, 24, 260]])):
        yield f"depthwise, 31 taps, {shape}", convolution(shape, 24, (31,), group=24, pads=[15, 15], sizes=sizes)
    yield "21 taps", convolution([1, 12, 30], 20, (21,), pads=[10, 10])
    for name, batch in (("batch", ["n", 16, 20, 20]), ("height and width", [1, 16, "h", "w"])):
        sizes = [[1, 16, 20, 20], [3, 16, 20, 20]] if batch[0] == "n" else [[1, 16, 9, 30], [1, 16, 20, 5]]
        yield f"3x3, {name} of the run", convolution(batch, 24, (3, 3), sizes=sizes, **same)


def long_windows():
    """Windows of which most tiles, or very few, lack taps; alone and in groups, with a residual behind them."""
    for name, length, taps, attributes in (
            ("128 taps", 49, 128, {"pads": [64, 64]}), ("40 taps, one length more", 60, 40, {"pads": [20, 20]}),
            ("31 taps, stride 3", 64, 31, {"pads": [15, 12], "strides": [3]}),
            ("11 taps, a long row", 901, 11, {"pads": [5, 5]}), ("7 taps, a long row, dilated", 1030, 7,
                                                                {"pads": [15, 15], "dilations": [5]}),
            ("9 taps, a long row, stride 2", 1001, 9, {"pads": [3, 8], "strides": [2]})):
        for group in (1, 2):
            yield f"{name}, {group} groups", convolution([2, 20, length], 36, (taps,), group=group, **attributes)
    for channels, group in ((12, 1), (48, 3), (80, 2)):
        steps = [("Conv", "x w0", "z", {}), ("Conv", "z w b", "c", {"group": group, "pads": [1] * 4}), ("Mul", "c s", "m", {}),
                 ("Add", "m z", "a", {}), ("HardSwish", "a", "h", {}), ("Conv", "h w0", "y", {})]
        weights = {"w0": normal(channels, channels, 1, 1, scale=channels ** -0.5), "b": normal(channels),
                   "w": normal(channels, channels // group, 3, 3, scale=0.1), "s": normal(channels, 1, 1)}
        for name, shape in (("", [1, channels, 15, 17]), (", any size", ["n", channels, "h", "w"])):
            yield f"{group} groups of a residual{name}", chain(
                shape, steps, weights, [[1, channels, 15, 17]] + [[2, channels, 9, 4]] * (name != ""))


def many_channels():
    """Windows whose panel of weights is larger than L2: pieces of the channels for all pixels, one after the other. Strides,
    and taps that are mostly padding, so that Winograd's filtering is not for those of known size."""
    channels, filters = 1900, 64
    weights = {"w0": normal(channels, 8, 1, 1, scale=0.3), "b": normal(filters),
               "w": normal(filters, channels, 3, 3, seed=4, scale=0.01), "u": normal(filters, 8, 1, 1, seed=5, scale=0.3)}
    for name, attributes in (("dilated", {"pads": [3] * 4, "dilations": [3, 3]}), ("stride 2", {"strides": [2, 2]}),
                             ("stride 2, padded", {"pads": [1] * 4, "strides": [2, 2]}),
                             ("dilated by more than half", {"pads": [4] * 4, "dilations": [4, 4]})):
        for size in ([2, 8, 7, 9], [1, 8, "h", "w"]):
            sizes = [[1, 8, 5, 13], [1, 8, 6, 6]] if "h" in size else None
            yield f"{channels} channels, {name}, {'any size' if sizes else 'known'}", chain(size, [
                ("Conv", "x w0", "z", {}), ("Conv", "z w b", "c", attributes), ("Relu", "c", "y", {})], weights, sizes)
        yield f"{channels} channels and padded ones, {name}", chain([2, 8, 7, 9], [
            ("Conv", "x w0", "z", {}), ("Pad", "z ends", "p", {}), ("Conv", "p v b", "c", attributes), ("Relu", "c", "y", {})],
            weights | {"ends": np.int64([0, 1, 0, 0, 0, 4, 0, 0]), "v": normal(filters, channels + 5, 3, 3, scale=0.01)})
    yield f"{channels} channels and a residual", chain([1, 8, 7, 9], [
        ("Conv", "x w0", "z", {}), ("Conv", "x u", "t", {}), ("Conv", "z w b", "c", {"pads": [3] * 4, "dilations": [3, 3]}),
        ("Add", "c t", "r", {}), ("Conv", "r v", "y", {})], weights | {"v": normal(8, filters, 1, 1, scale=0.3)})


def filtered_windows():
    """Windows that Winograd's filtering makes groups of taps of: long, even, in one direction, apart, and with strides."""
    for name, spatial, kernel, attributes in (
            ("3 taps", [50], (3,), {"pads": [1, 1]}),
            ("3 taps in front, 4 apart", [61], (3,), {"pads": [8, 0], "dilations": [4]}),
            ("2 taps, 8 apart", [70], (2,), {"pads": [8, 0], "dilations": [8]}), ("7 taps", [45], (7,), {"pads": [3, 3]}),
            ("11 taps, 3 apart", [80], (11,), {"pads": [15, 15], "dilations": [3]}), ("31 taps", [64], (31,), {"pads": [15, 15]}),
            ("3 taps, stride 2", [51], (3,), {"pads": [1, 1], "strides": [2]}),
            ("10 taps, stride 5", [103], (10,), {"strides": [5]}),
            ("8 taps, stride 4", [90], (8,), {"pads": [2, 3], "strides": [4]}),
            ("1x7", [17, 19], (1, 7), {"pads": [0, 3, 0, 3]}), ("7x1", [17, 19], (7, 1), {"pads": [3, 0, 3, 0]}),
            ("3x1, 3 apart", [16, 9], (3, 1), {"pads": [3, 0, 3, 0], "dilations": [3, 1]}),
            ("2x2", [15, 22], (2, 2), {}), ("4x4, pads that differ", [15, 13], (4, 4), {"pads": [1, 2, 2, 1]}),
            ("5x5", [14, 21], (5, 5), {"pads": [2] * 4}), ("7x7", [13, 12], (7, 7), {"pads": [3] * 4}),
            ("3x5, 1 and 2 apart", [18, 20], (3, 5), {"pads": [1, 4, 1, 4], "dilations": [1, 2]}),
            ("3x3, 12 apart", [30, 26], (3, 3), {"pads": [12] * 4, "dilations": [12, 12]}),
            ("3x3, stride 2", [27, 30], (3, 3), {"pads": [1] * 4, "strides": [2, 2]}),
            ("3x3, strides that differ", [27, 30], (3, 3), {"pads": [0, 1, 1, 0], "strides": [1, 2]}),
            ("4x4, stride 2", [28, 33], (4, 4), {"pads": [1] * 4, "strides": [2, 2]}),
            ("5x5, stride 2, padded behind", [28, 25], (5, 5), {"pads": [1, 1, 2, 2], "strides": [2, 2]}),
            ("6x5, stride 3", [31, 28], (6, 5), {"pads": [2] * 4, "strides": [3, 3]})):
        names, least = ["t"] if len(spatial) == 1 else ["h", "w"], [
            max(size // 4, (taps - 1) * step + 1)
            for size, taps, step in zip(spatial, kernel, attributes.get("dilations", [1, 1]))]
        for channels, filters in ((40, 48), (21, 19)):
            title = f"windows of {name}, {channels} channels"
            yield title, convolution([2, channels, *spatial], filters, kernel, **attributes)
            yield f"{title}, any size", convolution(
                ["n", channels, *names], filters, kernel,
                sizes=[[n, channels, *size] for n, size in ((1, spatial), (3, least))], **attributes)
        steps = [("Conv", "x w0", "z", {}), ("Conv", "z w", "c", attributes), ("Sigmoid", "c", "s", {}), ("Mul", "c s", "m", {}),
                 ("GlobalAveragePool", "m", "p", {}), ("Sub", "m p", "y", {})]
        ones = [1] * len(kernel)
        weights = {"w0": normal(24, 24, *ones, scale=0.2), "w": normal(44, 24, *kernel, seed=4, scale=0.1)}
        yield f"windows of {name}, gates and means", chain([1, 24, *spatial], steps, weights)
    # Twice padded images of unknown size: estimating their sizes leaves nothing behind that layouts would take for a change.
    steps = [("Pad", "x pads", "p", {}), ("Conv", "p w", "c", {"pads": [1, 1]}), ("Relu", "c", "y", {})]
    yield "3 taps, padded twice, any length", chain(
        ["n", 128, "t"], steps, {"pads": np.int64([0, 0, 3, 0, 0, 2]), "w": normal(128, 128, 3, scale=0.05)},
        [[1, 128, 9], [2, 128, 40]])
    for kernel, pads in (((3, 1, 1), [1, 0, 0, 1, 0, 0]), ((2, 1, 1), [0] * 6), ((5, 1, 1), [4, 0, 0, 0, 0, 0])):
        yield f"frames, {kernel[0]}x1x1", convolution([2, 40, 9, 7, 8], 48, kernel, pads=pads)
        yield f"frames, {kernel[0]}x1x1, any size", convolution(
            ["n", 40, "t", "h", "w"], 48, kernel, pads=pads, sizes=[[1, 40, 9, 5, 4], [2, 40, 5, 3, 7]])


def frames():
    """Windows of 3x3 over frames that do not meet, and over those of a few."""
    for name, kernel, attributes in (
            ("1x3x3", (1, 3, 3), {"pads": [0, 1, 1, 0, 1, 1]}), ("1x3x3, every other", (1, 3, 3), {"strides": [2, 1, 1]}),
            ("1x3x3, padded in front", (1, 3, 3), {"pads": [2, 1, 0, 1, 0, 2]}),
            ("3x3x3", (3, 3, 3), {"pads": [1] * 6}), ("2x3x3, pads that differ", (2, 3, 3), {"pads": [1, 0, 2, 0, 1, 0]}),
            ("3x3x3, every third", (3, 3, 3), {"pads": [1] * 6, "strides": [3, 1, 1]}),
            ("3x3x3, two apart", (3, 3, 3), {"pads": [2, 1, 1, 2, 1, 1], "dilations": [2, 1, 1]})):
        yield f"frames, {name}", convolution([2, 40, 5, 14, 15], 48, kernel, **attributes)
        yield f"frames, {name}, any size", convolution(
            ["n", 40, "t", "h", "w"], 48, kernel, sizes=[[1, 40, 4, 12, 13], [2, 40, 7, 16, 9]], **attributes)
    for name, dilations, pads in (("2 apart", [2, 2], [2] * 4), ("3 apart, pads that differ", [3, 3], [1, 4, 3, 0]),
                                  ("2 apart, no pads", [2, 2], [0] * 4), ("4 apart", [4, 4], [4] * 4),
                                  ("2 and 3 apart", [2, 3], [2, 3, 2, 3])):
        yield f"taps {name}", convolution([2, 40, 25, 28], 48, (3, 3), dilations=dilations, pads=pads)
        yield f"taps {name}, any size", convolution(
            ["n", 40, "h", "w"], 48, (3, 3), sizes=[[n, 40, h, w] for n, h, w in ((1, 25, 28), (2, 7, 6), (1, 50, 9))],
            dilations=dilations, pads=pads)
        yield f"taps {name}, any batch", convolution(["n", 40, 24, 28], 48, (3, 3), dilations=dilations, pads=pads,
                                                     sizes=[[1, 40, 24, 28], [3, 40, 24, 28]])
    steps = [("Conv", "x w0", "z", {}), ("Conv", "z w b", "c", {"pads": [0, 1, 1, 0, 1, 1]}), ("Add", "c z", "a", {}),
             ("Relu", "a", "r", {}), ("Conv", "r v", "d", {"pads": [1, 0, 0, 1, 0, 0]}), ("GlobalAveragePool", "d", "y", {})]
    weights = {"w0": normal(40, 40, 1, 1, 1, scale=0.2), "w": normal(40, 40, 1, 3, 3, scale=0.1), "b": normal(40),
               "v": normal(40, 40, 3, 1, 1, scale=0.1)}
    yield "frames, a residual", chain([1, 40, 4, 14, 14], steps, weights)
    for name, shape, dims, window in (("frames", [1, 40, 3, 14, 14], 5, (1, 3, 3)), ("taps apart", [1, 40, 14, 14], 4, (3, 3))):
        for axis in (0, 1):
            pads = [int(dim == axis) for dim in range(dims)] + [0] * dims
            attributes = {"dilations": [2, 2]} if dims == 4 else {}
            yield f"{name}, padding along {axis}", chain(
                shape, [("Relu", "x", "r", {}), ("Pad", "r pads", "z", {}), ("Conv", "z w", "y", attributes)],
                {"pads": np.int64(pads), "w": normal(48, 40 + axis, *window, scale=0.1)})


def lone_convolutions():
    """Of images with channels in front, and nothing around them: along rows, or all pixels as one row."""
    for shape, filters in [([1, 16, 14, 8], 32), ([3, 16, 9, 11], 20), ([1, 64, 32, 32], 40), ([1, 3, 30, 50], 2),
                           ([2, 8, 97], 12), ([1, 8, 3, 5, 7], 9)]:
        kernel = (1,) * (len(shape) - 2)
        yield f"1x1 alone, {shape} to {filters}", convolution(shape, filters, kernel, before=False)
    yield "1x1 alone, batch of the run", convolution(["n", 16, 9, 11], 20, (1, 1), sizes=[[1, 16, 9, 11], [3, 16, 9, 11]],
                                                     before=False)
    yield "1x1 alone, padded", convolution([1, 16, 12, 15], 20, (1, 1), before=False, pads=[1, 2, 0, 1])
    for width in (31, 32, 64, 71, 224):
        yield f"3x3 alone, rows of {width}", convolution([2, 3, 9, width], 17, (3, 3), before=False, pads=[1] * 4)
    yield "5x3 alone, pads that differ", convolution([1, 5, 12, 64], 9, (5, 3), before=False, pads=[0, 2, 3, 1])
    yield "3x3 alone, dilated", convolution([1, 4, 15, 50], 8, (3, 3), before=False, dilations=[2, 3], pads=[2, 3, 2, 3])
    yield "3x3 alone, strided columns", convolution([1, 4, 15, 64], 8, (3, 3), before=False, strides=[2, 1], pads=[1] * 4)
    yield "3x3x3 alone", convolution([1, 3, 6, 7, 40], 10, (3, 3, 3), before=False, pads=[1] * 6)
    for name, after in [("Silu", [("Sigmoid", "c", "s", {}), ("Mul", "c s", "y", {})]),
                        ("what is added", [("Concat", "x x", "xx", {"axis": 1}), ("Add", "c xx", "y", {})]),
                        ("a factor for each column", [("Mul", "c f", "y", {})])]:
        yield f"1x1 alone, {name}", chain([1, 16, 20, 24], [("Conv", "x w b", "c", {}), *after], {
            "w": normal(32, 16, 1, 1, scale=0.25), "b": normal(32), "f": normal(24)})


def transposed_convolutions():
    """Between convolutions of channels that are last. Kernel, stride, pads, output padding, dilation, groups."""
    forms = {
        "2x2, stride 2": ((2, 2), 2, 0, 0, 1, 1), "3x3, stride 2, a row more": ((3, 3), 2, 1, 1, 1, 1),
        "3x3, stride 2, cropped": ((3, 3), 2, 0, 0, 1, 1), "4x4, stride 2": ((4, 4), 2, 1, 0, 1, 1),
        "5x3, stride 3, dilated": ((5, 3), 3, 2, 0, 2, 1), "stride beyond the kernel": ((2, 2), 3, 0, 1, 1, 1),
        "3x3, stride 1, four groups": ((3, 3), 1, 1, 0, 1, 4), "16, stride 8": ((16,), 8, 4, 0, 1, 1),
        "2x2x2, stride 2": ((2, 2, 2), 2, 0, 0, 1, 1),
    }
    for name, (kernel, stride, pad, more, dilation, group) in forms.items():
        dims = len(kernel)
        attributes = {"strides": [stride] * dims, "pads": [pad] * 2 * dims, "output_padding": [more] * dims,
                      "dilations": [dilation] * dims, "group": group}
        weights = {"w0": normal(20, 20, *[1] * dims, scale=0.2), "b": normal(24),
                   "w": normal(20, 24 // group, *kernel, seed=4, scale=0.1), "w1": normal(9, 24, *[1] * dims, scale=0.2)}
        nodes = [("Conv", "x w0", "z", {}), ("ConvTranspose", "z w b", "t", attributes), ("Conv", "t w1", "y", {})]
        yield f"transposed {name}", chain([1, 20, *(9, 7, 5)[:dims]], nodes, weights)
    # All phases by one convolution.
    for name, (kernel, stride, maps) in {"2x2, stride 2": ((2, 2), [2, 2], 3), "4x3, stride 2 and 3": ((4, 3), [2, 3], 1),
                                         "16, stride 8": ((16,), [8], 1), "4, stride 2, cropped": ((4,), [2], 2)}.items():
        image, pads = ["n", 20, "h", "w"][:2 + len(kernel)], [2] * 2 if "cropped" in name else [0] * 2 * len(kernel)
        yield f"transposed, few maps, {name}", chain(image, [
            ("Conv", "x w0", "z", {}), ("ConvTranspose", "z w b", "y", {"strides": stride, "pads": pads})],
            {"w0": normal(20, 20, *[1] * len(kernel), scale=0.2), "w": normal(20, maps, *kernel, scale=0.1),
             "b": normal(maps)}, [[2, 20, 5, 9][:len(image)], [1, 20, 2, 1][:len(image)]])
    yield "transposed, height and width of the run", chain(
        [1, 20, "h", "w"], [("Conv", "x w0", "z", {}), ("ConvTranspose", "z w", "y", {"strides": [2, 2], "pads": [1] * 4})],
        {"w0": normal(20, 20, 1, 1, scale=0.2), "w": normal(20, 8, 4, 4, scale=0.1)}, [[1, 20, 5, 9], [1, 20, 1, 2]])
    yield "transposed, as many strides as the run has pixels", chain(
        [1, 6, "h", "w"], [("ConvTranspose", "x w", "y", {"strides": [2, 3], "auto_pad": "SAME_UPPER"})],
        {"w": normal(6, 4, 3, 4, scale=0.1)}, [[1, 6, 5, 9], [1, 6, 1, 2]])


KINDS = (few_channels, convolutions, lone_convolutions, transposed_convolutions, many_channels)
