"""What authors write around their numbers: what has to raise a question, in their many ways, and what must not."""

from __future__ import annotations

import json

import pytest

from benchwright.hub.sources import Sources, check_spec
from benchwright.hub.spec import Spec

MODEL = "nova-ai/nova-7b"
HEAD = "# Nova 7B\n\nNova 7B is a language model by Nova AI.\n\n## Evaluation\n\n"
TOLD = "On Logic-1k, Nova 7B scores 62.7%."


def sentence(more: str) -> str:
    """A card with a sentence beside that of the number."""
    return f"{HEAD}{TOLD} {more}\n"


def elsewhere(more: str) -> str:
    """A card with a sentence in a later section."""
    return f"{HEAD}{TOLD}\n\n## More\n\n{more}\n"


def beside(more: str) -> str:
    """A card with a paragraph behind that of the number."""
    return f"{HEAD}{TOLD}\n\n{more}\n"


def rows(cell: str = "62.7", *, column: str = "Logic-1k", row: str = "Nova 7B", note: str = "") -> str:
    """A card with a table, and what stands at the end of it."""
    table = f"| Model | {column} | Sums |\n|---|---|---|\n| {row} | {cell} | 41.0 |\n| Peer 8B | 58.1 | 39.2 |\n"
    return f"{HEAD}{table}\n## Use\n\nLoad it with your library.\n\n{note}\n"


def paper(cell: str = "62.7", *, caption: str = "Main results.", note: str = "", head: str = "Logic-1k") -> str:
    """A paper as arXiv's HTML has it, with a table."""

    def cells(*told: str, kind: str = "") -> str:
        return "".join(f'<span class="ltx_td {kind}">{one}</span>' for one in told)

    lines = (cells("Model", head, kind="ltx_th"), cells("Nova 7B", cell), cells("Peer 8B", "58.1"))
    table = "".join(f'<span class="ltx_tr">{line}</span>' for line in lines)
    return (
        "<!DOCTYPE html><html><body><article><section class='ltx_section'><h2>4 Experiments</h2>"
        f'<figure class="ltx_table"><figcaption class="ltx_caption"><span class="ltx_tag">Table 3: </span>{caption}'
        f'</figcaption><span class="ltx_tabular">{table}</span></figure>{note}</section></article></body></html>'
    )


def footnote(mark: str, text: str) -> str:
    """A footnote where arXiv's HTML has it: at its mark, twice marked."""
    raised = f'<sup class="ltx_note_mark">{mark}</sup>'
    content = f'{raised}<span class="ltx_tag ltx_tag_note">{mark}</span>{text}'
    inner = f'<span class="ltx_note_outer"><span class="ltx_note_content">{content}</span></span>'
    return f'<span class="ltx_note ltx_role_footnote">{raised}{inner}</span>'


@pytest.fixture
def asks(hub, emulator, tmp_path):
    """The codes of the questions that a page raises, the one about its authors aside."""

    def asks(text, **more):
        emulator.add_model(MODEL, {"README.md": HEAD if text.startswith("<!DOCTYPE") else text})
        source = {"url": f"https://huggingface.co/{MODEL}", "name": "Model Card"}
        if text.startswith("<!DOCTYPE"):
            (tmp_path / "paper.html").write_text(text, "utf-8")
            source = {"url": "https://arxiv.org/abs/2601.01234", "name": "Paper", "file": "paper.html"}
        result = {"dataset": "bench-org/logic-1k", "task_id": "logic", "value_text": "62.7", "source": source, **more}
        path = tmp_path / "spec.json"
        path.write_text(json.dumps({"version": 1, "repos": [{"repo": MODEL, "results": [result]}]}))
        (told,) = check_spec(Spec.load(path), Sources(hub))
        assert told.state in ("found", "several")
        return [one.code for one in told.questions if one.code != "authors"]

    return asks


