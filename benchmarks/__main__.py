"""Every benchmark, one after the other: `python -m benchmarks`."""

from benchmarks import additive_attention, decoding, encoding, scheduling, training, transformer

if __name__ == "__main__":
    for module in (encoding, training, transformer, additive_attention, decoding, scheduling):
        print(f"--- {module.__name__} ---")
        module.main()
