"""What this package registers: one entry per architecture, tokenizer, corpus, task, measure, view and
metric.

To add one here, write its file and add its entry: the contract tests and the choices of the command line follow from
these registries. Another package adds its own by an entry point.
"""

from seqlab.registry.registry import Entry, Registry

BACKBONES = Registry(
    "architecture",
    "archs",
    {
        "feedforward": Entry(
            "seqlab.backbones.feedforward:Feedforward",
            "the last few embeddings through a hidden layer: a fixed window",
            "seqlab.backbones.feedforward_settings:FeedforwardSettings",
        ),
        "rnn": Entry(
            "seqlab.backbones.recurrent:Rnn",
            "vanilla (Elman) recurrence: one tanh layer fed back into itself",
            "seqlab.backbones.recurrent_settings:RnnSettings",
            compared=True,
        ),
        "gru": Entry(
            "seqlab.backbones.recurrent:Gru",
            "gated recurrence with an update and a reset gate",
            "seqlab.backbones.recurrent_settings:GruSettings",
            compared=True,
        ),
        "lstm": Entry(
            "seqlab.backbones.recurrent:Lstm",
            "gated recurrence with a separate cell state and three gates",
            "seqlab.backbones.recurrent_settings:LstmSettings",
            compared=True,
        ),
        "lstm-attention": Entry(
            "seqlab.backbones.lstm_attention:LstmAttention",
            "an LSTM that looks back at all its own states",
            "seqlab.backbones.lstm_attention_settings:LstmAttentionSettings",
            compared=True,
        ),
        "transformer": Entry(
            "seqlab.backbones.transformer:Transformer",
            "self-attention only, every position seeing what came before",
            "seqlab.backbones.transformer_settings:TransformerSettings",
            compared=True,
        ),
        "transformer-encoder": Entry(
            "seqlab.backbones.transformer_encoder:TransformerEncoder",
            "self-attention in both directions, every position seeing all others",
            "seqlab.backbones.transformer_encoder_settings:TransformerEncoderSettings",
        ),
    },
    base="seqlab.contracts:Backbone",
    group="seqlab.architectures",
)

TOKENIZERS = Registry(
    "tokenizer",
    "tokenizers",
    {
        "char": Entry("seqlab.tokenization.char:CharTokenizer", "one symbol per character of the training text"),
        "byte": Entry("seqlab.tokenization.byte:ByteTokenizer", "the 256 bytes of UTF-8: nothing is unknown"),
        "word": Entry(
            "seqlab.tokenization.word:WordTokenizer",
            "words and punctuation, the most frequent ones kept",
            "seqlab.tokenization.word:WordSettings",
        ),
        "bpe": Entry(
            "seqlab.tokenization.bpe:BpeTokenizer",
            "byte pairs learned from the training text: nothing is unknown",
            "seqlab.tokenization.bpe:BpeSettings",
        ),
    },
    base="seqlab.tokenization.tokenizer:Tokenizer",
    settings="seqlab.config:TokenizerSettings",
)

# a generated corpus has no noise, so dropout and label smoothing would only slow learning down
PURE = {"model.embedding_dropout": 0.0, "model.output_dropout": 0.0, "task.batch_size": 64}
PURE_TAGS = {"task.name": "tag", "task.char_encoder": "none", "task.word_dropout": 0.0, **PURE}
PURE_PAIRS = {"task.name": "translate", "task.label_smoothing": 0.0, "task.beam": 1, "task.metric": "exact", **PURE}