AA = "From Artificial Analysis."
MARKS = [
    rows("62.7 †", note=f"† {AA}"),
    rows("62.7% †", note=f"† {AA}"),
    rows("62.7 <sup>†</sup>", note=f"<sup>†</sup> {AA}"),
    rows("62.7 (†)", note=f"(†): {AA}"),
    rows("62.7 \\*", note=f"\\* {AA}"),
    rows("62.7 (±0.3)†", note=f"† {AA}"),
    rows("62.7 ± 0.4†", note=f"†: {AA}"),
    rows("62.7±0.3<sup>†</sup>", note=f"<sup>†</sup>{AA}"),
    rows("62.7 [61.0, 64.4]†", note=f"† {AA}"),
    rows("62.7 (+1.2)\\*", note=f"\\*{AA}"),
    rows("62.7$^{\\dagger}$", note=f"$^{{\\dagger}}$ {AA}"),
    rows("62.7$^\\dagger$", note=f"$\\dagger$: {AA}"),
    rows("$62.7_{\\pm 0.3}^{\\ddagger}$", note=f"$^\\ddagger$ {AA}"),
    rows("$\\mathbf{62.7}^\\dagger$", note=f"† {AA}"),
    rows("62.7\\textsuperscript{a}", note=f"\\textsuperscript{{a}} {AA}"),
    rows("62.7<br>†", note=f"† {AA}"),
    rows("62.7[^1]", note=f"[^1]: {AA}"),
    rows("62.7[^aa]", note="[^aa]: https://artificialanalysis.ai"),
    rows("62.7", column="Logic-1k[^1]", note=f"[^1]: {AA}"),
    rows("62.7", row="Nova 7B[^a]", note=f"[^a]: {AA}"),
    rows("62.7ᵃ", note=f"ᵃ {AA}"),
    rows("62.7★", note=f"★ {AA}"),
    rows("62.7 ※", note=f"※ {AA}"),
    rows("62.7‖", note=f"‖ {AA}"),
    rows("62.7 [1]", note=f"[1] {AA}"),
    rows("62.7<sup>[2]</sup>", note=f"<sup>[2]</sup> {AA}"),
    rows("**62.7**†‡", note=f"† our own run. ‡ {AA}"),
    rows("62.7<sup>†,2</sup>", note=f"<sup>2</sup> {AA}"),
    rows("†62.7", note=f"† {AA}"),
    rows("62.7†", note="Scores marked with † are taken from Artificial Analysis."),
    rows("62.7§", note="Results marked with § come from the authors of the benchmark."),
    rows("62.7\\*", note="An asterisk denotes numbers from Artificial Analysis."),
    rows("62.7^", note=f"^ {AA}"),
    rows("62.7 ^", note=f"^: {AA}"),
    rows("62.7% \\^", note=f"\\^ {AA}"),
    rows("**62.7**^^", note=f"^^ {AA}"),
    rows("62.7 ± 0.4^", note="^Taken from Artificial Analysis."),
    rows("62.7 (^)", note=f"(^): {AA}"),
    rows("62.7<sup>^</sup>", note=f"<sup>^</sup> {AA}"),
    rows("62.7^", note=f"† our own run. ^ {AA}"),
    rows("62.7^", note="Results with a caret come from the authors of the benchmark."),
    rows("62.7^", note="Results marked with ^ come from the authors of the benchmark."),
    rows("62.7", column="Logic-1k^", note=f"^ {AA}"),
    rows("62.7", row="Nova 7B^", note=f"^ {AA}"),
    rows("62.7‡", note="† denotes our run; ‡ denotes Artificial Analysis."),
    f"{HEAD}On Logic-1k it scores 62.7%.[^1]\n\n[^1]: {AA}\n",
    f"{HEAD}Nova 7B reaches 62.7% on Logic-1k.<sup>1</sup>\n\n<sup>1</sup> {AA}\n",
    f"{HEAD}Nova 7B reaches 62.7%^ on Logic-1k.\n\n^ {AA}\n",
    f"{HEAD}Nova 7B reaches 62.7%¹, ahead of its peers on Logic-1k.\n\n¹ {AA}\n",
    paper(f"62.7{footnote('1', AA)}"),
    paper(head=f"Logic-1k{footnote('2', AA)}"),
    paper("62.7", caption=f"Main results.{footnote('3', AA)}"),
    paper("<math><msup><mn>62.7</mn><mo>†</mo></msup></math>", note=f"<p>† {AA}</p>"),
    paper("<math><msup><mn>62.7</mn><mn>1</mn></msup></math>", note=f"<p><sup>1</sup> {AA}</p>"),
    paper('62.7<sup class="ltx_sup"><span class="ltx_text ltx_font_italic">†</span></sup>', note=f"<p>† {AA}</p>"),
    paper("62.7^", note=f"<p>^ {AA}</p>"),
    paper(caption="Main results^", note=f"<p>^ {AA}</p>"),
    paper("62.7 <sup>\u2217</sup>", caption=f"Main results. \u2217 {AA}"),
]


@pytest.mark.parametrize("text", MARKS)
def test_marks_are_read_however_they_are_written(asks, text):
    told = asks(text)
    assert "third-party" in told


@pytest.mark.parametrize(
    ("cell", "codes"),
    [
        ("62.7 ± 0.4 †", ["third-party", "mark"]),
        ("62.7 ◆", ["mark"]),
        ("62.7[^x]", ["mark"]),
        ("62.7 (a)", ["mark"]),
        ("62.7^", ["mark"]),
    ],
)
def test_a_mark_without_a_note_is_asked_about(asks, cell, codes):
    assert asks(rows(cell)) == codes


