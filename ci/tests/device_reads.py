"""Ways to write TODO 4 that stay on the device, and ways that leave it, each with what the report calls it."""

from device_samples import JOIN, RETURN

POOL = "self.physical_kv_cache"
TABLE = f"torch.tensor(req.block_table, device={POOL}.device)"

RIGHT = {
    "as in the master": (RETURN, RETURN),
    "index_select": (JOIN, f"cat_blocks = torch.index_select({POOL}, 0, {TABLE}).flatten(0, 1)"),
    "the table as index": (JOIN, f"cat_blocks = {POOL}[req.block_table].reshape(-1, self.head_dim)"),
    "an index on the device": (JOIN, f"cat_blocks = {POOL}[{TABLE}].flatten(0, 1)"),
    "row by row": (
        JOIN,
        f"rows = [{POOL}[b, i] for b in req.block_table for i in range(self.block_size)]\n"
        "cat_blocks = torch.stack(rows[:req.seq_len])",
    ),
    "a buffer of the pool's kind": (
        JOIN,
        f"cat_blocks = {POOL}.new_empty(len(blocks) * self.block_size, self.head_dim)\n"
        "for i, block in enumerate(blocks):\n    cat_blocks[i * self.block_size:(i + 1) * self.block_size] = block",
    ),
    "a copy": (RETURN, RETURN + ".clone().contiguous()"),
    "a detour through float32": (RETURN, f"{RETURN}.double().to({POOL}.dtype)"),
}

WRONG = {
    "cpu": (RETURN, RETURN + ".cpu()", "device.copy"),
    "cpu and back": (RETURN, f"{RETURN}.cpu().to({POOL}.device)", "device.copy"),
    "tolist": (RETURN, f"return torch.tensor(cat_blocks.tolist(), dtype={POOL}.dtype)[:req.seq_len]", "device.copy"),
    "numpy": (RETURN, f"return torch.from_numpy(cat_blocks.numpy())[:req.seq_len].to({POOL}.dtype)", "device.copy"),
    "numpy.asarray": (RETURN, "import numpy\nreturn torch.from_numpy(numpy.asarray(cat_blocks))", "device.copy"),
    "print": (RETURN, f"print(cat_blocks)\n{RETURN}", "device.copy"),
    "item": (RETURN, f"cat_blocks[0, 0].item()\n{RETURN}", "device.sync"),
    "if": (RETURN, f"if cat_blocks.sum() > 0:\n    pass\n{RETURN}", "device.sync"),
    "values one by one": (
        JOIN,
        f"cat_blocks = torch.tensor([[x for x in r] for b in blocks for r in b], dtype={POOL}.dtype)",
        "device.sync",
    ),
    "zeros without device": (
        RETURN,
        f"out = torch.zeros(cat_blocks.shape, dtype={POOL}.dtype)\nout[:] = cat_blocks\nreturn out[:req.seq_len]",
        "device.elsewhere",
    ),
    "a result of its own": (
        RETURN,
        f"return torch.zeros(req.seq_len, self.head_dim, dtype={POOL}.dtype)",
        "device.elsewhere",
    ),
    "float32": (RETURN, RETURN + ".float()", "device.dtype"),
    "float16": (RETURN, RETURN + ".half()", "device.dtype"),
    "an index on the host": (JOIN, f"cat_blocks = {POOL}[torch.tensor(req.block_table)].flatten(0, 1)", "device.index"),
    "a mask on the host": (
        JOIN,
        "mask = torch.tensor([b in req.block_table for b in range(self.num_blocks)])\n"
        f"cat_blocks = {POOL}[mask].flatten(0, 1)",
        "device.index",
    ),
    "index_select with an index on the host": (
        JOIN,
        f"cat_blocks = {POOL}.index_select(0, torch.tensor(req.block_table)).flatten(0, 1)",
        "device.mixed",
    ),
    "a sum of two devices": (RETURN, f"{RETURN} + torch.zeros(self.head_dim)", "device.mixed"),
}  # fmt: skip
