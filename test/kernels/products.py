"""Matrix products, attention and recurrent networks."""

import differential
import numpy as np
from graphs import chain, computed_product, normal, product
from onnx import TensorProto


def products():
    for m in (1, 3, 8, 29, 130):
        yield f"product of {m} rows", product([m, 70], 100)
    yield "product with a transposed weight", product([9, 64], 50, transposed=True)
    yield "product of one column", product([33, 40], 1)
    yield "columns of two loops, which a factor walks apart", chain([640, 8, 20], [
        ("Einsum", "w x", "c", {"equation": "fk,khw->fhw"}), ("Mul", "c f", "y", {})],
        {"w": normal(640, 640, scale=0.04), "f": normal(20)})
    # More than L2 holds: in groups of panels and pieces of the reduction.
    deep = {"w": normal(2100, 96, scale=0.02), "b": normal(96)}
    residual = [("Gemm", "x w b", "p", {}), ("Relu", "p", "r", {}), ("Slice", "x zero size one", "s", {}),
                ("Add", "r s", "y", {})]
    yield "deep product with a residual", chain([45, 2100], residual, {
        **deep, "zero": np.int64([0]), "size": np.int64([96]), "one": np.int64([1])})
    yield "deep product, rows of the run", chain(["m", 2100], [("Gemm", "x w b", "p", {}), ("Tanh", "p", "y", {})],
                                                 deep, [[1, 2100], [50, 2100]])
    yield "deep product of padded channels", chain([1, 8, 9, 10], [
        ("Conv", "x u", "z", {}), ("Pad", "z ends", "p", {}), ("Conv", "p w", "y", {})], {
            "u": normal(4000, 8, 1, 1, scale=0.3), "w": normal(512, 4008, 1, 1, scale=0.02),
            "ends": np.int64([0, 3, 0, 0, 0, 5, 0, 0])})
    yield "wide product", chain([300, 600], [("MatMul", "x w", "y", {})], {"w": normal(600, 192, scale=0.05)})
    yield "product of two computed matrices, copied panels", computed_product(130, 1000, 256)
    yield "product of two computed matrices, copied pieces of panels", computed_product(90, 2080, 128)
    yield "product of two computed matrices, panels in many pages", computed_product(70, 500, 333)
    for rows, depth, columns in ((1, 301, 2080), (2, 90, 4096), (3, 260, 1048), (7, 600, 776), (16, 512, 1024), (5, 300, 1001),
                                 (1, 1030, 4099), (9, 520, 8201), (33, 530, 8207)):
        yield f"product of {rows} rows with a computed matrix of {depth} x {columns}", computed_product(
            rows, depth, columns, ("Neg", "p", "y", {}))
    yield "product, rows of the run", product(["m", 48], 80, [[1, 48], [7, 48], [64, 48]])
    for columns in (160, 203):  # rows in blocks that L2 holds, and a rest of columns
        weights = {"w": normal(300, columns, scale=0.06), "v": normal(columns, 300, scale=0.07), "b": normal(columns)}
        nodes = [("Gemm", "x w b", "p", {}), ("Relu", "p", "r", {}), ("MatMul", "r v", "s", {})]
        sizes = [[m, 300] for m in (0, 1, 3, 9, 57, 904, 2001)]
        yield f"{columns} columns, blocks of rows of the run", chain(["m", 300], [
            *nodes, ("Add", "s x", "y", {})], weights, sizes)
        yield f"{columns} columns, rows of the run of which each is normalized", chain(["m", 300], [
            *nodes, ("LayerNormalization", "s one", "y", {})], {**weights, "one": np.ones(300, np.float32)}, sizes[1:])
        yield f"{columns} columns, blocks of rows of the run that are reduced", chain(["m", 300], [
            *nodes, ("ReduceMax", "s zero", "y", {"keepdims": 0})], {**weights, "zero": np.int64([0])}, sizes[1:], ranks=1)
        yield f"{columns} columns, rows of the run in batches", chain(["b", "m", 300], [
            ("MatMul", "x w", "r", {}), ("MatMul", "r v", "s", {}), ("Add", "s x", "y", {})], weights,
            [[2, 3, 300], [1, 1, 300], [3, 500, 300]])
    yield "batched product, rows of the run", product(["b", "m", 48], 20, [[1, 5, 48], [3, 16, 48]])
    # Sums that walk across rows which share few sets of the caches.
    yield "product of a transposed matrix", chain([512, 256], [("Transpose", "x", "t", {}), ("MatMul", "t w", "y", {})],
                                                  {"w": normal(512, 40, scale=0.05)})
    yield "products of an image with channels first", chain([2, 144, 32, 32], [
        ("Conv", "x v", "c", {}), ("Relu", "c", "r", {}), ("Conv", "r w b", "d", {}), ("Add", "d x", "y", {})], {
            "v": normal(96, 144, 1, 1, scale=0.08), "w": normal(144, 96, 1, 1, scale=0.1), "b": normal(144)})
    for shape, sizes in (([1, 576, 6, 7], None), (["b", 576, "h", 7], [[1, 576, 3, 7], [2, 576, 6, 7]])):
        yield f"sum of a product with repeated factors of {shape}", chain(shape, [
            ("Reshape", "x s", "p", {}), ("ReduceMean", "x one", "u", {"keepdims": 1}), ("Mul", "u nine", "v", {}),
            ("Unsqueeze", "v two", "q", {}), ("Unsqueeze", "q two", "t", {}), ("Mul", "p t", "m", {}),
            ("ReduceSum", "m one", "r", {"keepdims": 0}), ("Transpose", "r", "y", {"perm": [0, 3, 1, 4, 2]})],
            {"s": np.int64([0, 9, 8, 8, -1, 7]),
             "one": np.int64([1]), "two": np.int64([2]), "nine": normal(1, 9, 1, 1)},
            sizes, ranks=5)
    for name, rows in (("known", 40), ("unknown", "m")):
        yield f"product by a transposed matrix of {name} rows, summed over the run's length", chain(
            ["b", rows, "t"], [("Slice", "x zero size one", "r", {}), ("Transpose", "x", "c", {"perm": [0, 2, 1]}),
                               ("MatMul", "r c", "y", {})],
            {"zero": np.int64([0]), "size": np.int64([24]), "one": np.int64([1])},
            [[b, 40, t] for b, t in ((1, 1), (2, 5), (1, 8), (3, 37), (1, 130))])
    for rows, depth, columns in ((2, 600, 900), (4, 768, 500), (8, 1200, 600), (7, 2100, 300)):
        yield f"{rows} rows by the {columns} rows of a matrix of the run", chain(
            [columns, depth], [("Abs", "x", "a", {}), ("Slice", "a zero size", "r", {}), ("Gemm", "r a", "y", {"transB": 1})],
            {"zero": np.int64([0]), "size": np.int64([rows])})
    # Where they are not copied, lanes lie along the sum.
    turned = [("Slice", "x zero size one", "r", {}), ("Transpose", "x", "c", {"perm": [0, 2, 1]}), ("MatMul", "r c", "y", {})]
    for rows, shape in ((2, [3, 70, 48]), (3, [1, 19, 100]), (4, [2, 33, 20]), (5, [1, 40000, 64]), (12, [2, 20000, 64])):
        yield f"{rows} rows by a transposed matrix of {shape[1]}", chain(
            shape, turned, {"zero": np.int64([0]), "size": np.int64([rows]), "one": np.int64([1])})
        yield f"{rows} rows by a transposed matrix of any size", chain(
            ["b", "n", shape[2]], turned, {"zero": np.int64([0]), "size": np.int64([rows]), "one": np.int64([1])},
            [[b, n, shape[2]] for b, n in ((1, rows), (2, rows + 14), (1, 75))], 3)
    yield "layers on rows of a sequence", layers_on_rows([2, 9, 24], None)
    yield "layers on rows of a sequence, sizes of the run", layers_on_rows(["b", "n", 24], [[1, 1, 24], [3, 17, 24], [2, 40, 24]])


