"""Ways to read the pool, by the rule of CUDA that each meets, with the rule's source in torch's code or documentation.

In a line ``{P}`` is the pool, ``{D}`` its device, ``{T}`` the block table, ``{N}`` the length, ``{H}`` and ``{B}`` the
head dimension and the block size. An idiom replaces the line that joins the blocks, or the line that returns them.
"""

from device_samples import JOIN, RETURN

PLACES = {
    "P": "self.physical_kv_cache",
    "D": "self.physical_kv_cache.device",
    "T": "req.block_table",
    "N": "req.seq_len",
    "H": "self.head_dim",
    "B": "self.block_size",
}

RULES = {
    "stays": ("ok", "docs/source/notes/cuda.rst: the result is placed on the same device as the tensor"),
    "naming": ("ok", "docs/source/tensor_attributes.rst, torch.device: by string, by number, by another tensor's"),
    "in place": ("ok", "docs/source/notes/cuda.rst; an ``out=`` lies where its inputs lie and may grow"),
    "uploads": (
        "ok",
        "docs/source/notes/cuda.rst: copies from the host, pinned or not; g4 forbids the other direction",
    ),
    "lists": ("ok", "torch/csrc/autograd/python_variable_indexing.cpp: a list becomes an index on the tensor's device"),
    "number": ("ok", "aten/src/ATen/TensorIterator.cpp: a tensor without dimensions may stay on the host"),
    "copies": ("device.copy", "torch/csrc/utils/tensor_list.cpp, tensor_numpy.cpp, torch/_tensor_str.py"),
    "waits": ("device.sync", "aten/src/ATen/native/cuda/CUDAScalar.cu, Nonzero.cu: the host waits for a value"),
    "index": ("device.index", "aten/src/ATen/native/TensorAdvancedIndexing.cpp: an index on the host is copied over"),
    "mixed": ("device.mixed", "aten/src/ATen/core/adaption.cpp: common_device_check_failure"),
}
"""What g4 says of a rule's idioms, and where the rule stands."""

REFUSED = {"type(x) is Tensor": "a tensor of the stand-in is a subclass, which nothing made in Python can avoid"}
"""Where the stand-in says less than CUDA would, and why."""

