"""Every benchmark, one after the other: `python -m benchmarks`."""

from benchmarks import encoding, training

for module in (encoding, training):
    print(f"--- {module.__name__} ---")
    module.main()