def layers_on_rows(shape, sizes):
    """Two layers, an activation and a residual of a sequence whose products see rows, before a norm."""
    def layer(source, weight, bias, result):
        return [("Reshape", f"{source} {weight}rows", f"{result}r", {}), ("Gemm", f"{result}r {weight} {bias}", f"{result}g", {}),
                ("Shape", source, f"{result}n", {"end": 2}), ("Concat", f"{result}n last", f"{result}s", {"axis": 0}),
                ("Reshape", f"{result}g {result}s", result, {})]
    nodes = [*layer("x", "w", "b", "h"), ("Mul", "h h", "q", {}), ("Mul", "q h", "c", {}), ("Mul", "c much", "d", {}),
             ("Add", "h d", "i", {}), ("Tanh", "i", "t", {}), ("Add", "t one", "u", {}), ("Mul", "h u", "a", {}),
             *layer("a", "v", "o", "p"), ("Add", "x p", "s", {}), ("LayerNormalization", "s g e", "y", {})]
    return chain(shape, nodes, {
        "wrows": np.int64([-1, 24]), "vrows": np.int64([-1, 56]), "last": np.int64([-1]), "much": np.float32(0.04), "one": np.float32(1),
        "w": normal(24, 56, scale=0.2), "b": normal(56), "v": normal(56, 24, scale=0.1), "o": normal(24),
        "g": normal(24), "e": normal(24, seed=5)}, sizes, 3)


def head_products(size, heads, key="turned", scale="after", mask=None, keys=None):
    """Queries, keys and values of `x`, two products around a softmax, as exporters write them. `mask` is a list of
    nodes from `s` to `t`, `keys` slices of `x` that keys and values are made of."""
    width = size * heads
    weights = {name: normal(48, width, seed=i, scale=0.15) for i, name in enumerate("qkv")}
    weights |= {"split": np.int64([0, 0, heads, size]), "join": np.int64([0, 0, width]),
                "factor": np.float32(size ** -0.5), "root": np.float32(size ** -0.25),
                "divisor": np.float32(size ** 0.5)}
    nodes = [("Identity", "x", "x0", {})]
    if keys:
        weights |= {"first": np.int64([0]), "last": np.int64([keys]), "axis": np.int64([1])}
        nodes = [("Slice", "x first last axis", "x0", {})]
    nodes += [("MatMul", f"{'x' if (n == 'q') != bool(keys) else 'x0'} {n}", f"{n}0", {}) for n in "qkv"]
    nodes += [("Reshape", f"{n}0 split", f"{n}1", {}) for n in "qkv"]
    nodes += [("Transpose", f"{n}1", f"{n}2", {"perm": [0, 2, 1, 3]}) for n in "qv"]
    if key == "turned":
        nodes += [("Transpose", "k1", "k2", {"perm": [0, 2, 3, 1]})]
    else:
        nodes += [("Transpose", "k1", "k3", {"perm": [0, 2, 1, 3]}), ("Transpose", "k3", "k2", {"perm": [0, 1, 3, 2]})]
    if scale == "both":
        nodes += [("Mul", "q2 root", "q4", {}), ("Mul", "k2 root", "k4", {}), ("MatMul", "q4 k4", "s", {})]
    elif scale == "before":
        nodes += [("Mul", "q2 factor", "q4", {}), ("MatMul", "q4 k2", "s", {})]
    else:
        nodes += [("MatMul", "q2 k2", "s0", {}), ("Div", "s0 divisor", "s", {})]
    nodes += mask or [("Identity", "s", "t", {})]
    nodes += [("Softmax", "t", "p", {"axis": -1}), ("MatMul", "p v2", "o", {}),
              ("Transpose", "o", "u", {"perm": [0, 2, 1, 3]}), ("Reshape", "u join", "y", {})]
    return nodes, weights