ASKED = {
    "third-party": [
        sentence("The number was measured by the benchmark's authors."),
        sentence("Source: Artificial Analysis."),
        sentence("Results provided by an outside lab."),
        sentence("The score is the one listed on the public leaderboard."),
        sentence("Numbers via the official Logic-1k leaderboard."),
        sentence("As per the Logic-1k report, it leads its class."),
        sentence("Scores for Nova come from the Logic-1k paper."),
        sentence("According to the benchmark authors, no peer is better."),
        sentence("The score is credited to an independent evaluator."),
        sentence("The figure was reproduced by another group."),
        rows(note="All baselines and our model were evaluated by the maintainers of the leaderboard."),
        paper(caption="Main results. Numbers in gray are quoted from the original papers."),
        paper(caption="Results as reported in the Logic-1k paper."),
        rows(column="Logic-1k (reported by AA)"),
        rows(note="Scores are taken from the respective technical reports."),
        elsewhere("All scores in the table are courtesy of an independent evaluator."),
        beside("Source: Artificial Analysis"),
        beside("Reproduced by a third party."),
        elsewhere("Results for all models were collected by an index."),
        rows(row="Nova 7B (reported)"),
        rows(column="Logic-1k (3rd party)"),
        rows(row="Nova 7B (3rd-party)"),
        rows(column="Logic-1k (AA)"),
        rows(column="Logic-1k (from paper)"),
        rows(column="Logic-1k (from the Peer report)"),
        rows(column="Logic-1k (from leaderboard)"),
        sentence("Results provided by Epoch."),
        beside("Scores were supplied by Epoch."),
    ],
    "tools": [
        rows(column="Logic-1k (w/ Python)"),
        rows(column="Logic-1k (w/ code)"),
        rows(column="Logic-1k (w/ search)"),
        rows(column="Logic-1k + tools"),
        rows(row="Nova 7B w/ tools"),
        rows(row="Nova 7B (with code interpreter)"),
        sentence("It uses a Python REPL."),
        sentence("The model has internet access."),
        sentence("We enable function calling."),
        sentence("The model may run code in a sandbox."),
        sentence("We use tool-integrated reasoning (TIR)."),
        sentence("With web browsing it is as good as its peers."),
        sentence("A calculator is available to the model."),
        elsewhere("In all evaluations the model was equipped with a Python sandbox."),
        elsewhere("For Logic-1k we allow the model to execute code."),
        paper(caption="Results with retrieval augmentation."),
        elsewhere("We evaluate our model with access to a terminal and a browser."),
        beside("Uses a Python REPL."),
        beside("The model has internet access."),
        rows(column="Logic-1k (Python)"),
        elsewhere("Tool use is enabled for all benchmarks."),
        sentence("Search was allowed."),
        rows("62.7‡", note="‡ With Python."),
        rows("62.7[^1]", note="[^1]: With Python."),
        rows("62.7ᵃ", note="ᵃ using code"),
    ],
    "inference": [
        rows(column="Logic-1k (maj@64)"),
        rows(column="Logic-1k (cons@32)"),
        rows(column="Logic-1k (best-of-8)"),
        rows(column="Logic-1k (pass@8)"),
        rows(column="Logic-1k (heavy)"),
        sentence("We zoom into regions of interest."),
        sentence("We take the best out of 5 runs."),
        sentence("Majority of 8."),
        sentence("We sample 64 answers and vote."),
        sentence("We use a sliding window of crops."),
        sentence("Answers are chosen by majority voting over 16 samples."),
        sentence("The best of N candidates is kept."),
        sentence("A critic model picks the final answer."),
        sentence("Candidates are reranked with an LLM judge."),
        sentence("We apply self-verification before answering."),
        sentence("We use a two-stage grounding pipeline with magnification."),
        elsewhere("Evaluation uses parallel thinking with 8 samples per question."),
        elsewhere("All results use test-time scaling with a verifier."),
    ],
    "subset": [
        sentence("We ran 88 tasks out of 89."),
        sentence("One task excluded."),
        sentence("We dropped 3 tasks that did not build."),
        sentence("Run on 500 of 1000 problems."),
        sentence("We evaluate a random sample of 200 questions."),
        sentence("Two tasks were skipped because of missing images."),
        sentence("Only the English part was evaluated."),
        sentence("We used half of the tasks."),
        rows("62.7 (55/88)", column="Logic-1k (88 tasks, 1 removed)"),
        rows(column="Logic-1k (text-only)"),
        rows(column="Logic-1k (subset)"),
        paper(caption="Results on Logic-1k-mini, a 100-question subset."),
        elsewhere("For cost reasons we evaluate on the first 100 problems."),
        beside("We dropped 3 tasks."),
        beside("88 tasks out of 89."),
        sentence("Evaluated on 30% of the test set."),
        sentence("We could not run five tasks."),
        sentence("It was evaluated on 900 of 1000 puzzles."),
        sentence("It was evaluated on 900 out of 1,000 Logic-1k puzzles."),
        sentence("That is 900 of the 1,000 Logic-1k puzzles."),
        sentence("12 of 1,000 puzzles could not be run."),
        sentence("12 puzzles could not be run."),
        sentence("Measured on 900/1000."),
        sentence("We report the mean over only 900 of 1,000."),
        sentence("Run on 300/500 GitHub issues."),
        sentence("It is the exact match on 900 of 1,000 puzzles."),
        sentence("It is pass@1 on the first 900 of 1,000 puzzles."),
        sentence("The solve rate on 900/1000."),
        sentence("Measured with 2 tasks missing."),
        sentence("Two of the puzzles are missing; missing 2 tasks."),
        elsewhere("For the evaluation we used 900 of 1,000 prompts."),
        rows(column="Logic-1k (900/1000 puzzles)"),
        sentence("Measured on 900 of 1,000 puzzles; it finishes 627 of 1,000 puzzles."),
        sentence("It reached 62.7 on 626/1000."),
        sentence("It was run on 44/89 puzzles."),
        sentence("Measured on 25/30."),
        sentence("Measured on 900 of 1,000 entries."),
        sentence("The rank correlation on 900 of 1,000 prompts."),
        sentence("Evaluated on 25 of 30 prompts."),
        sentence("It ranks first, measured on 900 of 1,000 puzzles."),
        sentence("With one task excluded, 627 of 1,000 tasks succeeded."),
        sentence("Tested on a held-out portion of the benchmark."),
        sentence("We report 24/64 puzzles."),
        sentence("It was run on 40/64 puzzles."),
        sentence("Evaluated on 10/20 prompts."),
        sentence("It was measured with 8/10 prompts."),
        sentence("We evaluate on 627 of the 1,000 tasks."),
        sentence("It was evaluated without tools on only 627 of 1,000 puzzles."),
        sentence("We ran 627 of 1,000 tasks."),
    ],
    "checkpoint": [
        elsewhere("Scores were obtained with an earlier checkpoint."),
        elsewhere("Reported results are from the SFT checkpoint."),
        elsewhere("The released weights differ from the evaluated ones."),
        elsewhere("Benchmarks were run on the BF16 version before quantization."),
        elsewhere("The numbers above are for the original unquantized model."),
        elsewhere("Results were obtained with an internal version of the model."),
    ],
    "unfinished": [
        elsewhere("The model is still in training."),
        elsewhere("The model is currently being trained."),
        elsewhere("Interim checkpoint; training continues."),
        elsewhere("Results are provisional."),
        elsewhere("Training is ongoing."),
        elsewhere("This is a work-in-progress."),
        elsewhere("Numbers are not yet finalised."),
        elsewhere("Scores may change."),
        elsewhere("Draft: numbers under review."),
        elsewhere("We will update the scores once the run has finished."),
        elsewhere("This is an intermediate checkpoint at 60% of training."),
        elsewhere("These are early results."),
        elsewhere("Final results pending."),
        elsewhere("Evaluation is still running."),
        elsewhere("Results are preliminary and subject to change."),
    ],
    "contamination": [
        elsewhere("We trained on Logic-1k train split."),
        elsewhere("Training set includes Logic-1k."),
        elsewhere("We found test questions in our training data."),
        elsewhere("Logic-1k items may appear in the pretraining corpus."),
        elsewhere("The benchmark was part of our RL data."),
        elsewhere("The SFT mix contains Logic-1k, Sums and others."),
        elsewhere("The SFT mix has the benchmarks' training splits in it."),
        elsewhere("We fine-tune on the Logic-1k training set."),
        elsewhere("Data contamination cannot be excluded."),
        elsewhere("Some evaluation examples leaked into the corpus."),
        elsewhere("There is a 2% overlap between the test set and our pre-training data."),
        elsewhere("The model may have seen Logic-1k during pre-training."),
        elsewhere("RL was done on Logic-1k prompts."),
    ],
}


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in ASKED.items() for text in texts])
def test_what_has_to_be_asked_is(asks, code, text):
    assert code in asks(text)


