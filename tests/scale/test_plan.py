"""Plans on paper: every architecture, whatever layout memory asks for, and refusals in words."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import seqlab
from seqlab.cli.app import app
from seqlab.errors import SeqlabError, UsageError
from seqlab.registry import BACKBONES
from seqlab.scale.cluster import ASSUMPTIONS
from seqlab.scale.interface import PlannedTraining
from seqlab.scale.wording import plan_lines

HARDWARE: dict[str, Any] = {"flops_per_device": 4e14, "memory_per_device": 80e9}
OPTIONS = ["--flops-per-device", "4e14", "--memory-per-device", "80e9"]


def invoke(*words: str) -> Result:
    return CliRunner().invoke(app, words)


def plan_of(arch: str = "transformer", params: float = 1e9, devices: int = 64, **options: Any) -> PlannedTraining:
    return seqlab.plan(arch, params=params, tokens=2e10, devices=devices, **{**HARDWARE, **options})[0]


@pytest.mark.parametrize("arch", list(BACKBONES))
def test_every_architecture_has_a_plan(arch: str) -> None:
    planned = plan_of(arch)
    one = planned.plan
    assert one.model.parameters == pytest.approx(1e9, rel=0.1)
    assert one.layout.memory < 80e9
    assert one.layout.batch * one.model.length * one.steps >= 2e10
    assert 0 < one.layout.efficiency < 1 + 1e-9


def test_compute_is_six_flops_per_parameter_and_token() -> None:
    """And the scores of attention, which are few at this length."""
    one = plan_of(params=1e10).plan
    assert one.flops == pytest.approx(6 * one.model.parameters * 2e10, rel=0.15)


def test_memory_decides_the_layout() -> None:
    assert plan_of(params=1e9).plan.layout.name == "data parallel"
    assert plan_of(params=2e10).plan.layout.name == "sharded data parallel"
    tensor = plan_of(params=1e12, devices=4096, memory_per_device=20e9).plan.layout
    assert tensor.tensor > 1 and tensor.memory <= 20e9
    with pytest.raises(UsageError, match="does not fit: shared by all 8 devices"):
        plan_of(params=1e12, devices=8)


def test_the_settings_are_those_of_the_layout() -> None:
    """What torchrun is given: FSDP, which goes with float32 only, and layers that are computed again."""
    sharded = plan_of(params=2e10)
    assert "--set train.shard=true" in sharded.plan.command and "bf16" not in sharded.plan.command
    assert any("seqlab shards in float32 only" in line for line in plan_lines(sharded))
    again = plan_of(params=1e9, devices=1, memory_per_device=27e9, window=8192).plan
    assert again.layout.recompute and "--set train.recompute=true" in again.command
    assert "train.recompute" not in plan_of().plan.command


def test_the_command_starts_as_many_processes_as_the_plan_has_devices() -> None:
    assert plan_of(devices=1).plan.command.startswith("seqlab train")
    assert plan_of(devices=8).plan.command.startswith("torchrun --nproc-per-node 8 -m seqlab train")
    many = plan_of(devices=64)
    assert many.plan.command.startswith("torchrun --nnodes 8 --nproc-per-node 8 --rdzv-backend c10d")
    assert many.plan.command.endswith("--set train.device=cuda --out RUN")
    uneven = plan_of(devices=12)
    assert uneven.plan.command.startswith("torchrun --nnodes 2 --nproc-per-node PROCESSES")
    assert any("PROCESSES is 8 on 1 node and 4 on the last" in line for line in plan_lines(uneven))


@pytest.mark.parametrize("devices", [1, 3, 8, 64, 100, 300])
def test_a_plan_agrees_with_its_command(devices: int) -> None:
    """The batch, the tokens and the processes of the sheet are those that the command trains with."""
    words = ["plan", "--arch", "transformer", "--params", "1e9", "--tokens", "2e10", "--devices", str(devices)]
    content = json.loads(invoke(*words, "--json").stdout)[0]
    command = content["command"].split()
    given = {name: int(command[command.index(name) + 1]) for name in ("--batch-size", "--steps", "--window")}
    accumulate = next((int(word.split("=")[1]) for word in command if word.startswith("train.accumulate=")), 1)
    batch = given["--batch-size"] * accumulate * given["--window"]
    assert batch == content["batch_sequences"] * content["window"] == pytest.approx(518_144, rel=0.01)
    assert content["trained_tokens"] == batch * given["--steps"]
    assert 2e10 <= content["trained_tokens"] < 2e10 + batch
    assert sum(content["processes_per_node"]) == content["devices_used"]
    if "--nnodes" in command:
        assert int(command[command.index("--nnodes") + 1]) == len(content["processes_per_node"])
    assert content["rows_per_device"] * content["devices_used"] >= given["--batch-size"]
    sheet = invoke(*words).stdout
    assert ("253 sequences, rounded to equal parts" in sheet) == (content["batch_sequences"] != 253)
    assert f"batch       {batch:,} tokens: " in sheet
    tokens = (
        f"tokens      {content['trained_tokens']:,} in {given['--steps']:,} whole steps; 20,000,000,000 were asked for"
    )
    assert tokens in sheet


def test_what_more_devices_do_not_shorten_is_not_bound_by_computing() -> None:
    eight, many = (plan_of("rnn", devices=devices) for devices in (8, 64))
    assert eight.plan.seconds == pytest.approx(many.plan.seconds, rel=0.01)
    assert eight.plan.layout.bound == many.plan.layout.bound == "steps that wait for each other"
    words = ["plan", "--arch", "gru,rnn", "--params", "1e9", "--tokens", "2e10", "--devices", "8", *OPTIONS]
    table = invoke(*words).stdout
    assert "none at half speed" in table and table.count("steps that wait for each other") == 2


def test_numbers_as_people_write_them() -> None:
    words = ["plan", "--arch", "gru", "--params", "1e7", "--tokens", "1e9", "--json"]
    given = [invoke(*words, "--devices", "1e1", "--memory-per-device", size).stdout for size in ("80GB", "8e10")]
    assert given[0] == given[1] and json.loads(given[0])[0]["devices"] == 10


def test_a_recurrence_stops_scaling_long_before_attention() -> None:
    """Its steps wait for each other however many devices there are."""
    recurrent, attention = plan_of("lstm", devices=512), plan_of("transformer", devices=512)
    assert recurrent.plan.layout.bound == "steps that wait for each other"
    assert recurrent.most_devices < attention.most_devices
    assert recurrent.plan.seconds > 5 * attention.plan.seconds
    assert recurrent.limited_by == "steps that wait for each other"  # from one device on
    assert attention.limited_by == "a batch that has no more sequences"


def test_ring_bytes() -> None:
    """2 (d - 1)/d of the gradients in float32, by hand."""
    layout = plan_of(devices=4).plan.layout
    assert not layout.sharded
    assert layout.gradient_bytes == pytest.approx(2 * 3 / 4 * 4 * layout.model.parameters)


def test_more_devices_than_sequences_have_nothing_to_do() -> None:
    layout = plan_of(devices=8, batch_tokens=4 * 2048).plan.layout
    assert layout.used == 4
    assert layout.efficiency <= 0.5


@pytest.mark.parametrize("name", ASSUMPTIONS)
def test_absurd_assumptions_are_refused(name: str) -> None:
    absurd: dict[str, Any] = {name: -1}
    with pytest.raises(UsageError, match=name.replace("_", "-")):
        plan_of("gru", 1e9, 64, **absurd)


def test_the_command_prints_a_sheet_a_table_and_json() -> None:
    base = ["plan", "--params", "1e9", "--tokens", "2e10", *OPTIONS]
    sheet = invoke(*base, "--arch", "transformer", "--devices", "64").stdout
    assert all(word in sheet for word in ("layout", "energy", "memory", "settings", "--utilization 0.47"))
    table = invoke(*base, "--arch", "transformer,lstm", "--devices", "8,512").stdout
    assert table.count("lstm") == 2 and "steps that wait for each other" in table
    content = json.loads(invoke(*base, "--arch", "gru", "--devices", "8", "--json").stdout)
    assert content[0]["device_hours"] == pytest.approx(content[0]["seconds"] * 8 / 3600)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--params", "1e9", "--tokens", "1e9", "--devices", "8,64,8"], "--devices names one of 8, 64, 8 twice"),
        (
            ["--params", "1e9", "--tokens", "1e9", "--devices", "8", "--arch", "gru,lstm,gru"],
            "--arch names one of gru, lstm, gru twice",
        ),
        (["--params", "1", "--tokens", "1e9", "--devices", "8"], "--params is 1"),
        (["--params", "1e9", "--tokens", "1", "--devices", "8"], "--tokens is 1"),
        (["--params", "1e9", "--tokens", "1e9", "--devices", "many"], "--devices is 'many'"),
        (["--params", "1e9", "--tokens", "1e9", "--devices", "0"], "--devices is 0"),
        (["--params", "1e9", "--tokens", "1e9", "--devices", "2.5"], "--devices is '2.5'"),
        (["--params", "1e9", "--tokens", "1e9", "--devices", "inf"], "--devices is 'inf'"),
        (["--params", "1B", "--tokens", "1e9", "--devices", "8"], "--params is '1B'"),
        (["--params", "1e9", "--tokens", "1e9", "--devices", "8", "--batch-tokens", "5"], "--batch-tokens is 5"),
        (["--params", "1e9", "--tokens", "1e9", "--devices", "8", "--from", "nothing"], "nothing"),
        (["--params", "1e9", "--tokens", "1e9", "--devices", "8", "--hidden", "64"], "--hidden 64 makes transformer"),
    ],
)
def test_absurd_options_are_refused(options: list[str], message: str) -> None:
    error = invoke("plan", "--arch", "transformer", *options, *OPTIONS).exception
    assert isinstance(error, SeqlabError) and error.exit_code in (2, 66) and message in str(error)