def joined_heads(batch, rows, softmax, ones=False):
    """The same by products of three dimensions: batch and heads are joined before each, and parted for a mask, or for
    it and the softmax. With `ones` they come as from sums over labelled dimensions, of which one has one element."""
    width, heads, size = 48, 3, 16
    weights = {name: normal(width, width, seed=i, scale=0.15) for i, name in enumerate("qkv")}
    weights |= {"split": np.int64([0, 0, heads, size]), "joined": np.int64([-1, rows, size]), "factor": np.float32(size ** -0.5),
                "parted": np.int64([-1, heads, rows, rows]), "scores": np.int64([-1, rows, rows]), "two": np.int64([2]),
                "heads": np.int64([-1, heads, rows, size]), "join": np.int64([0, 0, width]), "m": hidden(rows, rows, -1e9)}
    nodes = []
    for part in "qkv":
        nodes += [("MatMul", f"x {part}", f"{part}0", {}), ("Reshape", f"{part}0 split", f"{part}1", {})]
        if ones:
            nodes += [("Unsqueeze", f"{part}1 two", f"{part}2", {}),
                      ("Transpose", f"{part}2", f"{part}3", {"perm": [0, 3, 2, 1, 4]})]
        else:
            nodes += [("Transpose", f"{part}1", f"{part}3", {"perm": [0, 2, 1, 3]})]
        nodes += [("Reshape", f"{part}3 joined", f"{part}4", {})]
    nodes += [("Mul", "q4 factor", "q5", {}), ("Transpose", "k4", "k5", {"perm": [0, 2, 1]}), ("MatMul", "q5 k5", "s0", {}),
              ("Reshape", "s0 parted", "s1", {}), ("Add", "s1 m", "s2", {})]
    if softmax == "parted":
        nodes += [("Softmax", "s2", "p0", {"axis": -1}), ("Reshape", "p0 scores", "p", {})]
    else:
        nodes += [("Reshape", "s2 scores", "p0", {}), ("Softmax", "p0", "p", {"axis": -1})]
    nodes += [("MatMul", "p v4", "o0", {}), ("Reshape", "o0 heads", "o1", {}),
              ("Transpose", "o1", "o2", {"perm": [0, 2, 1, 3]}), ("Reshape", "o2 join", "y", {})]
    sizes = [[b, rows, width] for b in ((1, 3) if batch == "n" else (batch,))]
    return chain([batch, rows, width], nodes, weights, sizes, 3)


def hidden(rows, columns, value=-np.inf):
    """A mask that hides later keys, and from the third query all of them."""
    mask = np.where(np.arange(columns) <= np.arange(rows)[:, None], 0, value).astype(np.float32)
    mask[2] = value
    return mask