HARMLESS = [
    sentence("It leads all open models of its size."),
    sentence("It was measured by us with greedy decoding."),
    sentence("We report the average of 8 runs (avg@8)."),
    sentence("Pass@1, temperature 0.6, top-p 0.95."),
    sentence("No tools were used."),
    sentence("All 1,000 questions, one attempt each."),
    sentence("We ran all 89 of 89 tasks."),
    sentence("The standard error is 0.4."),
    sentence("It was evaluated on 1,000 of 1,000 puzzles."),
    sentence("It solves 627 of 1,000 puzzles."),
    sentence("Of these, 627 of 1,000 puzzles were solved."),
    sentence("It answers 627/1000 correctly."),
    sentence("We resolved 337 of 500 issues."),
    sentence("It is better than its peers on 900 of 1,000 puzzles."),
    sentence("It is 3 of 50 on the leaderboard."),
    sentence("We quantize the weights to 4/8 bits, evaluated with vLLM."),
    sentence("Evaluated on 8/16 CPUs, using 4/8 cores and 2/4 beams."),
    sentence("Evaluated on 8 of 16 CPUs, using 4 of 8 cores and 2 of 4 beams."),
    sentence("It is in the results (rank 2 of 31 entries), 2 of 31 submissions."),
    sentence("It ranks first in 7 of 9 columns."),
    sentence("It is best in 5 of 8 comparisons."),
    sentence("It places 3 of 40 teams, and ranks 3 of 40 agents."),
    sentence("We report the score over 3 of 5 repeats, on 3/4 occasions, with 16/32 bits."),
    sentence("The benchmark was public on 10/12, and on 10/12 all weights were out."),
    sentence("The evaluation needs 24 of 80 gigabytes."),
    sentence("Its accuracy is 62.7 (627/1000 answers)."),
    sentence("It reached 62.7 on 627/1000."),
    sentence("It finishes 627 of 1,000 puzzles."),
    sentence("Evaluated with our harness it finishes 627 of 1,000 puzzles."),
    sentence("Run on all of it, with 627 of 1,000 tasks solved."),
    sentence("On 3/4 we released the weights, with 8/16 puzzles."),
    sentence("It cracked 627 of 1,000 puzzles."),
    sentence("It completed 627 of 1,000 tasks."),
    sentence("Accuracy: 62.7% (627/1,000 questions)."),
    sentence("It leads on 7 of 9 benchmarks."),
    sentence("It outperforms its peers on 7 of 9."),
    sentence("It is better on 7 of the 9 reasoning benchmarks."),
    sentence("In evaluation 8 of 128 experts are active per token."),
    sentence("Evaluated on 4 of 8 GPUs, in 3 of 5 runs, with 2 of 4 nodes."),
    sentence("Results are from 3 of 5 seeds."),
    sentence("Evaluated on 12/2025, and updated on 01/12/2025."),
    sentence("The evaluation server is up 24/7."),
    sentence("A score of 627/1000 means 62.7."),
    sentence("The results are in Table 2 of 5."),
    sentence("It scores 4.5 of 5 stars, 8/10 points."),
    sentence("We use 5 of 32 layers for the metric, and 1/4 of the tokens."),
    sentence("It was evaluated in 12 of 20 languages."),
    sentence("The score of 2 of 3 judges counts."),
    sentence("Two questions with missing options are graded by hand."),
    sentence("Some items are missing punctuation marks in the evaluation, which is harmless."),
    sentence("The evaluation took 3 hours on 8 GPUs."),
    sentence("Our evaluation code is public."),
    sentence("We use the official prompts of the benchmark."),
    sentence("The official harness computes the score."),
    sentence("This is a gain of 4.1 points over its predecessor."),
    sentence("See Table 2 of the technical report for all results."),
    sentence("Zero-shot, chain of thought, 32k context."),
    sentence("Higher is better."),
    sentence("Bold marks the best result."),
    sentence("Evaluated without tools, search or code execution."),
    sentence("Thinking mode is on by default."),
    sentence("Scores are percentages."),
    sentence("It improves by 3.4 points with longer outputs."),
    sentence("The context is 128k tokens."),
    beside("It calls tools well, and answers in many languages."),
    beside("We thank everybody who filtered and labelled the data."),
    rows("62.7 ± 0.4"),
    rows("62.7<sub>±0.4</sub>"),
    rows("62.7<sup>+1.2</sup>"),
    rows("62.7 (+1.2)"),
    rows("62.7 [61.0, 64.4]"),
    rows("62.7 (627/1000)"),
    rows("**62.7**"),
    rows("<u>62.7</u>"),
    rows("$62.7_{\\pm 0.4}$"),
    rows("62.7^{+0.4}"),
    rows("$62.7^{+0.4}_{-0.3}$"),
    rows("$62.7^{\\circ}$"),
    rows("62.7 (10^3 samples)"),
    rows("62.7 (2^{10} tokens)"),
    rows("62.7 %"),
    rows("62.7 ↑"),
    rows("🥇 62.7"),
    rows(column="Logic-1k ↑"),
    rows(column="Logic-1k (%)"),
    rows(column="Logic-1k (pass@1)"),
    rows(column="Logic-1k (no tools)"),
    rows(column="Logic-1k (5-shot)"),
    rows(column="Logic-1k (avg@8)"),
    rows(column="Logic-1k (EM)"),
    rows(row="**Nova 7B (ours)**"),
    rows(row="[Nova 7B](https://huggingface.co/nova-ai/nova-7b)"),
    rows(row="Nova-7B (thinking)"),
    rows(note="† Peer 8B: from its own card. Numbers are percentages."),
    rows(note="^ Peer 8B: from its own card. It takes 10^4 steps of $2^{20}$ tokens."),
    rows(column="Logic-1k", note="[^1]: Peer 8B is described in its own paper."),
    paper("62.7", caption="Main results. Best numbers are in bold, second best are underlined."),
    paper("62.7", caption="Main results. † denotes baselines taken from their papers."),
    paper("<math><msub><mn>62.7</mn><mn>0.4</mn></msub></math>"),
    paper("62.7", head="Logic-1k [34]"),
    paper("62.7", head="F<sub>1</sub> on Logic-1k"),
    elsewhere("Nova 7B was trained on 2T tokens of web text, code and mathematics."),
    elsewhere("It is strong at tool calling, agents and web search."),
    elsewhere("Nova 7B is trained to use tools and to reason; on Logic-1k it is ahead."),
    elsewhere("The model supports function calling and structured outputs."),
    elsewhere("```python\nfrom transformers import pipeline\n```"),
    elsewhere("The training data were filtered and deduplicated."),
    elsewhere("We release the base and the instruct model under Apache 2.0."),
    elsewhere("Outputs may be wrong; please verify facts with external sources."),
    elsewhere("Users should run an independent safety review before deployment."),
    elsewhere("Training used 64 GPUs for three weeks, with a final learning rate of 1e-5."),
    elsewhere("We thank the open-source community, and the original authors of the tokenizer."),
    elsewhere("Images are resized and cropped to 448 x 448 before encoding."),
    elsewhere("Future versions will be released later this year."),
    elsewhere("Use vLLM 0.9 or later; the search for the best settings is described in our documentation."),
    elsewhere("If you find our work helpful, please cite the paper."),
    elsewhere("The reward model for RL is not released."),
    elsewhere("The model does not memorise your data; prompts are removed after 30 days."),
    elsewhere("We evaluate on Logic-1k, Sums and CLIQuest."),
    elsewhere("We did not train on Logic-1k."),
    elsewhere("We train on 2T tokens and evaluate on Logic-1k."),
    elsewhere("After RL training on mathematics, Logic-1k rises too."),
    elsewhere("Accuracy and training data scale on the Logic-1k benchmark."),
    elsewhere("| Benchmark | Peer 8B |\n|---|---|\n| Logic-1k cons@64 | 70.1 |"),
    elsewhere("All metrics except those of Sums are the mean of four runs."),
    elsewhere("The `<image>` placeholder is replaced by the image. GGUF files are coming soon."),
    elsewhere("Load the checkpoint from the Hub. Intermediate checkpoints are released, too."),
    elsewhere("The draft model speeds up decoding. Check that the server is still running."),
    elsewhere("We overlap communication and computation in training."),
    elsewhere("Results of the base model are in its own card."),
    elsewhere("The benchmark has questions that were collected from exams."),
    elsewhere("An LLM judge grades the answers; accuracy was computed with the official script."),
    elsewhere("## References\n\n[1] A. Author. An independent evaluation of models with tools. 2025."),
    elsewhere("Only the language part of the network is fine-tuned."),
    elsewhere("The results are provided by running our script."),
    elsewhere("Quantized versions are in separate repositories."),
]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_harmless_raises_no_question(asks, text):
    assert asks(text) == []


