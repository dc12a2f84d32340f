"""Every benchmark, one after the other: `python -m benchmarks`."""

from benchmarks import encoding, training

if __name__ == "__main__":
    for module in (encoding, training):
        print(f"--- {module.__name__} ---")
        module.main()