CORPORA = Registry(
    "corpus",
    "corpora",
    {
        "python-docs": Entry(
            "seqlab.data.text.builtin:python_docs", "the Python language reference, as this Python ships it"
        ),
        "toy-words": Entry("seqlab.data.text.builtin:toy_words", "short words repeated at random: learned in seconds"),
        "toy-sentences": Entry(
            "seqlab.data.text.builtin:toy_sentences", "ten short sentences, for looking at a small model"
        ),
        "tiny-shakespeare": Entry(
            "seqlab.data.text.builtin:tiny_shakespeare",
            "1.1 MB of plays; found in SEQLAB_DATA or the cache, else downloaded",
        ),
        "sst": Entry(
            "seqlab.data.examples.published:sst",
            "film reviews, positive or negative; found in SEQLAB_DATA",
            default_overrides={"task.name": "classify"},
        ),
        "ud-ewt": Entry(
            "seqlab.data.examples.published:ud_ewt",
            "parts of speech of English web text; found in SEQLAB_DATA",
            default_overrides={"task.name": "tag"},
        ),
        "wnut17": Entry(
            "seqlab.data.examples.published:wnut17",
            "entities in noisy text; found in SEQLAB_DATA",
            default_overrides={"task.name": "tag"},
        ),
        "multi30k-en-de": Entry(
            "seqlab.data.examples.published:multi30k",
            "captions, English to German; found in SEQLAB_DATA",
            default_overrides={"task.name": "translate", "task.bleu_tokenizer": "none"},
        ),
        "scifact": Entry(
            "seqlab.data.documents.collection:scifact",
            "claims and the abstracts that answer them; found in SEQLAB_DATA",
            default_overrides={"task.name": "embed"},
        ),
        "python-sections": Entry(
            "seqlab.data.documents.python_docs:python_sections",
            "sections of the Python language reference, found by their titles",
            default_overrides={"task.name": "embed"},
        ),
        "python-api": Entry(
            "seqlab.data.documents.python_docs:python_api",
            "descriptions of the Python library, found by the words of names",
            default_overrides={"task.name": "embed"},
        ),
        "copy": Entry(
            "seqlab.data.examples.synthetic.copying:copy",
            "write the same symbols again: does a fixed vector hold them?",
            default_overrides={**PURE_PAIRS, "tokenizer.name": "word"},
        ),
        "reverse": Entry(
            "seqlab.data.examples.synthetic.copying:reverse",
            "write the symbols backwards: does a fixed vector hold them?",
            default_overrides={**PURE_PAIRS, "tokenizer.name": "word"},
        ),
        "parity": Entry(
            "seqlab.data.examples.synthetic.parity:parity",
            "even or odd so far, bit by bit: keeping track of a state",
            default_overrides=PURE_TAGS,
        ),
        "brackets": Entry(
            "seqlab.data.examples.synthetic.brackets:brackets",
            "which bracket is due to close: a stack in the state",
            default_overrides=PURE_TAGS,
        ),
        "recall": Entry(
            "seqlab.data.examples.synthetic.recall:recall",
            "the value that was paired with a key: associative recall",
            default_overrides=PURE_TAGS,
        ),
        "dates": Entry(
            "seqlab.data.examples.synthetic.dates:dates",
            "dates as people write them, to 2004-03-21: translation in a minute",
            default_overrides={**PURE_PAIRS, "tokenizer.name": "char"},
        ),
        "adding": Entry(
            "seqlab.data.examples.synthetic.adding:adding",
            "the sum of two marked digits far apart: memory over a long lag",
            default_overrides={
                "task.name": "classify",
                "task.pooling": "last",
                "backbone.bidirectional": False,
                **PURE,
            },
        ),
    },
)

TASKS = Registry(
    "task",
    "tasks",
    {
        "language": Entry(
            "seqlab.tasks.language:LanguageTask",
            "predict the next token",
            "seqlab.tasks.text_settings:LanguageSettings",
        ),
        "masked": Entry(
            "seqlab.tasks.masked:MaskedTask",
            "predict hidden tokens from both sides",
            "seqlab.tasks.text_settings:MaskedSettings",
        ),
        "classify": Entry(
            "seqlab.tasks.classify:ClassifyTask",
            "one label for a whole text",
            "seqlab.tasks.example_settings:ClassifySettings",
        ),
        "tag": Entry("seqlab.tasks.tag:TagTask", "a tag for every word", "seqlab.tasks.example_settings:TagSettings"),
        "translate": Entry(
            "seqlab.tasks.translate:TranslateTask",
            "a text to another text",
            "seqlab.tasks.example_settings:TranslateSettings",
            alias="rewrite",
        ),
        "embed": Entry(
            "seqlab.tasks.embed:EmbedTask",
            "a vector for a text, near those of its documents",
            "seqlab.tasks.embed_settings:EmbedSettings",
        ),
    },
    base="seqlab.tasks.task:Task",
)

