"""Trees of every size out of one, beside trees that were grown one by one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor  # type: ignore[import-untyped]
from sklearn.model_selection import cross_val_score  # type: ignore[import-untyped]

from penstock.sampling.tree_sizes import FOLDS, errors_of_sizes, tree_of

SIZES = (1, 2, 3, 5, 8, 24, 100)


@pytest.mark.parametrize("seed", range(3))
def test_one_tree_a_fold_tells_what_trees_of_all_sizes_would(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = 203
    features = np.column_stack([rng.integers(0, 20, count), rng.random(count)]).astype(float)
    features[rng.random(count) < 0.05, 0] = np.nan
    steps = np.nan_to_num(features[:, 0]) > 7
    yields = np.column_stack([steps + rng.random(count), rng.random(count)])
    found = errors_of_sizes(features, yields, SIZES)
    models = [DummyRegressor(), *map(tree_of, SIZES[1:])]
    for model, errors in zip(models, found.T, strict=True):
        scores = cross_val_score(
            model, features, yields, cv=FOLDS, scoring="neg_mean_squared_error"
        )
        assert errors == pytest.approx(-scores)
