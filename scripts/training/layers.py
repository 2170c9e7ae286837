"""e5's layers in torch, and the cross-encoder made of them: lower ones frozen, upper ones and one unit trained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from retrieval.answers_onnx import STEPS
from retrieval.e5_file import E5File

DROPOUT = 0.1
LIMIT = 127


class Layer(nn.Module):
    """One post-norm BERT layer with the weights of a file; `at` is their prefix."""

    def __init__(self, file: E5File, at: str) -> None:
        super().__init__()
        sizes = file.sizes
        self.heads = sizes.heads
        shapes = dict.fromkeys(("q", "k", "v", "ao"), (sizes.width, sizes.width))
        shapes |= {"fi": (sizes.inner, sizes.width), "fo": (sizes.width, sizes.inner)}
        self.linears = nn.ModuleDict(
            {name: _linear(file, at + name, shape) for name, shape in shapes.items()}
        )
        self.norms = nn.ModuleDict({name: _norm(file, at + name) for name in ("aln", "oln")})

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """x (b, l, width), bias (b, 1, 1, l): 0 where there is a token, very negative where not."""
        query, key, value = (self._split(self.linears[name](x)) for name in "qkv")
        drop = DROPOUT if self.training else 0.0
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=bias, dropout_p=drop)
        attended = self.linears["ao"](mixed.transpose(1, 2).reshape(x.shape))
        x = self.norms["aln"](x + functional.dropout(attended, DROPOUT, self.training))
        narrow = self.linears["fo"](functional.gelu(self.linears["fi"](x)))
        made: Tensor = self.norms["oln"](x + functional.dropout(narrow, DROPOUT, self.training))
        return made

    def _split(self, x: Tensor) -> Tensor:
        rows, length, width = x.shape
        return x.view(rows, length, self.heads, width // self.heads).transpose(1, 2)


def _linear(file: E5File, name: str, shape: tuple[int, int]) -> nn.Linear:
    layer = nn.Linear(shape[1], shape[0])
    layer.weight.data = torch.from_numpy(file.matrix(f"{name}.w", *shape))
    layer.bias.data = torch.from_numpy(file.floats(f"{name}.b", shape[0]).copy())
    return layer


def _norm(file: E5File, name: str) -> nn.LayerNorm:
    norm = nn.LayerNorm(file.sizes.width, file.sizes.eps)
    norm.weight.data = torch.from_numpy(file.floats(f"{name}.w", file.sizes.width).copy())
    norm.bias.data = torch.from_numpy(file.floats(f"{name}.b", file.sizes.width).copy())
    return norm


class Lower:
    """Words, positions and the frozen layers: a pair's token ids to what the trained layers read, float16."""

    def __init__(self, file: E5File, trained: int) -> None:
        sizes = file.sizes
        self._words = file.matrix("emb.word", sizes.words, sizes.width)
        segment = file.floats("emb.type", sizes.kinds, sizes.width)[0]
        self._positions = torch.from_numpy(file.floats("emb.pos", sizes.positions, sizes.width) + segment)
        self._norm = _norm(file, "emb.ln").eval()
        self._layers = [Layer(file, f"l{n}.").eval() for n in range(sizes.layers - trained)]

    @torch.no_grad()
    def states(self, rows: Sequence[Sequence[int]], size: int = 32) -> Iterator[tuple[int, Tensor]]:
        """(index of the row, (l, width)), shortest first."""
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        for start in range(0, len(order), size):
            batch = order[start : start + size]
            ids, mask = padded([rows[i] for i in batch])
            x = self._norm(torch.from_numpy(self._words[ids]) + self._positions[: ids.shape[1]])
            for layer in self._layers:
                x = layer(x, attention_bias(mask))
            for at, i in enumerate(batch):
                yield i, x[at, : len(rows[i])].half().clone()


class Upper(nn.Module):
    """The trained layers, the mean of the rows, one unit."""

    def __init__(self, file: E5File, trained: int) -> None:
        super().__init__()
        self.first = file.sizes.layers - trained
        self.layers = nn.ModuleList([Layer(file, f"l{self.first + n}.") for n in range(trained)])
        self.unit = nn.Linear(file.sizes.width, 1)
        nn.init.normal_(self.unit.weight, std=0.02)

    def forward(self, states: Sequence[Tensor]) -> Tensor:
        """(b,) logits of states as `Lower` gives them."""
        x = nn.utils.rnn.pad_sequence([state.float() for state in states], batch_first=True)
        lengths = torch.tensor([len(state) for state in states])
        mask = torch.arange(x.shape[1])[None] < lengths[:, None]
        for layer in self.layers:
            x = layer(x, attention_bias(mask))
        mean = (x * mask[:, :, None]).sum(1) / lengths[:, None]
        made: Tensor = self.unit(functional.dropout(mean, DROPOUT, self.training))[:, 0]
        return made

    def tensors(self) -> dict[str, np.ndarray[Any, Any]]:
        """What `retrieval.answers_onnx` reads: matrices in int8 steps with a scale a row, the rest float32."""
        made: dict[str, np.ndarray[Any, Any]] = {
            "out.w": self.unit.weight.detach().numpy(),
            "out.b": self.unit.bias.detach().numpy(),
        }
        for number, layer in enumerate(self.layers, start=self.first):
            parts = {**layer.linears, **layer.norms}  # type: ignore[dict-item]
            for name, part in parts.items():
                made[f"l{number}.{name}.b"] = part.bias.detach().numpy()
                weight = part.weight.detach().numpy()
                if weight.ndim == 1:
                    made[f"l{number}.{name}.w"] = weight
                    continue
                scales = np.maximum(np.abs(weight).max(axis=1), 1e-12) / LIMIT
                made[f"l{number}.{name}.w{STEPS}"] = np.rint(weight / scales[:, None]).astype(np.int8)
                made[f"l{number}.{name}.w.scales"] = scales.astype(np.float32)
        return made


def padded(rows: Sequence[Sequence[int]]) -> tuple[np.ndarray[Any, Any], Tensor]:
    """Token ids (b, l) with ones behind the ends, and where there is a token (b, l)."""
    ids = np.ones((len(rows), max(map(len, rows))), dtype=np.int64)
    mask = torch.zeros(ids.shape, dtype=torch.bool)
    for at, row in enumerate(rows):
        ids[at, : len(row)] = row
        mask[at, : len(row)] = True
    return ids, mask


def attention_bias(mask: Tensor) -> Tensor:
    """(b, 1, 1, l): what is added to attention scores so that padding is not looked at."""
    return torch.where(mask, 0.0, -1e9)[:, None, None, :]
