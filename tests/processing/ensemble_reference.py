"""Greedy ensemble selection as the public pipeline does it, slow and plain: what the kernels are held against."""

import numpy as np


def reference_errors(metric, labels, prediction):
    """The error of a float64 mix of reduced predictions."""
    if metric == "log_loss":
        return -np.log(prediction).mean()
    if metric == "rmse":
        return np.sqrt(np.mean((labels - prediction) ** 2))
    keys = auc_keys(prediction)
    positives, negatives = keys[labels == 1], keys[labels == 0]
    won = 0.0
    for key in positives:
        won += np.count_nonzero(negatives < key) + np.count_nonzero(negatives == key) / 2
    return 1 - won / (len(positives) * len(negatives))


def auc_keys(prediction):
    """The mantissa of the score plus one, as the public C++ ranks it."""
    clamped = np.clip(prediction.astype(np.float32).astype(np.float64) + 1.0, 1.0, 2.0 - 2.0**-23)
    return clamped.astype(np.float32).view(np.uint32) & 0x7FFFFF


def reduced(metric, labels, prediction):
    """The probability of the true class for log loss, the prediction itself elsewhere."""
    if metric != "log_loss":
        return prediction.astype(np.float32)
    columns = np.column_stack([1 - prediction, prediction]) if prediction.ndim == 1 else prediction
    true = columns[np.arange(len(labels)), labels]
    return np.clip(true.astype(np.float64), 1e-15, 1 - 1e-15).astype(np.float32)


def reference_selection(metric, labels, predictions, size, seed=0):
    """Indices, trajectory and weights of one pass over ``predictions``, in their order."""
    candidates = [reduced(metric, labels, prediction) for prediction in predictions]
    generator = np.random.RandomState(seed)
    chosen, trajectory, rounding = [], [], False
    mean = np.zeros(len(labels))
    for step in range(size):
        members = len(chosen)
        if members:
            mean = mean * ((members - 1) / members)
            mean = mean + (candidates[chosen[-1]] / np.float32(members)).astype(np.float64)
        errors = np.zeros(len(candidates))
        for number, candidate in enumerate(candidates):
            product = np.float32(1 / (members + 1)) * candidate
            errors[number] = reference_errors(
                metric, labels, (members / (members + 1)) * mean + product.astype(np.float64)
            )
        if rounding:
            errors = errors.round(6)
        best = np.flatnonzero(np.isclose(errors, errors.min(), rtol=1e-12, atol=0))
        if len(best) > 1:
            members_among = [number for number in best if number in chosen]
            best = members_among or best
        choice = generator.choice(best)
        error = errors[choice]
        if step == 0 and abs(error) > 1e-4:
            rounding = True
            error = error.round(6)
        chosen.append(int(choice))
        trajectory.append(float(error))
        if len(candidates) == 1:
            break
    length = trajectory.index(min(trajectory)) + 1
    weights = np.bincount(chosen[:length], minlength=len(candidates)) / length
    return chosen[:length], trajectory[:length], weights