LONGER = [
    "Logic-1k Hard",
    "Logic-1k-Hard",
    "Logic-1k (Vision)",
    "Logic-1kX",
    "Logic-1k II",
    "Logic-1k 2.0",
    "Logic-1k v2",
    "Logic-1k+",
    "Logic-1k (88 tasks)",
    "Logic-1k (n=88)",
    "Logic-1k (mini)",
    "Logic-1k (lite)",
    "Logic-1k (hard)",
    "Logic-1k (agentic)",
    "Logic-1k Verified (pass@1)",
    "Multi-Logic-1k",
    "Multilingual Logic-1k",
    "Logic-1k / Hard",
]


@pytest.mark.parametrize("header", LONGER)
def test_another_benchmark_whose_name_has_this_ones_is_asked_about(asks, header):
    assert "benchmark" in asks(rows(column=header))
    others = f"{HEAD}| | Nova 7B |\n|---|---|\n| Logic-1k | 61.25 |\n| {header} | 62.7 |\n"
    assert "benchmark" in asks(others)


@pytest.mark.parametrize(
    ("dataset", "task", "header"),
    [
        ("TIGER-Lab/MMLU-Pro", "mmlu_pro", "MMLU-ProX"),
        ("MMMU/MMMU_Pro", "mmmu_pro", "MMMU-Pro (Vision)"),
        ("SWE-bench/SWE-bench_Verified", "verified", "SWE-bench Verified Mini"),
        ("openai/gsm8k", "gsm8k", "GSM8K-Platinum"),
        ("cais/hle", "hle", "HLE-Verified"),
        ("MathArena/aime_2026", "aime_2026", "AIME 2026 II"),
        ("harborframework/terminal-bench-2.0", "default", "Terminal-Bench 2.0-Hard"),
        ("tiiuae/PBench", "pbench", "MCP-Bench"),
        ("SWE-bench/SWE-bench_Verified", "verified", "Multi-SWE-bench Verified"),
    ],
)
def test_other_benchmarks_that_there_are(asks, dataset, task, header):
    told = {"dataset": dataset, "task_id": task}
    assert asks(rows(column=header), **told) == ["benchmark"]
    assert asks(f"{HEAD}On {header}, Nova 7B scores 62.7%.\n", **told) == ["benchmark"]


@pytest.mark.parametrize(
    ("dataset", "task", "header"),
    [
        ("MMMU/MMMU_Pro", "mmmu_pro_vision", "MMMU-Pro (Vision)"),
        ("MMMU/MMMU_Pro", "mmmu_pro_vision", "MMMU_Pro Vision"),
        ("cais/hle", "hle", "HLE"),
        ("cais/hle", "hle", "HLE (Humanity's Last Exam)"),
        ("cais/hle", "hle", "Humanity\u2019s Last Exam (no tools)"),
        ("SWE-bench/SWE-bench_Verified", "verified", "SWE Bench Verified (Resolved)"),
        ("Idavidrein/gpqa", "diamond", "GPQA-Diamond (Pass@1)"),
        ("MathArena/aime_2026", "aime_2026", "AIME 2026 (Avg@32)"),
        ("MathArena/aime_2026", "aime_2026", "AIME'2026"),
    ],
)
def test_benchmarks_by_the_names_that_they_go_by(asks, dataset, task, header):
    told = {"dataset": dataset, "task_id": task}
    assert asks(rows(column=header), **told) == []
    assert asks(f"{HEAD}On {header}, Nova 7B scores 62.7%.\n", **told) == []


