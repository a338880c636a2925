#!/usr/bin/env python3
"""Trains the digit classifier that the quick start compiles, and writes it as ONNX.

Data: scikit-learn's bundled digits (1,797 images of 8x8, grey values 0..16). The last 360 are held out and written to
heldout.bin: one record of 65 bytes each, 64 grey values and the label. Everything is seeded, plain NumPy:

    python train.py            # writes digits.onnx and heldout.bin beside this file
"""

import pathlib

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

HERE = pathlib.Path(__file__).parent
HELD_OUT = 360


def conv(x, w, b):
    """3x3 convolution with a border of one: x [N,C,H,W], w [O,C,3,3]. Returns y and the patches for the way back."""
    patches = sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", patches, w, optimize=True) + b[:, None, None], patches


def conv_back(dy, patches, w):
    """Gradients of conv with respect to w, b and x."""
    dw = np.einsum("nohw,nchwij->ocij", dy, patches, optimize=True)
    flipped = w[:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
    return dw, dy.sum((0, 2, 3)), conv(dy, flipped, np.zeros(len(flipped), dy.dtype))[0]


def forward(p, x):
    a1, s1 = conv(x, p["w1"], p["b1"])
    h1 = np.maximum(a1, 0)
    a2, s2 = conv(h1, p["w2"], p["b2"])
    h2 = np.maximum(a2, 0)
    n, c = h2.shape[:2]
    blocks = h2.reshape(n, c, 4, 2, 4, 2)
    pooled = blocks.max((3, 5))
    flat = pooled.reshape(n, -1)
    a3 = flat @ p["w3"] + p["b3"]
    h3 = np.maximum(a3, 0)
    return h3 @ p["w4"] + p["b4"], (s1, h1, s2, h2, blocks, pooled, flat, h3)


def backward(p, dlogits, saved):
    s1, h1, s2, h2, blocks, pooled, flat, h3 = saved
    g = {"w4": h3.T @ dlogits, "b4": dlogits.sum(0)}
    d3 = (dlogits @ p["w4"].T) * (h3 > 0)
    g["w3"], g["b3"] = flat.T @ d3, d3.sum(0)
    dpool = (d3 @ p["w3"].T).reshape(pooled.shape)
    d2 = ((blocks == pooled[:, :, :, None, :, None]) * dpool[:, :, :, None, :, None]).reshape(h2.shape) * (h2 > 0)
    g["w2"], g["b2"], dh1 = conv_back(d2, s2, p["w2"])
    g["w1"], g["b1"], _ = conv_back(dh1 * (h1 > 0), s1, p["w1"])
    return g


def train(images, labels, epochs=30, batch=64):
    rng = np.random.default_rng(7)
    shapes = {"w1": (16, 1, 3, 3), "b1": (16,), "w2": (32, 16, 3, 3), "b2": (32,),
              "w3": (512, 64), "b3": (64,), "w4": (64, 10), "b4": (10,)}
    fans = {"w1": 9, "w2": 144, "w3": 512, "w4": 64}
    p = {k: (rng.standard_normal(s) * np.sqrt(2 / fans[k]) if k in fans else np.zeros(s)).astype(np.float32)
         for k, s in shapes.items()}
    moment = {k: (np.zeros_like(v), np.zeros_like(v)) for k, v in p.items()}
    step = 0
    for epoch in range(epochs):
        order = rng.permutation(len(images))
        for chosen in np.array_split(order, len(order) // batch):
            logits, saved = forward(p, images[chosen])
            prob = np.exp(logits - logits.max(1, keepdims=True))
            prob /= prob.sum(1, keepdims=True)
            prob[np.arange(len(chosen)), labels[chosen]] -= 1
            grads = backward(p, prob / len(chosen), saved)
            step += 1
            for k, g in grads.items():  # Adam
                m, v = moment[k]
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                p[k] -= 2e-3 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
        if epoch % 5 == 4:
            accuracy = (forward(p, images)[0].argmax(1) == labels).mean()
            print(f"epoch {epoch + 1}: {accuracy:.4f} of the training digits", flush=True)
    return p


def to_onnx(p):
    weights = [numpy_helper.from_array(p[k].astype(np.float32), k) for k in p]
    weights.append(numpy_helper.from_array(np.float32(16), "white"))
    node = helper.make_node
    nodes = [
        node("Div", ["image", "white"], ["scaled"], "scale"),
        node("Conv", ["scaled", "w1", "b1"], ["a1"], "conv1", pads=[1, 1, 1, 1]),
        node("Relu", ["a1"], ["h1"], "relu1"),
        node("Conv", ["h1", "w2", "b2"], ["a2"], "conv2", pads=[1, 1, 1, 1]),
        node("Relu", ["a2"], ["h2"], "relu2"),
        node("MaxPool", ["h2"], ["pooled"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        node("Flatten", ["pooled"], ["flat"], "flatten"),
        node("Gemm", ["flat", "w3", "b3"], ["a3"], "dense1"),
        node("Relu", ["a3"], ["h3"], "relu3"),
        node("Gemm", ["h3", "w4", "b4"], ["logits"], "dense2"),
        node("Softmax", ["logits"], ["probabilities"], "softmax"),
    ]
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [1, 10])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="onnxc")
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    data = load_digits()
    grey = data.data.astype(np.uint8)
    images = (data.data.reshape(-1, 1, 8, 8) / 16).astype(np.float32)
    train_count = len(images) - HELD_OUT
    p = train(images[:train_count], data.target[:train_count])
    accuracy = (forward(p, images[train_count:])[0].argmax(1) == data.target[train_count:]).mean()
    print(f"held out: {accuracy:.4f} of {HELD_OUT}")
    onnx.save(to_onnx(p), HERE / "digits.onnx")
    records = np.concatenate([grey[train_count:], data.target[train_count:, None].astype(np.uint8)], axis=1)
    (HERE / "heldout.bin").write_bytes(records.astype(np.uint8).tobytes())


if __name__ == "__main__":
    main()