def attention():
    for rows, size, heads in ((19, 12, 4), (64, 16, 3), (70, 20, 2), (130, 64, 2), (1, 32, 2), (5, 8, 1), (2, 16, 8),
                              (4, 16, 9)):
        yield f"attention, {rows} rows of {size}", chain([2, rows, 48], *head_products(size, heads), ranks=3)
    for rows, keys in ((1201, None), (1300, 1203)):  # more than stays in the cache, in panels
        yield f"attention, {rows} rows, {keys or rows} keys of 64", chain(
            [1, rows, 48], *head_products(64, 2, keys=keys), ranks=3)
    for key, scale in (("twice", "before"), ("turned", "both"), ("twice", "both")):
        yield f"attention, keys {key}, scaled {scale}", chain(
            [1, 37, 48], *head_products(16, 3, key, scale), ranks=3)
    for rows, sizes in ((37, None), ("n", [[2, length, 64] for length in (1, 5, 16, 40)])):
        yield f"attention, heads innermost, {rows} rows", chain([2, rows, 64], [
            ("Reshape", "x split", "h", {}), ("Transpose", "h", "q", {"perm": [0, 3, 1, 2]}),
            ("Transpose", "h", "k", {"perm": [0, 3, 2, 1]}), ("MatMul", "q k", "s0", {}), ("Mul", "s0 factor", "s", {}),
            ("Softmax", "s", "p", {"axis": -1}), ("MatMul", "p q", "o", {}), ("Transpose", "o", "u", {"perm": [0, 2, 3, 1]}),
            ("Reshape", "u join", "y", {})],
            {"split": np.int64([0, 0, 16, 4]), "join": np.int64([0, 0, 64]), "factor": np.float32(0.25)}, sizes, 3)
    nodes, weights = head_products(16, 3, mask=[("Add", "s m", "t", {})])
    yield "attention, mask added", chain([2, 37, 48], nodes, weights | {"m": hidden(37, 37, -1e9)})
    yield "attention, a query without keys", chain([2, 37, 48], nodes, weights | {"m": hidden(37, 37)})
    nodes, weights = head_products(16, 3, mask=[("Where", "c s low", "t", {})])
    yield "attention, mask chosen", chain(
        [1, 40, 48], nodes, weights | {"c": hidden(40, 40) == 0, "low": np.float32(-np.inf)})
    nodes, weights = head_products(16, 3, mask=[("Add", "s m", "t", {})])
    del nodes[nodes.index(("Softmax", "t", "p", {"axis": -1}))]
    nodes[-3:-3] = [("Softmax", "t", "p0", {"axis": -1}), ("IsNaN", "p0", "n", {}), ("Where", "n zero p0", "p", {})]
    yield "attention, no keys give zeros", chain(
        [1, 37, 48], nodes, weights | {"m": hidden(37, 37), "zero": np.float32(0)})
    yield "attention, queries fewer than keys", chain([1, 61, 48], *head_products(16, 3, keys=9), ranks=3)
    shared = {"wq": normal(48, 64, scale=0.2), "wk": normal(48, 16, scale=0.2), "wv": normal(48, 16, scale=0.2, seed=5),
              "split": np.int64([0, 0, 4, 16]), "one": np.int64([1]), "last": np.int64([-1])}
    for batch, rows in ((1, 40), (2, 5), ("n", 21)):
        for queries in ("all", "last"):
            nodes = [("Slice", "x last end one", "z", {})] if queries == "last" else [("Identity", "x", "z", {})]
            nodes += [("MatMul", "z wq", "q0", {}), ("MatMul", "x wk", "k0", {}), ("MatMul", "x wv", "v0", {}),
                      ("Reshape", "q0 split", "q1", {}), ("Transpose", "q1", "q", {"perm": [0, 2, 1, 3]}),
                      ("Unsqueeze", "k0 one", "k1", {}), ("Transpose", "k1", "k", {"perm": [0, 1, 3, 2]}),
                      ("Unsqueeze", "v0 one", "v", {}), ("MatMul", "q k", "s", {}), ("Softmax", "s", "p", {}),
                      ("MatMul", "p v", "y", {})]
            yield f"attention, keys for all heads, {queries} of {rows} rows, batch {batch}", chain(
                [batch, rows, 48], nodes, shared | {"end": np.int64([2 ** 40])},
                [[size, rows, 48] for size in ((1, 3) if batch == "n" else (batch,))], ranks=4)
    nodes, weights = head_products(16, 3)
    start = nodes.index(("Transpose", "q1", "q2", {"perm": [0, 2, 1, 3]}))
    for rows, batch in ((30, 2), (9, "n")):
        yield f"attention, scores and values of {rows} rows turned, batch {batch}", chain([batch, rows, 48], [
            *nodes[:start], ("Transpose", "k1", "k2", {"perm": [0, 2, 1, 3]}), ("Mul", "q1 factor", "q2", {}),
            ("Transpose", "q2", "q3", {"perm": [0, 2, 3, 1]}), ("MatMul", "k2 q3", "s", {}),
            ("Transpose", "s", "t", {"perm": [0, 1, 3, 2]}), ("Softmax", "t", "p", {"axis": -1}),
            ("Transpose", "v1", "v2", {"perm": [0, 2, 3, 1]}), ("Transpose", "p", "r", {"perm": [0, 1, 3, 2]}),
            ("MatMul", "v2 r", "o", {}), ("Transpose", "o", "u", {"perm": [0, 3, 1, 2]}), ("Reshape", "u join", "y", {})],
            weights, [[size, rows, 48] for size in ((1, 3) if batch == "n" else (batch,))], 3)
    nodes, weights = head_products(16, 9)
    for batch in (1, 2):
        yield f"attention, heads innermost in the result, batch {batch}", chain(
            [batch, 20, 48], [*nodes[:-2], ("Transpose", "o", "u", {"perm": [0, 2, 3, 1]}), nodes[-1]], weights, ranks=3)
    for batch in (1, 2, "n"):
        for softmax in ("joined", "parted"):
            yield f"attention, heads joined with batch {batch}, softmax of {softmax} ones", joined_heads(batch, 30, softmax)
        yield f"attention, heads joined with batch {batch} and a dimension of one", joined_heads(batch, 30, "parted", True)
    # Each of 30 values is read twice between the reshapes: ways to the second one are more than can be tried.
    steps = [node for i in range(30) for node in (("Mul", f"a{i} a{i}", f"b{i}", {}), ("Sqrt", f"b{i}", f"a{i + 1}", {}))]
    yield "joined rows, values read twice", chain(
        [2, 8, 16], [("Reshape", "x joined", "a0", {}), *steps, ("Reshape", "a30 parted", "y", {})],
        {"joined": np.int64([16, 16]), "parted": np.int64([2, 8, 16])})
    parts = {"w": normal(48, 144, scale=0.2), "split": np.int64([0, 0, 3, 3, 16]), "root": np.float32(0.5), "by": np.float32(4)}
    for name, scales in (("queries", [("Mul", "root q1", "q", {}), ("Identity", "k1", "k", {})]),
                         ("both", [("Mul", "q1 root", "q", {}), ("Mul", "k1 root", "k", {})]),
                         ("divided queries", [("Div", "q1 by", "q", {}), ("Identity", "k1", "k", {})])):
        nodes = [("MatMul", "x w", "a", {}), ("Reshape", "a split", "r", {}),
                 ("Transpose", "r", "t", {"perm": [2, 0, 3, 1, 4]})]
        nodes += [("Gather", f"t which_{part}", f"{part}1", {"axis": 0}) for part in "qkv"]
        nodes += [*scales, ("Transpose", "k", "kt", {"perm": [0, 1, 3, 2]}), ("MatMul", "q kt", "s", {}),
                  ("Softmax", "s", "p", {}), ("MatMul", "p v1", "y", {})]
        yield f"attention of parts of one product, scaled {name}", chain(
            ["n", 30, 48], nodes, parts | {f"which_{part}": np.int64(i) for i, part in enumerate("qkv")},
            [[1, 30, 48], [2, 30, 48]], ranks=4)
    yield "scaled part of a vector", chain([64], [
        ("Split", "x", "q k", {"num_outputs": 2}), ("Mul", "q c", "s", {}), ("MatMul", "s k", "y", {})],
        {"c": np.float32([0.5])}, ranks=0)
    for size in (13, 64):
        yield f"attention of {size} rows, heads in the products of weights", chain([2, size, 40], [
            ("Einsum", f"x {w}", name, {"equation": "abc,cde->abde"}) for name, w in zip("qkv", ("wq", "wk", "wv"))] + [
            ("Einsum", "k q", "s", {"equation": "aecd,abcd->acbe"}), ("Softmax", "s", "p", {}),
            ("Einsum", "p v", "y", {"equation": "acbe,aecd->abcd"})],
            {name: normal(40, 4, 16, seed=i, scale=0.2) for i, name in enumerate(("wq", "wk", "wv"))}, ranks=4)
    nodes, weights = head_products(12, 4)
    yield "attention, batch and rows of the run", chain(
        ["b", "s", 48], nodes, weights, [[1, 1, 48], [2, 33, 48], [1, 13, 48], [3, 100, 48]])
    nodes, weights = head_products(16, 3, mask=[("Add", "s row", "t", {})])
    nodes[:0] = [("ReduceMax", "x last", "r0", {"keepdims": 0}), ("Unsqueeze", "r0 inner", "row", {})]
    yield "attention, rows and mask of the run", chain(
        ["b", "s", 48], nodes, weights | {"last": np.int64([2]), "inner": np.int64([1, 2])},
        [[1, 12, 48], [2, 40, 48], [1, 129, 48]])
    nodes, weights = head_products(16, 3)
    nodes[-1:] = [("Reshape", "u join", "y0", {}), ("ReduceMax", "p all", "z", {"keepdims": 0}),
                  ("Add", "y0 z", "y", {})]
    yield "attention whose shares are read", chain([1, 21, 48], nodes, weights | {"all": np.int64([0, 1, 2, 3])}, ranks=3)
    query = np.int64([0, 0, 4, 12])
    nodes = [("MatMul", f"x {n}", f"{n}0", {}) for n in "qkv"]
    nodes += [("Reshape", "q0 split", "q1", {}), ("Reshape", "k0 few", "k1", {}), ("Reshape", "v0 few", "v1", {})]
    nodes += [("Transpose", f"{n}1", f"{n}2", {"perm": [0, 2, 1, 3]}) for n in "qkv"]
    for n in "kv":
        nodes += [("Unsqueeze", f"{n}2 two", f"{n}3", {}), ("Expand", f"{n}3 wide", f"{n}4", {}),
                  ("Reshape", f"{n}4 many", f"{n}5", {})]
    nodes += [("Transpose", "k5", "k6", {"perm": [0, 1, 3, 2]}), ("MatMul", "q2 k6", "s", {}),
              ("Softmax", "s", "p", {}), ("MatMul", "p v5", "o", {}), ("Transpose", "o", "u", {"perm": [0, 2, 1, 3]}),
              ("Reshape", "u join", "y", {})]
    weights = {"q": normal(48, 48, scale=0.15), "k": normal(48, 24, seed=1, scale=0.15),
               "v": normal(48, 24, seed=2, scale=0.15), "split": query, "few": np.int64([0, 0, 2, 12]),
               "two": np.int64([2]), "wide": np.int64([1, 2, 2, 1, 1]), "many": np.int64([0, 4, -1, 12]),
               "join": np.int64([0, 0, 48])}
    yield "attention, heads that share keys", chain([1, 33, 48], nodes, weights)
    yield "attention, heads that share keys, rows of the run", chain(
        ["b", "n", 48], nodes, weights, [[1, 33, 48], [2, 1, 48], [1, 8, 48], [3, 70, 48]], 3)
    yield "products of heads in the batch", chain([6, 35, 16], [
        ("Transpose", "x", "k", {"perm": [0, 2, 1]}), ("MatMul", "x k", "s", {}), ("Softmax", "s", "p", {}),
        ("MatMul", "p x", "y", {})])
    yield "products of heads in the batch, sizes multiplied in a list", chain(["b", 3, "n", 16], [
        ("Shape", "x", "sizes", {"end": 2}), ("ReduceProd", "sizes first", "count", {"keepdims": 1}),
        ("Concat", "count rest", "joined", {"axis": 0}), ("Reshape", "x joined", "q", {}),
        ("Transpose", "q", "k", {"perm": [0, 2, 1]}), ("MatMul", "q k", "s", {}), ("Softmax", "s", "p", {}),
        ("MatMul", "p q", "y", {})], {"first": np.int64([0]), "rest": np.int64([-1, 16])},
        [[1, 3, 1, 16], [2, 3, 35, 16], [5, 3, 8, 16]], ranks=3)
    self_attention = [("Transpose", "x", "k", {"perm": [0, 2, 1]}), ("MatMul", "x k", "s", {}), ("Mul", "s scale", "w", {}),
                      ("Softmax", "w", "p", {}), ("MatMul", "p x", "y", {})]
    scale = {"scale": np.float32(0.1)}
    yield "attention of long rows", chain([1, 4300, 40], self_attention, scale)
    yield "attention of long rows, any number of queries", chain(
        {"x": ["n", 24], "k": [24, 5000], "v": [5000, 24]},
        [("MatMul", "x k", "s", {}), ("Softmax", "s", "p", {}), ("MatMul", "p v", "y", {})], None,
        [[[n, 24], [24, 5000], [5000, 24]] for n in (1, 2, 7, 8, 9, 20, 33)], 2)
    for causal in (0, 1):  # lengths hide keys, and leave where a causal mask ends
        yield f"projected attention of lengths, causal {causal}", chain([2, 9, 16], [
            ("Attention", "x w b lengths", "y", {"domain": "com.microsoft", "num_heads": 2, "unidirectional": causal})],
            {"w": normal(16, 48, scale=0.3), "b": normal(48), "lengths": np.int32([4, 9])})