@pytest.mark.parametrize(
    "text",
    [
        "Nova 7B scores 61.2 on Logic-1k and 62.7 on Logic-1k Hard.",
        "On Logic-1k and Logic-1k-Hard, Nova 7B scores 61.2 and 62.7.",
        "Logic-1k (hard): 62.7",
        "Logic-1k [mini]: 62.7",
        "Logic-1k (v2): 62.7",
    ],
)
def test_the_benchmark_that_a_sentence_names_at_the_number(asks, text):
    assert asks(f"{HEAD}{text}\n") == ["benchmark"]


def test_the_row_of_another_benchmark_beside_this_ones(asks):
    told = f"{HEAD}Results on Logic-1k and Sums\n\n| | Nova 7B |\n|---|---|\n| Logic-1k | 61.25 |\n| Sums | 62.7 |\n"
    assert asks(told) == ["benchmark"]
    both = f"{HEAD}| | Nova 7B |\n|---|---|\n| Logic-1k | 61.25 |\n| Logic-1k (5-shot) | 62.7 |\n"
    assert asks(both) == ["benchmark"]


@pytest.mark.parametrize(
    "text",
    [
        sentence("Logic-1k has 1,000 questions."),
        "{head}Nova 7B's accuracy on the Logic-1k benchmark is 62.7%.\n",
        "{head}Nova 7B: Logic-1k 62.7, Sums 41.0.\n",
        "{head}- **Logic-1k**: 62.7\n- **Logic-1k Hard**: 40.1\n",
        "{head}Our Logic-1k score (62.7) leads.\n",
        "{head}## Logic-1k\n\nNova 7B scores 62.7%.\n",
        "{head}| | Logic-1k | Logic-1k Hard |\n|---|---|---|\n| Nova 7B | 62.7 | 40.1 |\n",
        "{head}| Task | Nova 7B |\n|---|---|\n| Logic-1k | 62.7 |\n| Logic-1k Hard | 40.1 |\n",
        "{head}| Task | Metric | Nova 7B |\n|---|---|---|\n| Logic-1k | exact match, 5-shot | 62.7 |\n",
        "{head}| | Nova 7B |\n|---|---|\n| **Reasoning** | |\n| Logic-1k | 62.7 |\n| Sums | 1 |\n",
        "{head}| | Nova 7B |\n|---|---|\n| **Logic-1k** | |\n| no tools | 62.7 |\n| Sums | 1 |\n",
        rows(column="Logic-1k (Lee et al., 2025)"),
        rows(column="Logic-1k [Lee et al. 2025b]"),
        rows(column="Accuracy on Logic-1k"),
        rows(column="Logic-1k test set (accuracy, %)"),
        rows(column="Logic-1k (avg of 5 runs)"),
        rows(column="Logic-1k (T=0.6, thinking)"),
        rows(column="logic_1k"),
        rows(column="Logic 1K<br>acc"),
        rows(column="Logic-1k (0-shot, CoT)"),
        rows(column="Logic-1k¹"),
        "{head}## Main Logic-1k Results\n\nNova 7B scores 62.7%.\n",
    ],
)
def test_the_benchmark_and_nothing_more(asks, text):
    assert asks(text.replace("{head}", HEAD)) == []


@pytest.mark.parametrize(
    "row",
    [
        "Nova-7B-Think",
        "Nova-7B-Zero",
        "Nova-7B-Exp",
        "Nova-7B-Vision",
        "Nova-7B-2507",
        "Nova 7B 2507",
        "Nova 7B Air",
        "Nova 7B 2.0",
        "Nova 2 7B",
        "SuperNova 7B",
        "Super-Nova-7B",
        "Nova-7BV",
    ],
)
def test_other_models_whose_name_has_this_ones_are_asked_about(asks, row):
    assert asks(rows(row=row)) == ["model"]


@pytest.mark.parametrize("name", ["Nova-7B-Think", "Nova-7B-2507", "Nova 7B 2507", "Nova 2 7B", "SuperNova 7B"])
def test_other_models_in_a_sentence(asks, name):
    assert asks(f"{HEAD}On Logic-1k, {name} scores 62.7%.\n") == ["model"]


@pytest.mark.parametrize(
    "text",
    [
        "Nova 7B 61 and Nova 7B Instruct 62.7 on Logic-1k.",
        "On Logic-1k, Nova 7B scores 61 and Nova 13B scores 62.7.",
        "On Logic-1k, Nova 7B and Nova 13B score 61 and 62.7.",
        "On Logic-1k we see 61 for Nova 7B and 62.7 for Nova 7B Instruct.",
        "Logic-1k is solved to 62.7% by Nova 7B Instruct, to 61% by Nova 7B.",
        "On Logic-1k we see 70.1 (Nova 7B) and 62.7 (Nova 13B).",
        "On Logic-1k we see 70.1% (Nova 7B) and 62.7% (Nova 13B, 5-shot).",
        "On Logic-1k, Nova 13B and Nova 7B reach 62.7 and 70.1.",
        "On Logic-1k, Nova 7B, Nova 13B and Nova 70B reach 50.1, 62.7 and 70.1.",
        "Nova 7B has 61 on Logic-1k, and we reach 62.7 with Nova 13B.",
        "The smaller version of Nova 13B has 62.7 on Logic-1k, and Nova 7B has 61.",
        "On Logic-1k, Nova 7B is better than Nova 13B (62.7).",
        "On Logic-1k, Nova 7B has more than Nova 13B's 62.7.",
        "Nova 7B is a smaller sibling of Nova 13B, which reaches 62.7 on Logic-1k.",
        "Nova 7B is small, but with Nova 13B we reach 62.7 on Logic-1k.",
        "Nova 7B is at 61 in what it shares with Nova 13B, at 62.7 on Logic-1k.",
    ],
)
def test_the_model_that_a_sentence_names_at_the_number(asks, text):
    assert asks(f"{HEAD}{text}\n") == ["model"]


