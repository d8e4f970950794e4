"""CPU seconds of a run by kind of work and by process: those of threads, shared by their stacks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from penstock.cli.profiling.kinds import Frame, Kind, kind_of_thread
from penstock.cli.profiling.stacks import Stack
from penstock.cli.profiling.usage import ProcessUse, Role, Usage
from penstock.cli.profiling.watched import Watched


@dataclass(frozen=True)
class Work:
    """Seconds of one kind of work on one stack of one kind of process."""

    role: Role
    kind: Kind
    frames: tuple[Frame, ...]
    seconds: float


@dataclass(frozen=True)
class Cpu:
    """The work of a run, and what else the processors did meanwhile; in seconds."""

    work: tuple[Work, ...]
    wall: float
    cores: int
    sampler: float
    machine: float

    @property
    def seconds(self) -> float:
        """Of all processes of the run."""
        return sum(each.seconds for each in self.work)

    @property
    def by_kind(self) -> dict[Kind, dict[Role, float]]:
        """Seconds by kind and process, in the order of kinds; those that took none are left out."""
        found: dict[Kind, dict[Role, float]] = {kind: defaultdict(float) for kind in Kind}
        for each in self.work:
            found[each.kind][each.role] += each.seconds
        return {kind: dict(roles) for kind, roles in found.items() if sum(roles.values()) > 0.0}

    @property
    def accounted(self) -> float:
        """The part of the seconds whose kind is known, 0 to 1."""
        known = sum(each.seconds for each in self.work if each.kind.is_known)
        return known / self.seconds if self.seconds else 1.0

    @property
    def others(self) -> float:
        """Seconds of processes that are neither the run's nor the sampler's."""
        return max(self.machine - self.seconds - self.sampler, 0.0)

    @property
    def idle(self) -> float:
        """Seconds in which processors had nothing to do."""
        return max(self.cores * self.wall - self.seconds - self.sampler - self.others, 0.0)


def cpu_of(run: Watched) -> Cpu:
    """The CPU seconds of a run."""
    usage, wall = run.usage, run.ended - run.began
    work = tuple(_work(usage, run.stacks))
    return Cpu(work, wall, usage.cores, usage.sampler, usage.machine)


def _work(usage: Usage, stacks: Sequence[Stack]) -> Iterator[Work]:
    by_process: defaultdict[int, list[Stack]] = defaultdict(list)
    for stack in stacks:
        by_process[stack.process].append(stack)
    for number, process in usage.processes.items():
        if process.role == "JVM":
            yield from _of_jvm(process)
        else:
            yield from _of_python(number, process, by_process[number], is_sampled=bool(stacks))


def _of_jvm(process: ProcessUse) -> Iterator[Work]:
    """Threads of the JVM by their names; what ended threads had done is Spark's."""
    seen: defaultdict[str, float] = defaultdict(float)
    for thread in process.threads.values():
        seen[thread.name] += thread.cpu
    seen[""] += max(process.cpu - sum(seen.values()), 0.0)
    for name, seconds in seen.items():
        if seconds > 0.0:
            frames = (Frame(name or "threads that have ended", ""),)
            yield Work("JVM", kind_of_thread(name), frames, seconds)


def _of_python(
    number: int, process: ProcessUse, stacks: list[Stack], *, is_sampled: bool
) -> Iterator[Work]:
    """Each thread's seconds by its own stacks. A thread without any is a library's, but for the
    main one, which then worked for too short a time, as threads did that ended between looks."""
    if not is_sampled:
        yield Work(process.role, Kind.UNSAMPLED, (), process.cpu)
        return
    of_threads: defaultdict[int, list[Stack]] = defaultdict(list)
    for stack in stacks:
        of_threads[stack.thread].append(stack)
    left = process.cpu
    for thread, use in process.threads.items():
        own, seconds = of_threads.pop(thread, []), min(use.cpu, left)
        left -= seconds
        if own or thread != number:
            yield from _shared(process.role, own, seconds, Kind.NATIVE)
        else:
            left += seconds
    unseen = [stack for own in of_threads.values() for stack in own]
    yield from _shared(process.role, unseen, left, Kind.OTHER)


def _shared(role: Role, stacks: Iterable[Stack], seconds: float, without: Kind) -> Iterator[Work]:
    """Seconds shared by stacks as often as these were seen; of the kind `without` if by none."""
    counts = _counted(stacks)
    total = sum(counts.values())
    if seconds > 0.0 and not total:
        yield Work(role, without, (), seconds)
    for stack, count in counts.items():
        yield Work(role, stack.kind, stack.frames, seconds * count / total)


def _counted(stacks: Iterable[Stack]) -> Mapping[Stack, int]:
    counts: Counter[Stack] = Counter()
    for stack in stacks:
        counts[stack] += stack.count
    return counts