def few_of_any_rows():
    """Rows of unknown number that may all be in one tile, with weights of more than half of L2."""
    weights = {"w": normal(512, 768, scale=0.05), "o": normal(768), "v": normal(768, 512, scale=0.05)}
    sizes = [[rows, 512] for rows in (*range(1, 18), 23, 25, 33)]
    yield "few of any rows, far weights", chain(
        ["n", 512], [("MatMul", "x w", "a", {}), ("Add", "a o", "b", {}), ("Relu", "b", "y", {})], weights, sizes)
    yield "few of any rows, far weights, residual", chain(
        ["n", 512], [("MatMul", "x w", "a", {}), ("Relu", "a", "b", {}), ("MatMul", "b v", "c", {}), ("Add", "c x", "y", {})],
        weights, sizes)
    for depth, columns in ((784, 512), (256, 260), (64, 1024)):
        yield f"few of any rows by {depth}x{columns} weights", chain(
            ["n", depth], [("Gemm", "x w o", "g", {}), ("Tanh", "g", "y", {})],
            {"w": normal(depth, columns, scale=0.05), "o": normal(columns)}, [[rows, depth] for rows in (*range(1, 18), 33)])
    for kind, gates in (("GRU", 3), ("LSTM", 4)):
        weights = {"w": normal(1, gates * 128, 12, scale=0.3), "r": normal(1, gates * 128, 128, scale=0.1)}
        yield f"{kind} of few of any rows", chain([4, "n", 12], [
            (kind, "x w r", "y", {"hidden_size": 128})], weights, [[4, rows, 12] for rows in (*range(1, 11), 17)], ranks=4)