MEASURES = Registry(
    "measure",
    "measures",
    {
        "by-length": Entry("seqlab.measures.lengths:by_length", "translation quality by source length"),
        "alignment": Entry("seqlab.measures.lengths:alignment", "the attention of each generated word"),
        "temperatures": Entry("seqlab.measures.samples:temperatures", "texts at several temperatures"),
        "beam": Entry("seqlab.measures.samples:beam", "greedy search beside beam search"),
        "closing": Entry("seqlab.measures.samples:closing", "the share of brackets and quotes that samples close"),
        "speed": Entry("seqlab.measures.speed:speed", "the time of a training step and of a generated token"),
        "memory": Entry("seqlab.measures.speed:memory", "memory of weights, state, and a whole process"),
        "contextual": Entry(
            "seqlab.measures.contextual:contextual", "a contextual vector for each word, and heads as heatmaps"
        ),
        "mask-off": Entry("seqlab.measures.mask_off:mask_off", "attention with and without the causal mask"),
        "attention-scaling": Entry("seqlab.measures.scaling:attention_scaling", "why scores are divided by √d"),
    },
)

VIEWS = Registry(
    "view",
    "views",
    {
        "surprise": Entry(
            "seqlab.inspection.surprise:surprise", "the text colored by bits per token; two runs compared"
        ),
        "gates": Entry("seqlab.inspection.gates:gates", "how far every gate is open at each token, and saturation"),
        "cells": Entry("seqlab.inspection.cells:cells", "which units follow a property of the text, beside chance"),
        "lens": Entry("seqlab.inspection.lens:lens", "what the model would predict after every layer"),
        "attention": Entry(
            "seqlab.inspection.attention:attention", "where every head looks, and what it does by habit"
        ),
        "gradients": Entry(
            "seqlab.inspection.gradients:gradients", "how strongly a loss depends on earlier tokens, by their distance"
        ),
        "memory": Entry("seqlab.inspection.memory:memory", "how far back a changed token still changes the prediction"),
        "attribution": Entry(
            "seqlab.inspection.attribution:attribution", "which tokens speak for a predicted token, tag or label"
        ),
        "similar": Entry("seqlab.inspection.similar:similar", "other places of a corpus with nearly the same state"),
        "embeddings": Entry(
            "seqlab.inspection.embeddings:embeddings",
            "a map of the tokens' vectors; a word's neighbors by context",
        ),
        "ablate": Entry("seqlab.inspection.ablate:ablate", "what the model loses without each gate, layer or head"),
        "step": Entry("seqlab.inspection.step:step", "one time step written out, numbers beside the equations"),
    },
)

METRICS = Registry(
    "metric",
    "metrics",
    {
        "accuracy": Entry("seqlab.metrics.example_metric:accuracy", "the percentage of correct labels or tags"),
        "entity_f1": Entry("seqlab.metrics.example_metric:entity_f1", "F1 of the spans that tags mark"),
        "bleu": Entry("seqlab.metrics.example_metric:bleu_13a", "overlap with the reference in groups of words"),
        "chrf": Entry("seqlab.metrics.example_metric:chrf", "overlap with the reference in groups of characters"),
        "exact": Entry("seqlab.metrics.example_metric:exact", "the percentage of texts that equal their reference"),
        "ndcg_10": Entry("seqlab.metrics.example_metric:ndcg_10", "how near the top the relevant documents are"),
        "mrr": Entry("seqlab.metrics.example_metric:mrr", "1 / the rank of the first relevant document"),
        "map": Entry("seqlab.metrics.example_metric:mean_average_precision", "the precision at relevant documents"),
        "recall_100": Entry("seqlab.metrics.example_metric:recall_100", "the relevant documents that are found"),
    },
)
