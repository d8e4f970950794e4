"""Settings of adaptation: every threshold by name, with its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """When figures count as moved, when another plan is worth a switch, and how shedding is led."""

    half_life_batches: float = 5.0
    """A figure's past counts half after so many batches: with fewer, its noise would be that of two
    or three batches; with more, slow changes would be followed too late."""

    half_life_windows: float = 0.25
    """The same as a part of the largest window, where that is longer: a plan works with what is in
    the windows, so that figures need not move faster than these."""

    moving_batches: int = 2
    """Batches by which a rate is known that keeps moving: more would be behind it."""

    moving_steps: int = 8
    """Steps from batch to batch that tell noise from a move: of fewer, noise is hardly known."""

    moving_errors: float = 4.0
    """Standard deviations, by these steps, that the latest batches must be away from all that
    counts: of steady noise, one batch in ten thousand is."""

    variation_batches: int = 16
    """Batches from which on it is told how much a rate varies: a standard deviation is then known
    to about a fifth."""

    remembered_batches: int = 64
    """Batches that each figure keeps apart, so that a drift can leave only those after it; a change
    that came before them has been forgotten by the half-life anyway."""

    least_hits: float = 10.0
    """Events from which a measured figure counts: ten are known to a third, where guesses are off
    by a factor of ten and more."""

    most_error: float = 0.5
    """Relative error above which a measured figure does not replace a given one."""

    none_seen: float = 3.0
    """Events that may have been expected where none came: at three, none comes in one of twenty."""

    drift_delta: float = 0.002
    """ADWIN's confidence, the usual one: in 6,000 batches of a Poisson stream it saw no drift that
    was none, and a step of 10 % at 5,000 tuples a batch within three."""

    drift_least: int = 2
    """Batches before ADWIN may cut, and on each side of a cut: there is one value a batch, and a
    step must be noticed within three."""

    jump_of_two: float = 6.0
    """Standard deviations by which two batches in a row are a step: ADWIN waits for five where a
    rate changes a hundredfold, as its window's variance is then the step itself."""

    jump_of_one: float = 12.0
    """The same of one batch: twice as far, since one alone may be an odd one."""

    least_noise: float = 0.01
    """Relative noise that a batch's figure has at the least: huge batches differ by a per cent for
    reasons that no plan cares about."""

    moved: float = 0.1
    """A figure that is off by so much since plans were last weighed makes them be weighed again:
    what changes less can hardly bring a plan its margin (Feldera takes the same)."""

    moved_far: float = 0.2
    """The same for a rate, where they are weighed at once, whatever that takes, as after a drift: a
    wave comes so far in a tenth of its period, and has no step that could be told from noise."""

    cost_moved: float = 1.0
    """The same for the seconds of a condition, by which plans seldom differ: twice as many. They
    vary by half from batch to batch with what else the machine does, which no error tells."""

    none_moved: float = 3.0
    """The same where no event has come yet, and the figure is the most that it can be: a fourth of
    what it was taken for."""

    moved_errors: float = 3.0
    """How many times its error a figure must have moved, too; or chance would be followed: of ten
    figures, one in forty looks."""

    weigh_every: int = 2
    """Batches between two weighings without a drift: what moves slowly can wait for the next."""

    stay_every: int = 5
    """Batches until the next weighing after one that found the running plan the best, and twice as
    many after each further one: where figures wander without a better plan, asking at each step is
    work for nothing."""

    stay_most: int = 160
    """Batches between two weighings at the most: what moves too slowly to be a drift, and not far
    either, is then seen within some minutes."""

    free_weighings: int = 2
    """Weighings after the start, and after each drift, whatever they take: the first figures are
    rough, and a correction of them is worth more than its time."""

    planning_share: float = 0.01
    """Part of a run's work that all other weighings may take: half of what following the streams
    may cost in all."""

    weighing_seconds: float = 0.0007
    """CPU-seconds of a weighing, times the square of the number of inputs: 6 ms for three."""

    training_of_stream: float = 0.02
    """CPU-seconds that it takes to train by the sample of one stream."""

    training_payback: float = 200.0
    """How many times the seconds of training a run must have worked before it is tried for the
    first time, and twice as many times after each training: most streams have no classes that
    differ, and where they have, a mesh that has grown stale is trained anew at once."""

    free_margin: float = 1.1
    """How many times the work of the new plan the old one's must be, where nothing is rebuilt."""

    rebuild_margin: float = 1.2
    """The same where state is rebuilt: what was estimated wrongly is then paid for twice."""

    least_saving: float = 0.02
    """Part of the clock that a rebuild must save: less is not worth a longer batch to anybody."""

    payback: float = 2.0
    """How many times its seconds a rebuild must bring within the horizon: the promise may be half
    wrong."""

    horizon_windows: float = 2.0
    """The horizon in largest windows, at the most: by then the state has been replaced twice."""

    horizon_lasting: float = 0.5
    """The same in times that the streams have been as they are, where that is longer: a small gain
    that lasts pays for a rebuild too, if it may take its time."""

    horizon_regime: float = 2.0
    """The horizon in times that the streams have been as they are: what has lasted long goes on for
    long, and what has just begun may end as soon."""

    dwell_batches: int = 10
    """Batches after a switch in which there is no other without a new drift."""

    settling_batches: int = 3
    """The same as long as a drift, or the start, is less than `dwell_batches` ago: the first
    figures after a change are rough, and a better plan shall not wait for ten batches."""

    judged_batches: int = 6
    """Batches by which what came of a switch is compared with its promise."""

    judged_every: int = 2
    """Every so many batches after a switch is one of them: to reckon what both plans take for a
    batch takes half a millisecond."""

    least_outcome: float = 0.1
    """Part of its promise that a switch must keep: below it, Flink's autoscaler too calls a change
    ineffective."""

    outcome_errors: float = 2.0
    """Standard errors by which an outcome must be too small: seconds of batches are noisy."""

    reckoned_every: int = 16
    """Batches between two whose seconds are compared with what the model says of them: that takes a
    millisecond, and what is usual changes slowly."""

    barred_windows: float = 10.0
    """Largest windows for which a plan that was taken back is not tried again."""

    barred_batches: int = 50
    """Batches for which it is not, at the least."""

    most_factor: float = 10.0
    """How far predictions of seconds are corrected: guessed costs are hardly further off, and where
    batches are nearly empty it is their start that takes the time, not the work."""

    stale_batches: int = 3
    """Batches after which what a probe said, that the plan makes no more, is told by sketches."""

    paired_every: int = 2
    """Batches whose sketches are compared pair by pair, to see a drift within three."""

    sketched_every: int = 8
    """Batches between two looks at all sets of sketches; a drift of a pair makes one at once."""

    told_every: int = 8
    """Batches between two reports that put the figures together anew, and have them as a stats
    file: that takes a millisecond, and a restart loses no more than what came after the last."""

    sketch_keys: int = 2_048
    """Different hashes of a key that are kept of each input: at 256 a pair's selectivity is known
    to six per cent, and a union of batches shall not fall below that."""

    # Shedding: `penstock run --shed --delay`.

    shed_delay: float = 5.0
    """The wanted delay, seconds, where `--shed` comes without one: people who watch results wait
    for that long."""

    shed_triggers: float = 3.0
    """The least wanted delay in triggers, where none is given: data waits for one of them, and a
    batch that takes another is not yet late."""

    shed_highest_delay: float = 1.25
    """Times the wanted delay that the next batch's may be by forecast: half of the overshoot that
    is allowed is left to what the forecast does not know."""

    shed_least_batch: float = 0.2
    """The part of the wanted delay that a batch may always take: one that keeps next to nothing
    costs nearly as much and shows nothing, and the batch after it would keep all the more."""

    shed_steps: int = 5
    """Batches after shedding has begun in which the delay may be taken to its target in one step:
    by then what starting, reading and joining cost in a burst is known. Later ones would follow
    every hiccup of the machine."""

    shed_first_aim: float = 0.8
    """The part of the wanted delay that the first of them is to lead to: the load of a burst that
    has just come is known from what a batch or none has seen of it, and windows fill."""

    shed_off: float = 0.2
    """The part of the wanted delay by which it must be off for that: what is called settled."""

    shed_patience: int = 3
    """Batches on end in which it must be off for the same later: a hiccup lasts for one or two."""

    shed_catch_up: float = 0.8
    """The load up to which a query that is late keeps all: each second of work makes up for a
    quarter of a second of delay, so that an hour is made up for within four."""

    shed_behind: float = 2.0
    """Times the wanted delay above which a query in limited batches is not led there, but catches
    up: whatever these batches shed, the data behind them is as old as it is."""

    shed_band: float = 0.1
    """The part of the wanted delay by which it may be off before small moves are worth making: half
    of what is called settled."""

    shed_least_move: float = 0.02
    """Relative moves of fractions that are not worth a file in the checkpoint and a line in the
    log: the seconds of batches vary by more."""

    shed_late_batches: int = 2
    """Batches over the wanted delay, one after another, until shedding begins though the load
    fits: a single one is a hiccup, which goes by faster than shedding could help."""

    shed_calm_batches: int = 5
    """Batches of little delay until shedding counts as over (FIELD C.5)."""

    shed_calm_delay: float = 0.5
    """Which part of the wanted delay is little."""

    shed_cold_batches: int = 1
    """First batches of a run that tell nothing of what later ones cost: they load code and find
    empty windows. A second one would be too late where a run starts into a burst; what later ones
    compile is told apart."""

    shed_memory: int = 100
    """Batches from which it is learned what starting, reading and joining cost beside each other:
    that tells only where batches differ, as at the beginning of a burst."""

    shed_forgetting: float = 0.98
    """What a batch counts for beside the one after it, there: fifty batches together."""

    shed_pace: float = 0.85
    """The same for how fast the machine is just now: seven batches together."""

    shed_ahead: float = 2.0
    """Batches ahead whose time must suffice too: what is kept now fills the windows that later ones
    meet. With more, a machine would idle while windows fill at the beginning of a burst."""

    shed_noise: float = 4.0
    """Standard deviations of a Poisson stream beyond which a batch's rate is news: one batch in
    16,000 is by chance."""

    shed_smoothing: float = 0.3
    """What a batch's rate counts for beside all before it, where it is no news."""

    shed_moved: float = 0.1
    """Logarithm of a figure's move from which on the best fractions are worked out anew."""

    shed_points: int = 12
    """Points of the curve of fractions: between two of them a third of the work is dropped."""

    shed_least_kept: float = 0.01
    """The part of the work at the end of that curve: a burst to a hundred times the capacity."""

    behind_batches: int = 5
    """Batches over which the delay has to grow until it is said."""

    behind_growth: float = 1.5
    """Times by which it has to grow over them."""

    behind_busy: float = 0.95
    """The busy share from which on a query has no time left."""

    behind_again: float = 4.0
    """Times by which the delay has to grow until it is said again."""

    behind_caught_up: float = 0.5
    """The part of the delay that was told at which it counts as caught up."""

    # Training of meshes.

    sample_size: int = 2_000
    """Tuples of each stream that are kept to train by: training takes 1,000 of them, and more tell
    better how often keys meet."""

    sample_enough: int = 1_500
    """Tuples of a stream below which it is drawn from until it has been twice, and then in some
    batches: two batches of a fast stream."""

    sample_fill: int = 8
    """Batches from one draw of a slow stream to the next as long as it has not enough: to draw in
    all of them would take longer than all else that is done for so few tuples."""

    sample_draw: int = 1_000
    """Tuples of each stream that a batch draws: what is dear is to read the columns that training
    alone looks at, of all tuples, so that few batches are to draw much."""

    sample_every: int = 100
    """Batches from one draw to the next once there is enough: twenty such columns make a batch
    nearly twice as dear, which is a hundredth over a hundred batches. A stale mesh is noticed by
    what its operators let through, and has all batches draw again."""

    sample_half_life: int = 10
    """Batches after which a tuple counts half in the sample, if its window is not longer: about as
    many as a plan may take to settle."""

    training_batches: int = 2
    """Batches that must have been drawn from before training is worth it: one alone may be of a
    moment only."""

    training_pause: int = 50
    """Batches in which a planner that is asked again gets the same training, unless it is stale:
    training takes a quarter of a CPU-second a stream, and half of the sample is new by then."""

    training_seconds: float = 1.0
    """CPU-seconds, as functions declare them, that filters may take in one training: the planner
    takes about as long to find a mesh."""

    training_fewest: int = 100
    """Tuples that are tried out in any case: groups of fewer than 5 are not told apart, and 20 of
    them are some."""

    mesh_stale_factor: float = 2.0
    """How many times as many, or as few, rows as expected an operator lets through on one route,
    measured by what it does on all: routes of tuples that differ by less cost about the same."""

    mesh_stale_errors: float = 5.0
    """Standard errors that this must be besides, since every operator of every route is looked at
    in every batch: chance exceeds them once in two million."""

    mesh_stale_batches: int = 2
    """Batches that are looked at together: one may be small, more would hide a change longer."""

    mesh_stale_rows: int = 50
    """Rows that must have come to an operator on a route before it is judged by them."""


DEFAULT_SETTINGS = Settings()