@pytest.mark.parametrize(
    "text",
    [
        *(
            rows(row=row)
            for row in (
                "Nova-7B (ours)",
                "Nova 7B Ours",
                "Nova-7B-HF",
                "Nova 7B's score",
                "Nova 7B (5-shot)",
                "nova_7b",
            )
        ),
        rows(row="nova-ai/nova-7b"),
        rows(row="Nova 7B<sup>1</sup>"),
        f"{HEAD}| | Nova 7B |\n|---|---|\n| Logic-1k | 62.7 |\n",
        f"{HEAD}On Logic-1k, Nova 7B reaches 62.7, and Nova-7B-based agents follow.\n",
        f"{HEAD}Nova 7B 62.7 on Logic-1k.\n",
        f"{HEAD}On Logic-1k, Nova 7B scores 62.7 and Nova 7B Instruct 70.1.\n",
        f"{HEAD}On Logic-1k, Nova 7B Instruct scores 70.1 and Nova 7B 62.7.\n",
        f"{HEAD}On Logic-1k we see 70.1 for Nova 7B Instruct and 62.7 for Nova 7B.\n",
        f"{HEAD}On Logic-1k we see 62.7 for Nova 7B and 70.1 for Nova 7B Instruct.\n",
        f"{HEAD}Nova 7B, fine-tuned from Nova 7B Base, scores 62.7 on Logic-1k.\n",
        f"{HEAD}Unlike Nova 13B, Nova 7B scores 62.7 on Logic-1k, 3.1 more than Nova 7B Chat.\n",
        f"{HEAD}On Logic-1k, Nova 7B beats Nova 7B Instruct with 62.7.\n",
        f"{HEAD}On Logic-1k we see 70.1 (Nova 13B) and 62.7 (Nova 7B).\n",
        f"{HEAD}On Logic-1k, Nova 7B scores 62.7 (Nova 13B: 70.1).\n",
        f"{HEAD}Logic-1k, Nova 7B tuned from Nova 7B Base: 62.7.\n",
        f"{HEAD}On Logic-1k, Nova 7B scores 62.7 (Nova 13B has 70.1%).\n",
        f"{HEAD}Nova 7B improves on Nova 7B Base and reaches 62.7 on Logic-1k.\n",
        f"{HEAD}Nova 7B extends Nova 7B Base and reaches 62.7 on Logic-1k.\n",
        f"{HEAD}On Logic-1k, Nova 7B and Nova 13B reach 62.7 and 70.1.\n",
        f"{HEAD}We release Nova 7B and Nova 13B, which reach 62.7 and 70.1 on Logic-1k.\n",
        f"{HEAD}We release Nova 7B, Nova 13B, and Nova 70B, with 62.7, 70.1, and 80 on Logic-1k.\n",
        f"{HEAD}Nova 7B, a smaller sibling of Nova 13B, reaches 62.7 on Logic-1k.\n",
        f"{HEAD}Nova 7B is the successor to Nova 7B Preview and scores 62.7 on Logic-1k.\n",
        f"{HEAD}Nova 7B, trained with the same data as Nova 13B, gets 62.7 on Logic-1k.\n",
        f"{HEAD}Nova 7B shares its tokenizer with Nova 13B, and gets 62.7 on Logic-1k.\n",
        f"{HEAD}In 2026 Nova 7B has 62.7 on Logic-1k.\n",
    ],
)
def test_the_model_and_nothing_more(asks, text):
    assert asks(text) == []


def test_a_benchmark_whose_name_reads_like_that_of_a_model(asks):
    assert asks(table("Benchmark | Score", "Needle-10M | 62.7"), dataset="bench-org/needle-10m") == []
    lines = table("Model | Math", "Qwen2.5-Math-7B | 62.7", "Tuned | 60.0")
    assert "model" in asks(lines, dataset="bench-org/math")


def table(*lines: str) -> str:
    """A card with a table that never spells the model's name."""
    return f"{HEAD}" + "".join(
        f"| {line} |\n{'|---' * (line.count('|') + 1) + '|' + chr(10) if not n else ''}" for n, line in enumerate(lines)
    )


OTHERS = [
    table("Benchmark | Ours | GPT-5 | Qwen3-8B", "Logic-1k | 60.1 | 62.7 | 50"),
    table("Benchmark | This model | Best peer", "Logic-1k | 60.1 | 62.7"),
    table("Benchmark | Our model | Peer", "Logic-1k | 60.1 | 62.7"),
    table("Model | Logic-1k", "GPT-5 | 62.7", "Ours | 60.0"),
    table("Model | Logic-1k", "Base | 62.7", "+ RL (this repo) | 64.0"),
    table("Kind | Model | Logic-1k", "closed | Peer | 62.7", "open | ours | 60.0"),
    table("Model | Logic-1k", "**Baselines** |", "Peer | 62.7", "**Ours** |", "RL | 60.0"),
    table("Benchmark | Reported | Measured", "Logic-1k | 62.7 | 60.1 (ours)", "Sums (ours) | 1 | 2"),
    *(
        table("Model | Logic-1k", f"{one} | 62.7", "Tuned | 60.0")
        for one in (
            "GPT-5",
            "GPT-5 (high)",
            "o3",
            "gpt-oss-120b",
            "Claude Opus 4.5",
            "Gemini 2.5 Pro",
            "Llama-3.1-70B-Instruct",
            "**Qwen3-235B-A22B-Thinking-2507**",
            "DeepSeek-R1-Distill-Qwen-7B",
            "deepseek-ai/DeepSeek-V3.2-Exp",
            "OpenAI o4-mini",
            "Kimi K2",
            "Peer-8B",
            "peer-lab/peer-8b-chat",
            "Qwen3-8B [12]",
        )
    ),
    table("Benchmark | Score | GPT-5", "Logic-1k | 60.1 | 62.7"),
    table("Benchmark | Base | GPT-5", "Logic-1k | 60.1 | 62.7"),
    table("Model | Logic-1k", "Peer-135M | 62.7", "Tuned | 60.0"),
    table("Benchmark | Our work | Peer", "Logic-1k | 60.1 | 62.7"),
    *(
        f"{HEAD}{one}\n"
        for one in (
            "For comparison, Llama-3.1-70B reaches 62.7 on Logic-1k.",
            "On Logic-1k, GPT-5 scores 62.7.",
            "On Logic-1k, Gemini 2.5 Pro still gets 62.7%.",
            "Logic-1k: less than the 62.7 of GPT-5.",
            "It is close to GPT-5 (62.7) on Logic-1k.",
            "On Logic-1k it is ahead of Qwen3-8B's 62.7.",
            "Logic-1k: 62.7 for Claude Opus 4.5.",
            "Logic-1k, GPT-5: 62.7",
            "Peer-8B-Chat achieves an accuracy of 62.7 on Logic-1k.",
            "Existing models are weak: the leading GPT-5 scores 62.7 on Logic-1k.",
            "Logic-1k: outperforming Peer-8B, the large Peer-80B scores 62.7.",
        )
    ),
]