def rows_of_sequences():
    """Folds of rows with products, where few rows of many sequences are one loop, or a table or a mask of each place keeps
    them apart."""
    weights = {"w": normal(40, 72, scale=0.15), "v": normal(72, 40, seed=4, scale=0.15), "o": normal(72), "g": normal(40),
               "e": normal(40, seed=5), "table": normal(64, 40, seed=6), "zero": np.int64([0]), "one": np.int64([1]),
               "half": np.float32(0.5)}
    sizes = [[b, n, 40] for b, n in ((1, 1), (1, 7), (1, 8), (1, 13), (3, 1), (5, 2), (8, 1), (2, 11), (20, 1), (7, 9))]
    layer = [("LayerNormalization", "h g e", "l", {}), ("MatMul", "l w", "a", {}), ("Add", "a o", "b", {}),
             ("Tanh", "b", "c", {}), ("MatMul", "c v", "d", {}), ("Add", "d h", "s", {}),
             ("LayerNormalization", "s g e", "y", {})]
    placed = [("Shape", "x", "n", {"start": 1, "end": 2}), ("Slice", "table zero n zero one", "p", {}),
              ("Add", "x p", "h", {})]
    hidden_places = [("ReduceMax", "x last", "m", {}), ("Greater", "m half", "k", {}), ("Where", "k x half", "h", {})]
    for name, before in (("", [("Abs", "x", "h", {})]), (", a table", placed), (", a mask", hidden_places)):
        yield f"rows of sequences{name}", chain([4, 3, 40], before + layer, weights | {"last": np.int64([-1])}, ranks=3)
        yield f"rows of any sequences{name}", chain(["b", "n", 40], before + layer, weights | {"last": np.int64([-1])}, sizes, 3)
    head = {"w": normal(40, 10, scale=0.3), "v": normal(40, 100, scale=0.3)}
    for name in "wv":
        yield f"softmax of {head[name].shape[1]} sums of any rows", chain(
            ["n", 40], [("MatMul", f"x {name}", "a", {}), ("Softmax", "a", "y", {})], head, [[n, 40] for n in range(1, 20)])
    # Keys and values that two heads share are read where they are, by the last rows only, as many as the run says.
    nodes = [("Slice", "x from end axis", "r", {}), ("MatMul", "r q", "q0", {}), ("Reshape", "q0 heads", "q1", {}),
             ("Transpose", "q1", "q2", {"perm": [0, 2, 1, 3]})]
    for n in "kt":
        nodes += [("MatMul", f"x {n}", f"{n}0", {}), ("Reshape", f"{n}0 shared", f"{n}1", {}),
                  ("Transpose", f"{n}1", f"{n}2", {"perm": [0, 2, 1, 3]}), ("Unsqueeze", f"{n}2 two", f"{n}3", {}),
                  ("Expand", f"{n}3 wide", f"{n}4", {}), ("Reshape", f"{n}4 many", f"{n}5", {})]
    nodes += [("Transpose", "k5", "k6", {"perm": [0, 1, 3, 2]}), ("MatMul", "q2 k6", "s", {}), ("Softmax", "s", "p", {}),
              ("MatMul", "p t5", "u", {}), ("Transpose", "u", "z", {"perm": [0, 2, 1, 3]}), ("Reshape", "z join", "y", {})]
    shared = {"q": normal(40, 64, scale=0.15), "k": normal(40, 32, seed=1, scale=0.15), "t": normal(40, 32, seed=2, scale=0.15),
              "end": np.int64([1 << 40]), "axis": np.int64([1]), "heads": np.int64([0, 0, 4, 16]),
              "shared": np.int64([0, 0, 2, 16]), "two": np.int64([2]), "wide": np.int64([1, 2, 2, 1, 1]),
              "many": np.int64([0, 4, -1, 16]), "join": np.int64([0, 0, 64])}
    for last in (1, 3, 20):
        yield f"keys that heads share, the last {last} rows", chain(
            ["b", "n", 40], nodes, shared | {"from": np.int64([-last])},
            [[b, n, 40] for b, n in ((1, 1), (1, 2), (2, 7), (3, 33), (1, 130))], 3)


def single_rows():
    """Rows of any number by a matrix of the run, which a single row reads where it is."""
    sizes = [[n, 70] for n in (1, 2, 7, 8, 9, 40)]
    yield "any rows by items of the run", chain(
        {"q": ["n", 48], "k": ["m", 48]}, [("Transpose", "k", "t", {"perm": [1, 0]}), ("MatMul", "q t", "y", {})], None,
        [[[n, 48], [m, 48]] for n, m in sizes])
    scores = [("Transpose", "k", "t", {"perm": [0, 1, 3, 2]}), ("MatMul", "q t", "s", {}), ("Mul", "s scale", "w", {})]
    heads = {"q": ["b", 4, "n", 32], "k": ["b", 4, "m", 32], "v": ["b", 4, "m", 32]}
    runs = [[[b, 4, n, 32], [b, 4, m, 32], [b, 4, m, 32]] for b in (1, 3) for n, m in (*sizes, (1, 1), (1, 33))]
    scale = {"scale": np.float32(0.2)}
    yield "any queries, keys of the run", chain(
        heads, [*scores, ("Softmax", "w", "p", {}), ("MatMul", "p v", "y", {})], scale, runs, 4)
    yield "any queries, keys of the run, two products of shares", chain(
        heads, [*scores, ("Softmax", "w", "p", {}), ("MatMul", "p v", "o", {}), ("ReduceMax", "p last", "l", {}),
                ("Mul", "o l", "y", {})], scale | {"last": np.int64([-1])}, runs, 4)
    masked = [("Unsqueeze", "m second", "n", {}), ("Add", "w n", "a", {}), ("Softmax", "a", "p", {}), ("MatMul", "p v", "o", {}),
              ("Add", "o q", "y", {})]
    yield "any queries, keys of the run, a mask", chain(
        heads | {"m": ["b", "n", "m"]}, scores + masked, scale | {"second": np.int64([1])},
        [[q, k, v, [q[0], q[2], k[2]]] for q, k, v in runs], 4)
    yield "any queries, keys of the run, twice", chain(
        {"q": ["b", "n", 32], "k": ["b", "m", 32]},
        [("Transpose", "k", "t", {"perm": [0, 2, 1]}), ("MatMul", "q t", "s", {}), ("Softmax", "s", "p", {}),
         ("MatMul", "p k", "q1", {}), ("MatMul", "q1 t", "s1", {}), ("Softmax", "s1", "p1", {}), ("MatMul", "p1 k", "y", {})],
        None, [[[b, n, 32], [b, m, 32]] for b in (1, 3) for n, m in sizes], 3)


