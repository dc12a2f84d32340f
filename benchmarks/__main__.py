"""Every benchmark, one after the other: `python -m benchmarks`."""

from benchmarks import (
    additive_attention,
    allocator,
    busy,
    counts,
    decoding,
    dropout,
    embedding,
    encoding,
    int8,
    matmul,
    processes,
    roofline,
    scheduling,
    time_to_loss,
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
        roofline,
        matmul,
        allocator,
        busy,
        time_to_loss,
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
