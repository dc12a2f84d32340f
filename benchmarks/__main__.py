"""Every benchmark, one after the other: `python -m benchmarks`."""

from benchmarks import (
    additive_attention,
    counts,
    decoding,
    dropout,
    embedding,
    encoding,
    int8,
    processes,
    scheduling,
    training,
    transformer,
    vector_search,
)

if __name__ == "__main__":
    for module in (
        encoding,
        training,
        transformer,
        dropout,
        additive_attention,
        decoding,
        counts,
        int8,
        scheduling,
        processes,
        embedding,
        vector_search,
    ):
        print(f"--- {module.__name__} ---")
        module.main()
