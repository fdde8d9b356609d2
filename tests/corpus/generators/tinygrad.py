"""Compiles small tensor programs with tinygrad's PTX renderer, and its CUDA renderer with NVRTC, for several
capabilities.

tinygrad renders without a device (`DEV=NULL`). Each target needs a separate process, since the device is
selected at import."""
import itertools
import os
import pathlib
import subprocess
import sys

TARGETS = [("PTX", "sm_75"), ("PTX", "sm_80"), ("PTX", "sm_90"), ("PTX", "sm_120"), ("CUDA", "sm_86"), ("CUDA", "sm_121")]


def programs():
    """The name of each program, and the tensors that it creates."""
    from tinygrad import Tensor, dtypes, nn

    Tensor.manual_seed(7)

    def tensor(*shape, dtype=dtypes.float32):
        return Tensor.empty(*shape, dtype=dtype)

    yield "elementwise", lambda: (tensor(1000, 33) * 2.5 + tensor(1000, 33)).relu()
    yield "functions", lambda: tensor(4096).sin() + tensor(4096).exp() - tensor(4096).log2() * tensor(4096).sqrt() / (tensor(4096).tanh() + 1.5)
    yield "gelu_half", lambda: tensor(64, 96, dtype=dtypes.half).gelu()
    yield "integers", lambda: (tensor(777, dtype=dtypes.int32) // 7) % 5 ^ (tensor(777, dtype=dtypes.int32) << 3)
    yield "long_division", lambda: (tensor(300, dtype=dtypes.int64) // tensor(300, dtype=dtypes.int64)) % 11
    yield "bytes", lambda: (tensor(999, dtype=dtypes.uint8) * 3 + tensor(999, dtype=dtypes.uint8)).cast(dtypes.int8).cast(dtypes.float32)
    yield "doubles", lambda: (tensor(128, 3, dtype=dtypes.float64).maximum(0.25) * 3).sum(axis=0)
    yield "masks", lambda: ((tensor(50, 50) < 0.5) & (tensor(50, 50) != tensor(50, 50))).where(tensor(50, 50), -1.0)
    yield "casts", lambda: tensor(500, dtype=dtypes.half).cast(dtypes.int16).cast(dtypes.float64).cast(dtypes.uint32).cast(dtypes.bool)
    yield "sum_all", lambda: tensor(1 << 20).sum()
    yield "sum_rows", lambda: tensor(300, 700).sum(axis=1)
    yield "maximum_columns", lambda: tensor(513, 129).max(axis=0)
    yield "argmax", lambda: tensor(64, 200).argmax(axis=1)
    yield "mean_and_deviation", lambda: tensor(32, 640).std(axis=1) + tensor(32, 640).mean(axis=1)
    yield "softmax", lambda: tensor(48, 512).softmax()
    yield "log_softmax_half", lambda: tensor(48, 512, dtype=dtypes.half).log_softmax()
    yield "layer_norm", lambda: tensor(24, 384).layernorm()
    yield "running_sum", lambda: tensor(20, 600).cumsum(axis=1)
    yield "sorted", lambda: tensor(6, 60).sort()[0]
    yield "gather", lambda: tensor(100, 40).gather(1, tensor(100, 8, dtype=dtypes.int32))
    yield "permuted", lambda: tensor(12, 34, 56).permute(2, 0, 1).contiguous() + 1
    yield "padded", lambda: tensor(30, 30).pad(((1, 2), (3, 4))).contiguous().shrink(((1, 32), (2, 35))).contiguous()
    yield "matmul", lambda: tensor(256, 256) @ tensor(256, 256)
    yield "matmul_odd", lambda: tensor(37, 53) @ tensor(53, 41)
    yield "matmul_half", lambda: tensor(256, 256, dtype=dtypes.half) @ tensor(256, 256, dtype=dtypes.half)
    yield "matmul_half_single", lambda: tensor(128, 256, dtype=dtypes.half).matmul(tensor(256, 128, dtype=dtypes.half), dtype=dtypes.float32)
    yield "matmul_batched", lambda: tensor(4, 64, 64) @ tensor(4, 64, 64)
    yield "matrix_vector", lambda: tensor(1024, 1024) @ tensor(1024)
    yield "convolution", lambda: tensor(2, 8, 28, 28).conv2d(tensor(16, 8, 3, 3), tensor(16), padding=1).relu()
    yield "depthwise", lambda: tensor(2, 16, 14, 14).conv2d(tensor(16, 1, 5, 5), groups=16, stride=2)
    yield "pooling", lambda: tensor(2, 4, 32, 32).max_pool2d() + tensor(2, 4, 32, 32).avg_pool2d()
    yield "attention", lambda: tensor(2, 4, 64, 32).scaled_dot_product_attention(tensor(2, 4, 64, 32), tensor(2, 4, 64, 32), is_causal=True)
    yield "batch_norm", lambda: nn.BatchNorm(8)(tensor(4, 8, 12, 12))
    yield "embedding", lambda: nn.Embedding(100, 16)(tensor(5, 7, dtype=dtypes.int32))
    yield "random", lambda: Tensor.rand(4000) + Tensor.randn(4000)
    yield "losses", lambda: tensor(32, 10).sparse_categorical_crossentropy(tensor(32, dtype=dtypes.int32))


def gradients():
    """A training step, with the kernels of backward passes and an optimiser."""
    from tinygrad import Tensor, nn
    from tinygrad.helpers import Context

    class Net:
        def __init__(self):
            self.conv, self.first, self.last = nn.Conv2d(1, 4, 3), nn.Linear(4 * 13 * 13, 32), nn.Linear(32, 10)

        def __call__(self, x):
            return self.last(self.first(self.conv(x).relu().max_pool2d().flatten(1)).relu())

    with Context(TRAINING=1):
        net = Net()
        optimiser = nn.optim.Adam(nn.state.get_parameters(net))
        loss = net(Tensor.empty(16, 1, 28, 28)).square().mean()
        loss.backward()
        optimiser.step()


def render(folder, renderer, target):
    from tinygrad.helpers import DEV
    from tinygrad.runtime.support import compiler_cuda

    texts = []
    compiler = {"PTX": compiler_cuda.PTXCompiler, "CUDA": compiler_cuda.NVRTCCompiler}[renderer]
    original = compiler.compile

    def keeping(self, source):
        text = original(self, source)
        texts.append(text.rstrip(b"\0").decode())
        return text

    compiler.compile = keeping
    assert DEV.renderer == renderer and DEV.arch == target
    written = set()
    for name, program in itertools.chain(programs(), [("training", gradients)]):
        before = len(texts)
        result = program()
        if result is not None:
            result.realize()
        if len(texts) == before:
            sys.exit(f"tinygrad made no kernel for {name}")
        for number, text in enumerate(texts[before:]):
            # Programs share kernels, such as those for initial values and fills.
            if text in written:
                continue
            written.add(text)
            (folder / f"{name}.{number}.{renderer.lower()}.{target}.ptx").write_text(text)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    if len(sys.argv) == 4:
        return render(folder, *sys.argv[2:])
    for renderer, target in TARGETS[1:2] if "--sample" in sys.argv else TARGETS:
        # This interface makes the compilers stop at PTX. Kernels from a cache or another process would be
        # missed.
        environment = os.environ | {"DEV": f"MOCK+NULL:{renderer}:{target}", "CCACHE": "0", "CACHELEVEL": "0", "PARALLEL": "0"}
        if renderer == "CUDA":
            environment |= nvrtc()
        subprocess.run([sys.executable, __file__, folder, renderer, target], env=environment, check=True)


def nvrtc():
    """The location of NVRTC and its headers among this Python's packages."""
    import nvidia

    (root,) = [p for base in nvidia.__path__ for p in pathlib.Path(base).glob("cu1*") if list(p.glob("lib/libnvrtc.so.*"))]
    # The library opens another one beside it.
    return {"NVRTC_PATH": str(next(root.glob("lib/libnvrtc.so.*"))), "CUDA_PATH": str(root), "LD_LIBRARY_PATH": str(root / "lib")}


if __name__ == "__main__":
    # This file has the same name as the package.
    sys.path.remove(str(pathlib.Path(__file__).resolve().parent))
    main()
