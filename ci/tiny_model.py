#!/usr/bin/env python3
"""A model folder of a few kilobytes for `autograder serve-check` without a GPU: random weights, a token per byte.

    vllm/bin/python ci/tiny_model.py FOLDER --layers 2 --kv-heads 2 --head-dim 32

The server makes up the weights (--load-format dummy). Needs `transformers`, which vLLM brings.
"""

import argparse
import json
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

END = "</s>"


def main() -> None:
    """Write config and tokenizer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--kv-heads", type=int, default=2)
    parser.add_argument("--head-dim", type=int, default=32)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    signs = [*sorted(pre_tokenizers.ByteLevel.alphabet()), END]
    tokenizer = Tokenizer(models.BPE(vocab={sign: place for place, sign in enumerate(signs)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END).save_pretrained(options.folder)
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": options.kv_heads * options.head_dim,
        "intermediate_size": 128,
        "num_hidden_layers": options.layers,
        "num_attention_heads": options.kv_heads,
        "num_key_value_heads": options.kv_heads,
        "head_dim": options.head_dim,
        "vocab_size": len(signs),
        "max_position_embeddings": 4096,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-5,
        "eos_token_id": len(signs) - 1,
        "tie_word_embeddings": False,
        "dtype": "float16",
    }
    (options.folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
