"""PyTorch's programs, where PyTorch is installed: requests for ``cuda`` get the CPU."""

import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from warpline import _frames

HERE = Path(__file__).parent

BACKWARD = """
import torch, kernels, warpline.triton
warpline.triton.install()
from torch.utils.checkpoint import checkpoint

class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.empty(x.shape, device="cuda")
        kernels.masked_copy[(1,)](x, y, x.numel(), BLOCK=128)
        return y

    @staticmethod
    def backward(ctx, dy):
        dx = torch.zeros(dy.shape, device="cuda")
        assert dx.is_cuda
        kernels.masked_copy[(1,)](dy.contiguous(), dx, dy.numel(), BLOCK=128)
        return dx

x = torch.ones(100, device="cuda", requires_grad=True)
Copy.apply(x).sum().backward()
first = x.grad.sum().item()
second = torch.autograd.grad(Copy.apply(x).sum(), x)[0].sum().item()
again = checkpoint(Copy.apply, x, use_reentrant=False).sum()
print(first, second, torch.autograd.grad(again, x)[0].sum().item())
"""


NAMES = """
import torch, kernels, warpline.triton
warpline.triton.install()

def double(values):
    moved = torch.empty_like(values)
    kernels.masked_copy[(1,)](values, moved, values.numel(), BLOCK=128)

with warpline.profile() as p:
    double(torch.ones(100, device="cuda"))
print(list(p.allocations.name), sorted({path.replace("script.py", "") for path in p.allocations.path}))
"""

DEFAULTS = """
import torch, warpline.triton
warpline.triton.install()
with torch.device("cuda"):
    print(torch.ones(2).device)
numbers = torch.Generator(device="cuda").manual_seed(3)
print(torch.rand(2, generator=numbers, device="cuda").shape, isinstance(numbers, torch.Generator))
torch.set_default_device(torch.device("cuda", 0))
print(torch.ones(2).sum(), torch.arange(3).device)
"""

PLACES = """
import torch, triton, warpline.triton
warpline.triton.install()
x = torch.ones(2)
device = triton.runtime.driver.active.get_active_torch_device()
print(x.device, x.device == device, x.get_device(), torch.zeros(2, device=x.device).is_cuda)
with torch.device(device), torch.cuda.device(x.device), torch.cuda.device_of(x):
    print(torch.ones(2).device.type, torch.ones_like(x, device=x.device).to(x.device).sum().item())
model = torch.nn.Linear(2, 2, device=device).to(x.device)
torch.testing.assert_close(model(x), x @ model.weight.T + model.bias)
print(next(model.parameters()).device, repr(x))
accelerator = getattr(torch, "accelerator", None)
if accelerator is not None:
    accelerator.synchronize()
    assert accelerator.current_accelerator().type == "cuda" and accelerator.is_available() and accelerator.device_count() == 1
"""

COMPILED = """
import torch, warpline.triton
warpline.triton.install()

@torch.compile
def double(x):
    return 2 * x

@torch.compile(fullgraph=True)
def triple(x):
    return 3 * x

x = torch.ones(2, device="cuda")
print(double(x).sum().item(), triple(x).sum().item(), torch.compile(torch.nn.Identity(), mode="default")(x).sum().item())
"""


class Frames(unittest.TestCase):
    """What is the user's code."""

    def test_functions_that_are_in_no_module_are_not(self):
        # As those in which Triton binds a kernel's arguments. PyTorch's tensors return their address there.
        space = {"users": _frames.users}
        exec("def bound():\n    return users()", space)
        self.assertEqual([frame.f_code.co_name for frame in space["bound"]() if frame.f_code.co_filename == "<string>"], [])


@unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
class Torch(unittest.TestCase):
    """Each is a program of its own."""

    def check(self, text, printed):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder, "script.py")
            script.write_text(f"import sys; sys.path.insert(0, {str(HERE)!r})" + text)
            done = subprocess.run([sys.executable, "-W", "ignore", script], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.stdout, printed, done.stderr)

    def test_backward_of_the_programs_own_asks_for_cuda(self):
        self.check(BACKWARD, "100.0 100.0 100.0\n")

    def test_cuda_as_the_default_device_is_the_cpu(self):
        self.check(DEFAULTS, "cuda:0\ntorch.Size([2]) True\ntensor(2.) cuda:0\n")

    def test_tensors_say_to_programs_that_they_are_on_the_gpu(self):
        self.check(PLACES, "cuda:0 True 0 True\ncuda 2.0\ncuda:0 tensor([1., 1.])\n")

    def test_torch_compile_leaves_functions_as_they_are(self):
        self.check(COMPILED, "4.0 6.0 2.0\n")

    def test_tensors_have_the_names_of_variables_and_python_paths(self):
        self.check(NAMES, "['values', 'moved'] ['<module> :10 > double :7']\n")


if __name__ == "__main__":
    unittest.main()
