#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/learned/*.npz: the position rows of BertEmbeddings, RobertaEmbeddings, BartLearned-
PositionalEmbedding (transformers) and AbsolutePositionalEmbedding (x-transformers), and the hierarchical
rows of bert4keras' PositionEmbedding written down in numpy.

Made with torch 2.13.0, transformers 5.24.0, x-transformers 2.31.10, numpy 2.4.6. Run from the source root:
python3 tests/golden/make_learned.py
"""
import os
from importlib.metadata import version

import numpy as np
import torch
from transformers import BertConfig, RobertaConfig
from transformers.models.bart.modeling_bart import BartLearnedPositionalEmbedding
from transformers.models.bert.modeling_bert import BertEmbeddings
from transformers.models.roberta.modeling_roberta import RobertaEmbeddings
from x_transformers.x_transformers import AbsolutePositionalEmbedding

assert version("torch").startswith("2.13.0") and version("transformers") == "5.24.0"
assert version("x-transformers") == "2.31.10" and np.__version__ == "2.4.6"
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "learned")
DIM, LENGTH = 6, 9
torch.manual_seed(0)
torch.set_default_dtype(torch.float64)


def save(name, weight, rows):
    np.savez_compressed(os.path.join(OUT, name + ".npz"), weight=np.asarray(weight), out=np.asarray(rows))


def rows_of(embeddings, ids):
    """What positions add: LayerNorm left out, words and types zero."""
    with torch.no_grad():
        embeddings.LayerNorm = torch.nn.Identity()
        embeddings.word_embeddings.weight.zero_()
        embeddings.token_type_embeddings.weight.zero_()
        return embeddings.eval()(input_ids=ids)[0].numpy()


common = dict(vocab_size=40, hidden_size=DIM, num_attention_heads=1, type_vocab_size=1)
bert = BertEmbeddings(BertConfig(max_position_embeddings=12, **common))
ids = torch.arange(3, 3 + LENGTH)[None]
save("bert", bert.position_embeddings.weight.detach(), rows_of(bert, ids))
roberta = RobertaEmbeddings(RobertaConfig(max_position_embeddings=14, pad_token_id=1, **common))
save("roberta", roberta.position_embeddings.weight.detach(), rows_of(roberta, ids))
bart = BartLearnedPositionalEmbedding(12, DIM)
save("bart", bart.weight.detach(), bart(ids)[0].detach())
absolute = AbsolutePositionalEmbedding(DIM, 12)
torch.nn.init.normal_(absolute.emb.weight)
save("x_transformers", absolute.emb.weight.detach(), absolute(torch.zeros(1, LENGTH, DIM)).detach())

table, alpha = np.random.default_rng(1).normal(size=(5, DIM)), 0.4
u = (table - alpha * table[:1]) / (1 - alpha)
index = np.arange(25)
save("hierarchical", table, alpha * u[index // 5] + (1 - alpha) * u[index % 5])