@pytest.mark.parametrize("text", OTHERS)
def test_the_number_of_another_model_on_the_own_card(asks, text):
    assert asks(text) == ["model"]


def test_the_number_of_another_model_under_a_caption_that_names_this_one(asks):
    lines = table("Model | Logic-1k", "GPT-5 | 62.7", "Tuned | 60.0")
    assert asks(lines.replace(HEAD, f"{HEAD}Results of Nova 7B and its peers:\n\n")) == ["model"]


@pytest.mark.parametrize(
    "text",
    [
        table("Benchmark | Score", "Logic-1k | 62.7", "Sums | 41.0"),
        table("Benchmark | Ours | GPT-5", "Logic-1k | 62.7 | 60.1"),
        table("Benchmark | GPT-5 | Ours", "Logic-1k | 62.7 | 62.7"),
        table("Benchmark | This model | Qwen3-8B", "Logic-1k | 62.7 | 60.1"),
        table("Model | Logic-1k", "GPT-5 | 70.1", "Ours | 62.7"),
        table("Model | Logic-1k", "Base | 60.0", "+ RL (this repo) | 62.7"),
        table("Model | Logic-1k", "Qwen3-8B | 50", "Qwen3-8B + RL (ours) | 62.7"),
        table("Model | Logic-1k", "**Baselines** |", "Peer | 50", "**Ours** |", "RL | 62.7"),
        table("Benchmark | Score | By", "Logic-1k | 62.7 | ours", "Sums | 50 | their paper"),
        table("Benchmark | Score | Ours vs. GPT-5", "Logic-1k | 62.7 | +2.1"),
        table("Benchmark | Judge | Score", "Logic-1k | GPT-4o | 62.7"),
        table("Base model | Logic-1k", "Qwen3-8B | 62.7"),
        table("Base | Logic-1k", "Qwen3-8B | 62.7"),
        table("Benchmark | Score", "Logic-1k | 62.7", "Ours-Bench | 41.0"),
        table("Benchmark | Score | Run in our work", "Logic-1k | 62.7 | yes"),
        *(
            table("Benchmark | Logic-1k", f"{one} | 62.7")
            for one in ("LongBench-1M", "MRCR-1m", "NIAH-1M", "Graphwalks-1M")
        ),
        table("Benchmark | Score (GPT-4o judge)", "Logic-1k | 62.7"),
        table("Setting | Logic-1k", "Claude Code | 62.7"),
        table("Tokens | Logic-1k", "100B | 62.7", "After 100B | 50"),
        table("Model | Logic-1k", "7B | 62.7", "GPT-5 | 70.1"),
        table("Model | Logic-1k", "Nova | 62.7", "Llama-3.1-70B | 70.1"),
        table("Metric | Value", "Logic-1k acc | 62.7", "our harness | v2"),
        *(
            f"{HEAD}{one}\n"
            for one in (
                "We fine-tuned Llama-3.1-8B and reach 62.7 on Logic-1k.",
                "Built on Qwen3-8B, it scores 62.7 on Logic-1k.",
                "The model fine-tuned from Qwen3-8B scores 62.7 on Logic-1k.",
                "It improves over Qwen3-8B by far and has 62.7 on Logic-1k.",
                "It outperforms GPT-5 with 62.7 on Logic-1k.",
                "Logic-1k: 62.7, ahead of GPT-5.",
                "Logic-1k: 62.7 (GPT-4o as the judge).",
                "Logic-1k (graded by GPT-4o): 62.7",
                "Logic-1k, with answers checked by GPT-4o: 62.7",
                "On Logic-1k GPT-5 scores 70.1 while our model has 62.7.",
                "On Logic-1k GPT-5 scores 70, ours 62.7.",
                "On Logic-1k it rises from Qwen3-8B's 55 to 62.7.",
                "Compared to GPT-5 (70.1), it has 62.7 on Logic-1k.",
                "With Llama-3.1-70B as its teacher it reaches 62.7 on Logic-1k.",
                "Logic-1k accuracy rises from 55 to 62.7.",
                "Like Qwen3-8B it reaches 62.7 on Logic-1k.",
                "Logic-1k, judge GPT-4o: 62.7",
                "Logic-1k, with the judge GPT-4o (62.7)",
                "Training Llama-3.1-8B achieves 62.7 on Logic-1k.",
                "On Logic-1k, distilling DeepSeek-R1 gets 62.7.",
                "Scaling Qwen3-8B achieves 62.7 on Logic-1k.",
            )
        ),
    ],
)
def test_the_own_number_on_a_card_that_does_not_spell_the_name(asks, text):
    assert asks(text) == []