def narrow():
    """Functions behind so few columns that lanes of their vectors are idle, of many rows and of one."""
    gelu = [("Div", "b root", "d", {}), ("Erf", "d", "e", {}), ("Add", "e one", "f", {}), ("Mul", "b f", "y", {})]
    silu = [("Sigmoid", "b", "s", {}), ("Mul", "b s", "y", {})]
    for columns in (1, 3, 8, 20, 24, 40):
        weights = {"w": normal(48, columns, scale=0.2), "o": normal(columns), "root": np.float32(2 ** 0.5), "one": np.float32(1),
                   "p": normal(columns, seed=5)}
        for name, steps in (("GELU", gelu), ("SiLU", silu), ("Tanh of two rows", [
                ("Mul", "b p", "s", {}), ("Add", "s p", "t", {}), ("Tanh", "t", "u", {}), ("Add", "u b", "y", {})])):
            first = [("MatMul", "x w", "a", {}), ("Add", "a o", "b", {})]
            yield f"{name} of {columns} columns", chain([2, 70, 48], first + steps, weights, ranks=3)
            yield f"{name} of {columns} columns, any rows", chain(
                ["n", 48], first + steps, weights, [[rows, 48] for rows in (1, 2, 19, 300)])
    # Matrices of a batch by one vector: along sums, columns of a matrix are not those of the next one.
    for batch, columns, deep in ((2, 2, 48), (2, 5, 33), (3, 7, 40), (4, 1, 64)):
        yield f"{batch} matrices of {columns} x {deep} by a vector", chain(
            [deep], [("MatMul", "w x", "y", {})], {"w": normal(batch, columns, deep)}, ranks=2)
        yield f"{batch} matrices of {columns} x {deep} by rows", chain(
            ["b", deep], [("Einsum", "w x", "y", {"equation": "gnk,bk->bgn"})], {"w": normal(batch, columns, deep)},
            [[b, deep] for b in (1, 3, 20)], 3)
    # A padded sum, of rows, of one row and of the channels of windows.
    for deep, behind, columns, rows in ((37, 6, 3, 8), (28, 4, 3, 8), (100, 7, 6, 1)):
        for name, pads in (("behind", [0, 0, 0, behind]), ("in front", [0, behind, 0, 0])):
            yield f"{columns} columns of {rows} sums of {deep}, {behind} padded {name}", chain(
                [rows, deep], [("Pad", "x pads", "p", {}), ("MatMul", "p w", "y", {})],
                {"pads": np.int64(pads), "w": normal(deep + behind, columns, scale=0.2)})
    yield "a convolution of padded channels to three", chain(
        [1, 29, 9, 14], [("Relu", "x", "r", {}), ("Pad", "r pads", "p", {}), ("Conv", "p w", "y", {"pads": [1] * 4})],
        {"pads": np.int64([0, 0, 0, 0, 0, 8, 0, 0]), "w": normal(3, 37, 3, 3, scale=0.1)})
    # Lanes along sums whose last step is not whole; columns that half vectors hold better.
    for deep, columns in ((17, 1), (20, 2), (33, 3), (47, 5), (100, 4), (257, 7), (300, 2), (1000, 8), (70, 10), (129, 16),
                          (64, 17), (100, 20), (90, 34)):
        weights = {"w": normal(deep, columns, scale=0.2), "o": normal(columns)}
        steps = [("MatMul", "x w", "a", {}), ("Add", "a o", "b", {}), ("Relu", "b", "y", {})]
        yield f"{columns} columns of sums of {deep}", chain([130, deep], steps, weights)
        yield f"{columns} columns of one sum of {deep}", chain([1, deep], steps, weights)
        yield f"{columns} columns of sums of {deep}, any rows", chain(
            ["n", deep], steps, weights, [[rows, deep] for rows in (1, 2, 19, 200)])
    for deep, columns in ((20, 3), (40, 2), (36, 6)):
        weights = {"v": normal(deep, deep, 1, 1, scale=0.2), "w": normal(columns, deep, 3, 3, scale=0.1), "o": normal(columns)}
        steps = [("Conv", "x v", "c", {}), ("Relu", "c", "r", {}), ("Conv", "r w o", "y", {"pads": [1] * 4})]
        yield f"a convolution of {deep} channels to {columns}", chain([1, deep, 13, 24], steps, weights)
        yield f"a convolution of {deep} channels to {columns}, any size", chain(
            ["n", deep, "h", "w"], steps, weights, [[1, deep, 13, 24], [2, deep, 1, 1], [1, deep, 5, 40]])
    for name, steps in (("chosen", [("Greater", "a o", "c", {}), ("Tanh", "r", "t", {}), ("Where", "c t o", "y", {})]),
                        ("counted", [("Greater", "a o", "c", {}), ("Cast", "c", "g", {"to": 1}), ("Softplus", "g", "s", {}),
                                     ("Erf", "g", "e", {}), ("Mul", "s e", "y", {})])):
        weights = {"w": normal(16, 3), "o": normal(3), "r": normal(40, 3, seed=5)}
        yield f"{name} by sums of 3 columns", chain([40, 16], [("MatMul", "x w", "a", {}), *steps], weights)


