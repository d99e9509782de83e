"""What stands behind the name of a benchmark or a model and leaves it the same: metrics, shots, modes, notes."""

from __future__ import annotations

import re

_WORDS = (
    "acc|accuracy|accuracies|all|auc|average|averaged|avg|bench|benchmark|bleu|cer|chrf|ci|cot|elo|em|exact|f1|full|greedy"
    "|high|loose|low|macro|map|match|mean|median|medium|micro|mode|ndcg|norm|normali[sz]ed|our|ours|overall|pass|percent|percentage|points"
    "|precision|prompt|pts|rate|rating|recall|reported|resolution|resolve|resolved|rouge|run|runs|sample|samples|score|scores"
    "|self|set|solve|solved|split|std|stderr|strict|success|test|thinking|non|think|reasoning|total|wer|win"
    "|access|browser|browsing|code|execution|interpreter|python|search|tool|tools|use"
    "|a|an|and|at|by|for|in|is|no|of|on|over|per|the|to|using|via|with|without|higher|lower|better"
)
"""Words of metrics, of modes, and of tools, which have a question of their own."""
_ADDITIONS = re.compile(
    r"\[\^[\w-]{1,20}\]|\[(?:[\d, -]{1,20}|[a-z])\]|\^\w{1,2}\b|'s\b"
    r"|[(\[]?\b(?-i:[A-Z])[\w'-]+(?: (?:and|&) (?-i:[A-Z])[\w'-]+| et al\.?),? ?[(\[]?(?:19|20)\d\d[a-z]?[)\]]?"
    r"|\b[a-z]+-?[@^]\s?(?:\d+|[kn])\b|@\s?(?:\d+|[kn])\b"
    r"|\b(?:\d+|zero|one|few|five)[- ]?shots?\b"
    r"|\b(?:avg|average|averaged|mean)\.? (?:of|over) \d+\b|\b\d+ (?:attempts|runs|samples|seeds|trials)\b"
    r"|\b(?:t|temp|temperature|top[-_]p|top[-_]k)\s?=?\s?[\d.]+"
    rf"|\b0\s?-\s?100\b|\bw/o?(?![a-z])|\b(?:{_WORDS})\b",
    re.I,
)


def without_additions(text: str) -> str:
    """What follows a name, with blanks in the place of what leaves it the same."""
    return _ADDITIONS.sub(lambda found: " " * len(found[0]), text)
