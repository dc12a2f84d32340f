"""Every benchmark, one after the other: `python -m benchmarks`."""

from benchmarks import additive_attention, decoding, encoding, int8, scheduling, training, transformer

if __name__ == "__main__":
    for module in (encoding, training, transformer, additive_attention, decoding, int8, scheduling):
        print(f"--- {module.__name__} ---")
        module.main()