def expected_sizes():
    """A reader tells the sizes of what it reads; that they are those is checked before anything is computed."""
    gru = {"w": normal(1, 9, 16), "q": normal(1, 9, 3)}
    for message, nodes, weights in (
            ("sizes differ beside the axis", [("Concat", "r c", "y", {"axis": 1})], {"c": normal(1, 2, 16)}),
            ("inner sizes differ", [("MatMul", "r c", "y", {})], {"c": normal(16, 8)}),
            ("does not fit", [("Transpose", "r", "t", {"perm": [1, 0, 2]}), ("GRU", "t w q", "g", {"hidden_size": 3}),
                              ("Squeeze", "g one", "y", {})], gru | {"one": np.int64([1])})):
        fitting = chain(["b", 4, "h"], [("Relu", "x", "r", {}), *nodes], weights, [[1, 4, 16]])

        def build(fitting=fitting, message=message):
            proto, inputs = fitting()
            return proto, inputs + [differential.Fails(message, [normal(1, 4, size)]) for size in (8, 24, 4000)]
        yield f"sizes that {nodes[-1][0] if len(nodes) == 1 else 'GRU'} expects", build


def recurrent():
    for kind, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        for direction, count in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            weights = {"w": normal(count, gates * 20, 12, scale=0.3), "r": normal(count, gates * 20, 20, scale=0.2),
                       "b": normal(count, gates * 40, scale=0.1)}
            for name, shape, sizes in (("", [9, 3, 12], None),
                                       (" of many sequences", [9, 17, 12], None),
                                       (" of any steps of many sequences", ["T", 17, 12], [(9, 17, 12), (1, 17, 12)]),
                                       (" of any steps and batch", ["T", "N", 12], [(9, 3, 12), (1, 1, 12), (4, 17, 12)])):
                yield f"{kind}, {direction}{name}", chain(shape, [
                    (kind, "x w r b", "y", {"hidden_size": 20, "direction": direction})], weights, sizes, ranks=4)
    for kind, gates, batch in (("GRU", 3, 1), ("LSTM", 4, 2)):
        weights = {"w": normal(1, gates * 300, 12, scale=0.3), "r": normal(1, gates * 300, 300, scale=0.05)}
        yield f"{kind}, weights beyond the cache", chain([6, batch, 12], [
            (kind, "x w r", "y", {"hidden_size": 300})], weights, ranks=4)
    weights = {"w": normal(1, 60, 12, scale=0.3), "r": normal(1, 60, 20, scale=0.2), "b": normal(1, 120, scale=0.1)}
    yield "GRU that resets behind its product", chain([9, 3, 12], [
        ("GRU", "x w r b", "y", {"hidden_size": 20, "linear_before_reset": 1})], weights, ranks=4)
    yield from single_steps()
    yield from ended_sequences()


def ended_sequences():
    """Lengths that the run computes. Products of 28 steps come in three pieces, of which the last overlaps."""
    lengths = [("Abs", "n", "positive", {}), ("Mul", "positive few", "scaled", {}), ("Shape", "x", "steps", {"end": 1}),
               ("Cast", "steps", "most", {"to": TensorProto.FLOAT}), ("Min", "scaled most", "least", {}),
               ("Cast", "least", "lengths", {"to": TensorProto.INT32})]
    for kind, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        for direction, count in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            weights = {"w": normal(count, gates * 20, 12, scale=0.3), "r": normal(count, gates * 20, 20, scale=0.2),
                       "b": normal(count, gates * 40, scale=0.1), "axis": np.int64([0])}
            nodes = [*lengths, (kind, "x w r b lengths", "all last", {"hidden_size": 20, "direction": direction}),
                     ("Unsqueeze", "last axis", "row", {}), ("Concat", "all row", "y", {"axis": 0})]
            for steps, batch, sizes in ((28, 3, [(28, 3)]), (9, 17, [(9, 17)]), ("T", 3, [(9, 3), (1, 3)]),
                                        ("T", "N", [(9, 3), (1, 1), (40, 17)])):
                for few in (4, 1000):  # short ones, and all steps
                    yield f"{kind}, {direction}, of {steps} steps and {batch} sequences that end, {few}", chain(
                        {"x": [steps, batch, 12], "n": [batch]}, nodes, weights | {"few": np.float32(few)},
                        [[(t, n, 12), (n,)] for t, n in sizes], ranks=4)


def single_steps():
    """Where no state is given, the product with it is one with a number."""
    for kind, gates, form in (("RNN", 1, {}), ("GRU", 3, {}), ("GRU", 3, {"linear_before_reset": 1}), ("LSTM", 4, {})):
        for direction, count in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            weights = {"w": normal(count, gates * 32, 12, scale=0.3), "r": normal(count, gates * 32, 32, scale=0.2),
                       "b": normal(count, gates * 64, scale=0.1)}
            states = {"h": normal(count, 3, 32)} | ({"c": normal(count, 3, 32, seed=5)} if kind == "LSTM" else {})
            attributes = {"hidden_size": 32, "direction": direction, **form}
            name = " ".join([kind, "of one step,", direction, *form])
            yield name, chain([1, 1, 12], [(kind, "x w r b", "y", attributes)], weights, ranks=4)
            yield f"{name}, of zeros", chain([1, "n", 12], [
                ("Shape", "x", "s", {"start": 1, "end": 2}), ("Concat", "count s hidden", "t", {"axis": 0}),
                ("Expand", "zero t", "h", {}), (kind, "x w r b - h", "y", attributes)],
                weights | {"count": np.int64([count]), "hidden": np.int64([32]), "zero": np.zeros([1, 1, 1], np.float32)},
                [[1, rows, 12] for rows in (1, 3)], ranks=4)
            yield f"{name}, a state given", chain([1, 3, 12], [
                (kind, " ".join(["x w r b -", *states]), "y", attributes)], weights | states, ranks=4)


KINDS = (products, few_of_any_rows, rows_of_sequences, single_rows, narrow, attention, expected_sizes, recurrent)