IDIOMS: dict[str, list[tuple[str, str, str]]] = {
    "copies": [
        (".cpu()", RETURN, "return cat_blocks[:{N}].cpu()"),
        (".to('cpu')", RETURN, "return cat_blocks[:{N}].to('cpu')"),
        (".numpy()", RETURN, "return torch.from_numpy(cat_blocks.float().numpy())"),
        ("np.array(t)", RETURN, "import numpy\nreturn torch.from_numpy(numpy.array(cat_blocks.float()))"),
        ("tolist", RETURN, "return torch.tensor(cat_blocks.tolist(), dtype={P}.dtype, device={D})[:{N}]"),
        ("f-string of tensor", RETURN, "f'{cat_blocks}'\nreturn cat_blocks[:{N}]"),
    ],
    "waits": [
        ("item", RETURN, "cat_blocks.sum().item()\nreturn cat_blocks[:{N}]"),
        ("float(t)", RETURN, "float(cat_blocks.sum())\nreturn cat_blocks[:{N}]"),
        ("int(t)", RETURN, "int(cat_blocks.sum())\nreturn cat_blocks[:{N}]"),
        ("bool any", RETURN, "bool(cat_blocks.any())\nreturn cat_blocks[:{N}]"),
        ("assert equal", RETURN, "assert torch.equal(cat_blocks, cat_blocks)\nreturn cat_blocks[:{N}]"),
        ("allclose", RETURN, "torch.allclose(cat_blocks, cat_blocks)\nreturn cat_blocks[:{N}]"),
        (
            "isfinite.all() in if",
            RETURN,
            "if not torch.isfinite(cat_blocks).all(): raise ValueError\nreturn cat_blocks[:{N}]",
        ),
        ("0-dim device index", JOIN, "cat_blocks = torch.cat([{P}[b] for b in torch.tensor({T}, device={D})])"),
        (
            "mask on device",
            JOIN,
            "cat_blocks = {P}.flatten(0,1)[torch.isin(torch.arange({P}.shape[0]*{B}, device={D}), torch.tensor([-1], device={D}))]",
        ),
        ("masked_select", RETURN, "torch.masked_select(cat_blocks, cat_blocks > 0)\nreturn cat_blocks[:{N}]"),
        (
            "tensor list compr host",
            JOIN,
            "cat_blocks = torch.tensor([[x for x in row] for b in {T} for row in {P}[b]], device={D})",
        ),
        (
            "bool list mask",
            JOIN,
            "cat_blocks = torch.cat([{P}[[i == b for i in range({P}.shape[0])]] for b in {T}]).flatten(0,1)",
        ),
        ("async wait: len(nonzero)", RETURN, "len(torch.nonzero(cat_blocks))\nreturn cat_blocks[:{N}]"),
        ("torch.where(mask)", RETURN, "torch.where(cat_blocks > 0)\nreturn cat_blocks[:{N}]"),
        ("unique", RETURN, "torch.unique(cat_blocks)\nreturn cat_blocks[:{N}]"),
        ("histc", RETURN, "torch.bincount(torch.tensor([0,1], device={D}))\nreturn cat_blocks[:{N}]"),
        (
            "repeat_interleave tensor",
            RETURN,
            "torch.repeat_interleave(torch.tensor([0,1], device={D}), torch.tensor([1, 2], device={D}))\nreturn cat_blocks[:{N}]",
        ),
    ],
    "index": [
        ("as_tensor(list) index", JOIN, "cat_blocks = {P}[torch.as_tensor({T})].flatten(0,1)"),
        ("LongTensor index", JOIN, "cat_blocks = {P}[torch.LongTensor({T})].flatten(0,1)"),
        (
            "arange without device",
            JOIN,
            "cat_blocks = {P}[torch.tensor({T}, device={D})].flatten(0,1)[torch.arange({N})]",
        ),
        (
            "setitem host index",
            RETURN,
            "out = torch.zeros_like(cat_blocks)\nout[torch.arange(len(out))] = cat_blocks\nreturn out[:{N}]",
        ),
    ],
    "stays": [
        (
            "arange on device",
            JOIN,
            "cat_blocks = {P}[torch.tensor({T}, device={D})].flatten(0,1)[torch.arange({N}, device={D})]",
        ),
        ("stack of slices", JOIN, "cat_blocks = torch.stack([{P}[b] for b in {T}]).reshape(-1, {H})"),
        ("stack then view", JOIN, "cat_blocks = torch.stack([{P}[b] for b in {T}]).view(-1, {H})"),
        ("vstack", JOIN, "cat_blocks = torch.vstack([{P}[b] for b in {T}])"),
        ("concat", JOIN, "cat_blocks = torch.concat([{P}[b] for b in {T}])"),
        ("narrow", RETURN, "return cat_blocks.narrow(0, 0, {N})"),
        ("split", RETURN, "return cat_blocks.split({N})[0]"),
        ("tensor_split", RETURN, "return cat_blocks.tensor_split(({N},))[0]"),
        ("as_strided", RETURN, "return cat_blocks.as_strided(({N}, {H}), ({H}, 1))"),
        ("unbind", JOIN, "cat_blocks = torch.cat([{P}.unbind(0)[b] for b in {T}])"),
        ("iterate pool", JOIN, "cat_blocks = torch.cat([list({P})[b] for b in {T}])"),
        ("new_empty", RETURN, "out = {P}.new_empty({N}, {H})\nout.copy_(cat_blocks[:{N}])\nreturn out"),
        ("new_zeros", RETURN, "out = {P}.new_zeros(({N}, {H}))\nout[:] = cat_blocks[:{N}]\nreturn out"),
        ("new_full", RETURN, "out = {P}.new_full(({N}, {H}), 0)\nout[:] = cat_blocks[:{N}]\nreturn out"),
        ("new_tensor index", JOIN, "cat_blocks = {P}[{P}.new_tensor({T}, dtype=torch.long)].flatten(0,1)"),
        ("empty_like", RETURN, "out = torch.empty_like(cat_blocks)\nout.copy_(cat_blocks)\nreturn out[:{N}]"),
        ("zeros_like", RETURN, "out = torch.zeros_like(cat_blocks)\nout += cat_blocks\nreturn out[:{N}]"),
        ("ones_like mul", RETURN, "return (cat_blocks * torch.ones_like(cat_blocks))[:{N}]"),
        (
            "full on device",
            RETURN,
            "out = torch.full(({N}, {H}), 0.0, device={D}, dtype={P}.dtype)\nout[:] = cat_blocks[:{N}]\nreturn out",
        ),
        (
            "zeros on device, row by row",
            RETURN,
            "out = torch.zeros({N}, {H}, device={D}, dtype={P}.dtype)\nfor i in range({N}): out[i] = cat_blocks[i]\nreturn out",
        ),
        (
            "empty on device, slices",
            RETURN,
            "out = torch.empty(len({T}) * {B}, {H}, device={D}, dtype={P}.dtype)\nfor i, b in enumerate({T}): out[i*{B}:(i+1)*{B}] = {P}[b]\nreturn out[:{N}]",
        ),
        ("int32 index", JOIN, "cat_blocks = {P}[torch.tensor({T}, dtype=torch.int32, device={D})].flatten(0,1)"),
        ("index_select device", JOIN, "cat_blocks = {P}.index_select(0, torch.tensor({T}, device={D})).flatten(0,1)"),
        (
            "index_select int32",
            JOIN,
            "cat_blocks = {P}.index_select(0, torch.tensor({T}, device={D}, dtype=torch.int32)).flatten(0,1)",
        ),
        (
            "gather",
            JOIN,
            "cat_blocks = torch.gather({P}.flatten(1), 0, torch.tensor({T}, device={D})[:, None].expand(-1, {B}*{H})).view(-1, {H})",
        ),
        (
            "take_along_dim",
            JOIN,
            "cat_blocks = torch.take_along_dim({P}.flatten(1), torch.tensor({T}, device={D})[:, None], 0).view(-1, {H})",
        ),
        (
            "embedding",
            JOIN,
            "cat_blocks = torch.nn.functional.embedding(torch.tensor({T}, device={D}), {P}.flatten(1)).view(-1, {H})",
        ),
        (
            "flat arithmetic",
            JOIN,
            "cat_blocks = {P}.view(-1, {H})[(torch.tensor({T}, device={D})[:, None]*{B} + torch.arange({B}, device={D})).flatten()]",
        ),
        ("permute/contiguous", RETURN, "return cat_blocks.T.contiguous().T[:{N}]"),
        ("deepcopy", RETURN, "import copy\nreturn copy.deepcopy(cat_blocks)[:{N}]"),
        ("copy.copy", RETURN, "import copy\nreturn copy.copy(cat_blocks)[:{N}]"),
        ("inference_mode", RETURN, "with torch.inference_mode():\n    return torch.cat([{P}[b] for b in {T}])[:{N}]"),
        ("no_grad decorator-like", RETURN, "with torch.no_grad():\n    return cat_blocks[:{N}]"),
        ("type(x) is Tensor", RETURN, "assert type(cat_blocks) is torch.Tensor\nreturn cat_blocks[:{N}]"),
        ("isinstance Tensor", RETURN, "assert isinstance(cat_blocks, torch.Tensor)\nreturn cat_blocks[:{N}]"),
        ("data_ptr", RETURN, "cat_blocks.data_ptr()\nreturn cat_blocks[:{N}]"),
        ("storage size", RETURN, "cat_blocks.untyped_storage().nbytes()\nreturn cat_blocks[:{N}]"),
        ("assert is_cuda", RETURN, "assert not {P}.is_cpu\nreturn cat_blocks[:{N}]"),
        ("is_contiguous", RETURN, "assert cat_blocks.is_contiguous()\nreturn cat_blocks[:{N}]"),
        (
            "print shape",
            RETURN,
            "print(cat_blocks.shape, cat_blocks.dtype, cat_blocks.device)\nreturn cat_blocks[:{N}]",
        ),
        ("pad", RETURN, "return torch.nn.functional.pad(cat_blocks, (0, 0, 0, 1))[:{N}]"),
        ("repeat_interleave int", RETURN, "return cat_blocks.repeat_interleave(2, 0)[::2][:{N}]"),
        ("flip flip", RETURN, "return cat_blocks.flip(0).flip(0)[:{N}]"),
        ("roll", RETURN, "return cat_blocks.roll(1, 0).roll(-1, 0)[:{N}]"),
        ("einsum identity", RETURN, "return cat_blocks[:{N}] @ torch.eye({H}, device={D}, dtype={P}.dtype)"),
        ("chunk", RETURN, "return torch.cat(cat_blocks.chunk(2))[:{N}]"),
        ("nn.Parameter", RETURN, "return torch.nn.Parameter(cat_blocks[:{N}])"),
        ("requires_grad", RETURN, "return cat_blocks[:{N}].requires_grad_()"),
        ("from_dlpack", RETURN, "return torch.from_dlpack(cat_blocks)[:{N}]"),
        ("torch.Tensor.__getitem__ Ellipsis", RETURN, "return cat_blocks[..., :][:{N}]"),
        ("hsplit/moveaxis", RETURN, "return cat_blocks.moveaxis(0, 1).moveaxis(0, 1)[:{N}]"),
        ("clone memory_format", RETURN, "return cat_blocks.clone(memory_format=torch.contiguous_format)[:{N}]"),
        (
            "sort by index argsort",
            RETURN,
            "o = torch.argsort(torch.arange(len(cat_blocks), device={D}))\nreturn cat_blocks[o][:{N}]",
        ),
        ("topk-less max", RETURN, "cat_blocks.max()\nreturn cat_blocks[:{N}]"),
    ],
    "lists": [
        ("list index", JOIN, "cat_blocks = {P}[{T}].flatten(0,1)"),
        ("list index in tuple", JOIN, "cat_blocks = {P}[{T}, :, :].flatten(0,1)"),
        ("range index", JOIN, "cat_blocks = torch.cat([{P}[range(b, b + 1)] for b in {T}]).flatten(0,1)"),
        (
            "flat arithmetic, list",
            JOIN,
            "cat_blocks = {P}.reshape(-1, {H})[[b*{B}+i for b in {T} for i in range({B})]]",
        ),
    ],
    "uploads": [
        ("numpy index", JOIN, "cat_blocks = {P}[__import__('numpy').array({T})].flatten(0,1)"),
        (
            "zeros on host then to(device)",
            RETURN,
            "out = torch.zeros({N}, {H}, dtype={P}.dtype).to({D})\nout[:] = cat_blocks[:{N}]\nreturn out",
        ),
        ("to(other)", RETURN, "out = torch.zeros({N}, {H}).to({P})\nout[:] = cat_blocks[:{N}]\nreturn out"),
        ("type_as", RETURN, "out = torch.zeros({N}, {H}).type_as({P})\nout[:] = cat_blocks[:{N}]\nreturn out"),
        ("to(device) of index", JOIN, "cat_blocks = {P}[torch.tensor({T}).to({D})].flatten(0,1)"),
        (
            "to(device, non_blocking)",
            JOIN,
            "cat_blocks = {P}[torch.tensor({T}).to({D}, non_blocking=True)].flatten(0,1)",
        ),
        (
            "pin_memory().to(device)",
            JOIN,
            "cat_blocks = {P}[torch.tensor({T}).pin_memory().to({D}, non_blocking=True)].flatten(0,1)",
        ),
    ],
    "mixed": [
        ("index_select host", JOIN, "cat_blocks = {P}.index_select(0, torch.tensor({T})).flatten(0,1)"),
        (
            "index_select 0-dim host",
            JOIN,
            "cat_blocks = torch.cat([{P}.index_select(0, torch.tensor(b)) for b in {T}]).flatten(0,1)",
        ),
        (
            "embedding host index",
            JOIN,
            "cat_blocks = torch.nn.functional.embedding(torch.tensor({T}), {P}.flatten(1)).view(-1, {H})",
        ),
        (
            "index_copy_ host index",
            RETURN,
            "out = torch.zeros_like(cat_blocks)\nout.index_copy_(0, torch.arange(len(out)), cat_blocks)\nreturn out[:{N}]",
        ),
        ("cat [host, device]", RETURN, "return torch.cat([torch.zeros(0, {H}, dtype={P}.dtype), cat_blocks])[:{N}]"),
        ("cat with empty(0) host", RETURN, "return torch.cat([torch.tensor([]), cat_blocks])[:{N}]"),
        ("1-dim host + device", RETURN, "return (cat_blocks + torch.zeros({H}, dtype={P}.dtype))[:{N}]"),
    ],
    "in place": [
        (
            "index_copy_",
            RETURN,
            "out = torch.zeros_like(cat_blocks)\nout.index_copy_(0, torch.tensor(range(len(out)), device={D}), cat_blocks)\nreturn out[:{N}]",
        ),
        (
            "index_add_",
            RETURN,
            "out = torch.zeros_like(cat_blocks)\nout.index_add_(0, torch.tensor(range(len(out)), device={D}), cat_blocks)\nreturn out[:{N}]",
        ),
        (
            "scatter_",
            RETURN,
            "out = torch.zeros_like(cat_blocks)\nout.scatter_(0, torch.tensor(range(len(out)), device={D})[:, None].expand_as(out), cat_blocks)\nreturn out[:{N}]",
        ),
        (
            "index_put_",
            RETURN,
            "out = torch.zeros_like(cat_blocks)\nout.index_put_((torch.tensor(range(len(out)), device={D}),), cat_blocks)\nreturn out[:{N}]",
        ),
        (
            "cat out=empty(0)",
            JOIN,
            "cat_blocks = torch.empty(0, device={D}, dtype={P}.dtype)\ntorch.cat(blocks, out=cat_blocks)",
        ),
        (
            "cat out=right shape",
            JOIN,
            "cat_blocks = torch.empty(len(blocks)*{B}, {H}, device={D}, dtype={P}.dtype)\ntorch.cat(blocks, out=cat_blocks)",
        ),
        (
            "index_select out=",
            JOIN,
            "cat_blocks = torch.empty(0, device={D}, dtype={P}.dtype)\ntorch.index_select({P}, 0, torch.tensor({T}, device={D}), out=cat_blocks)\ncat_blocks = cat_blocks.flatten(0,1)",
        ),
        ("unsqueeze_/squeeze_", RETURN, "cat_blocks.unsqueeze_(0)\ncat_blocks.squeeze_(0)\nreturn cat_blocks[:{N}]"),
        ("unsqueeze_ then [0]", RETURN, "x = cat_blocks.clone()\nx.unsqueeze_(0)\nreturn x[0][:{N}]"),
        ("t_() twice", RETURN, "x = cat_blocks.clone()\nx.t_()\nreturn x.t()[:{N}].contiguous()"),
        ("resize_", RETURN, "x = cat_blocks.clone()\nx.resize_({N}, {H})\nreturn x"),
        ("x.data = ", RETURN, "x = torch.empty_like(cat_blocks)\nx.data = cat_blocks[:{N}]\nreturn x"),
    ],
    "number": [
        ("0-dim host * device", RETURN, "return (cat_blocks * torch.tensor(1, dtype={P}.dtype))[:{N}]"),
        ("0-dim host + device", RETURN, "return (torch.tensor(0.0) + cat_blocks)[:{N}].to({P}.dtype)"),
        (
            "0-dim host in where",
            RETURN,
            "return torch.where(torch.ones_like(cat_blocks, dtype=torch.bool), cat_blocks, torch.tensor(0, dtype={P}.dtype))[:{N}]",
        ),
        ("0-dim host index", JOIN, "cat_blocks = torch.cat([{P}[torch.tensor(b)] for b in {T}])"),
    ],
    "naming": [
        (
            "with torch.device",
            JOIN,
            "with torch.device({D}):\n    index = torch.tensor({T})\ncat_blocks = {P}[index].flatten(0,1)",
        ),
        (
            "get_device()",
            RETURN,
            "out = torch.zeros({N}, {H}, dtype={P}.dtype, device=cat_blocks.get_device())\nout[:] = cat_blocks[:{N}]\nreturn out",
        ),
        (
            "str(device)",
            RETURN,
            "out = torch.zeros({N}, {H}, dtype={P}.dtype, device=str({D}))\nout[:] = cat_blocks[:{N}]\nreturn out",
        ),
        (
            "device.type",
            RETURN,
            "out = torch.zeros({N}, {H}, dtype={P}.dtype, device={D}.type)\nout[:] = cat_blocks[:{N}]\nreturn out",
        ),
        ("device.index is 0", RETURN, "assert {D}.index == 0\nreturn cat_blocks[:{N}]"),
        (
            "default device of result",
            RETURN,
            "torch.set_default_device({D})\nout = torch.zeros({N}, {H}, dtype={P}.dtype)\ntorch.set_default_device(None)\nout[:] = cat_blocks[:{N}]\nreturn out",
        ),
    ],
}
