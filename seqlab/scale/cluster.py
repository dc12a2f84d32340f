"""The devices of a plan, and what is assumed of them: every number is an option."""

from dataclasses import dataclass, fields

from seqlab.errors import UsageError

# what each number means, its default and its bounds; the command line offers the same
ASSUMPTIONS = {
    "utilization": "share of the peak that computing reaches when it waits for nothing",
    "bandwidth": "bytes per second that a device sends to another node",
    "node_bandwidth": "bytes per second that a device sends within its node",
    "devices_per_node": "devices that share a node",
    "memory_bandwidth": "bytes per second that a device reads from its own memory",
    "latency": "seconds of a step that waits for the one before: a kernel's start, a message's way",
    "watts": "power of a device, with its share of the node",
    "overhead": "power of the building per power of the devices",
    "usable_memory": "share of the memory that training may take; the rest is for the allocator and the system",
}


A100_FLOPS, A100_BYTES = 3.12e14, 80e9  # the device of a plan that names none
WINDOW, VOCAB_SIZE = 2048, 32_000  # the text of a plan that names none, and has no runs


@dataclass(frozen=True)
class Cluster:
    """Devices, all alike. The defaults are those of a node with eight GPUs of 2020 to 2023."""

    devices: int
    flops: float  # peak of one device, per second, in the precision of training
    memory: float  # bytes of one device
    utilization: float = 0.47  # suits the published trainings of benchmarks/published.py
    bandwidth: float = 25e9
    node_bandwidth: float = 300e9
    devices_per_node: int = 8
    memory_bandwidth: float = 2e12
    latency: float = 5e-6
    watts: float = 500.0
    overhead: float = 1.1
    usable_memory: float = 0.9

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            most = 1 if item.name in ("utilization", "usable_memory") else MOST.get(item.name, 1e21)
            if not 0 < value <= most:
                name = {"flops": "flops_per_device", "memory": "memory_per_device"}.get(item.name, item.name)
                raise UsageError(f"--{name.replace('_', '-')} is {value:g}: expected more than 0 and at most {most:g}.")

    def between(self, devices: int) -> float:
        """Bytes per second of rings over so many devices. Between nodes there is a ring for each device of a node, with
        its share of the bytes, so a node sends with the bandwidth of all its devices."""
        if devices <= self.devices_per_node:
            return self.node_bandwidth
        return min(self.node_bandwidth, self.devices_per_node * self.bandwidth)


MOST = {"devices": 1e7, "devices_per_node": 1e4, "latency": 1.0, "overhead": 10.0, "watts": 1e6}
