"""Which test stands for which fault found in the field: of calls, sentences, marks, thinking, context and citations.

The rows are numbered as in the survey this project began with: A2 (how other systems cut sentences), A7 and B8 (faults
that users reported), B4 (how a sentence is to be checked), B9 (traps of Chinese). Each test named here exists.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.field_rows_of_calls import CALL_ROWS

TESTS = Path(__file__).resolve().parent

_FIELD = "voice_agent/test_field_sentences.py"
_CUT = "voice_agent/test_sentences.py"
_DRILL = "voice_agent/test_fault_drill.py"
_SERVERS = "voice_agent/test_llm_servers.py"
_PROMPT = "voice_agent/test_prompt.py"
_ANSWER = "voice_agent/test_answering.py"
_SPOKEN = "voice_agent/test_spoken.py"
_COUNTS = "voice_agent/test_sentence_counts.py"
_TRAPS = "retrieval/test_guard_traps.py"
_CHECK = "retrieval/test_citations.py"
_MARKS = "retrieval/test_marks.py"
_FACTS = "retrieval/test_facts.py"
_DENIAL = "retrieval/test_polarity.py"
_MUTANTS = "retrieval/test_guard_mutations.py"

ROWS: dict[str, tuple[str, ...]] = {
    **CALL_ROWS,
    "A2 pipecat, livekit, RealtimeTTS, xiaozhi, Open-LLM-VTuber": (
        f"{_FIELD}::test_where_other_splitters_cut_wrongly",
    ),
    "A2 ends, closers, marks, stems": (f"{_CUT}::test_where_sentences_end",),
    "A2 a mark split over pieces, bounded hold": (
        f"{_CUT}::test_a_sentence_is_held_until_its_marks_are_known",
        f"{_CUT}::test_nothing_is_lost_or_doubled",
    ),
    "A2 160 characters without an end": (f"{_CUT}::test_text_without_an_end_is_handed_over_at_the_limit",),
    "A2 a tail cut by length": (
        f"{_CUT}::test_a_stream_that_is_cut_leaves_only_whole_sentences",
        f"{_DRILL}::test_stopped_by_length",
    ),
    "A2 buffer, any text": (f"{_FIELD}::test_any_text_at_all_is_cut_without_loss",),
    "A7 8 Chinese held to the end": (f"{_FIELD}::test_a_chinese_answer_is_not_held_to_its_end",),
    "A7 9 closers left behind": (f"{_FIELD}::test_closers_go_with_their_sentence",),
    "A7 10 a figure at the end": (f"{_FIELD}::test_a_sentence_may_end_in_a_figure",),
    "A7 11 cut in a word or figure": (
        f"{_FIELD}::test_a_long_sentence_is_refused_and_never_cut_in_a_figure",
    ),
    "A7 12 marks spoken": (
        f"{_SPOKEN}::test_no_citation_mark_is_ever_said",
        f"{_COUNTS}::test_marks_are_kept_in_the_journal_and_never_spoken",
    ),
    "A7 13 markdown spoken": (f"{_SPOKEN}::test_no_markup_is_ever_said",),
    "A7 14 thinking spoken": (
        "voice_agent/test_think.py::test_what_is_left",
        "voice_agent/test_think.py::test_the_cut_does_not_matter",
        "voice_agent/test_think.py::test_nothing_between_the_tags_comes_out",
        f"{_DRILL}::test_thinking_never_closed",
        f"{_DRILL}::test_thinking_in_its_own_field_is_not_spoken",
        f"{_ANSWER}::test_thinking_without_its_opening_tag_is_taken_back",
    ),
    "A7 15 numbers misread": (
        f"{_SPOKEN}::test_a_number_is_read_by_what_it_names",
        "voice_agent/test_spoken_values.py::test_every_sentence_of_the_knowledge_base",
    ),
    "A7 16 Latin dropped": ("audio/test_spelling.py::test_nothing_is_left_that_a_chinese_voice_drops",),
    "A7 31 404 is not down": (f"{_DRILL}::test_a_model_not_pulled_is_not_a_server_down",),
    "A7 32 context": (
        f"{_SERVERS}::test_ollama_is_asked_with_its_context_and_without_thinking",
        f"{_PROMPT}::test_whole_passages_that_fit",
        f"{_DRILL}::test_a_prompt_the_server_had_to_cut",
        f"{_DRILL}::test_evidence_over_the_context_is_never_sent",
    ),
    "A7 33 the server goes on computing": (
        f"{_DRILL}::test_a_stall",
        f"{_ANSWER}::test_a_caller_who_leaves_closes_the_stream",
    ),
    "A7 34 cold start": (f"{_SERVERS}::test_warming_asks_one_token_with_the_real_rules",),
    "B4 order, closed on a fault": (
        f"{_CHECK}::test_each_fault_has_its_reason",
        f"{_MUTANTS}::test_the_order_of_the_checks_lets_nothing_through",
        f"{_MUTANTS}::test_a_check_that_breaks_blocks",
    ),
    "B4 typed values": (
        f"{_FACTS}::test_values_are_typed",
        f"{_FACTS}::test_equal_values_are_equal",
        f"{_FACTS}::test_values_that_differ_stay_different",
        f"{_FACTS}::test_any_text_at_all_is_read",
    ),
    "B4 negation": (
        f"{_DENIAL}::test_these_deny",
        f"{_DENIAL}::test_these_do_not",
        f"{_TRAPS}::test_negation",
    ),
    "B4 conditions": (
        f"{_TRAPS}::test_conditions",
        f"{_ANSWER}::test_a_condition_that_follows_is_waited_for",
    ),
    "B4 claims split, subject inherited": (
        f"{_TRAPS}::test_the_subject_comes_from_the_sentence_before",
        "retrieval/test_support.py::test_a_clause_that_was_added_is_found",
    ),
    "B4 what is no fact": (
        f"{_CHECK}::test_courtesies_need_no_mark",
        f"{_CHECK}::test_a_fact_behind_a_courtesy_needs_its_mark",
    ),
    "B4 the fence of the prompt": (
        f"{_PROMPT}::test_data_cannot_leave_its_fence",
        "voice_agent/test_injection.py::test_orders_reach_the_model_only_as_data",
    ),
    "B8 15 NaN": (
        f"{_FIELD}::test_a_model_that_measures_nothing_blocks",
        f"{_CHECK}::test_relevance_fails_closed",
    ),
    "B8 23 no evidence, no model": (f"{_ANSWER}::test_no_evidence_no_model",),
    "B8 26, 27 citations by place": (f"{_FIELD}::test_a_citation_stays_with_its_sentence",),
    "B8 28 ids in prose": (f"{_FIELD}::test_ids_in_prose_are_never_heard",),
    "B8 29 right answer, wrong citation": (
        f"{_FIELD}::test_a_right_answer_with_a_wrong_citation",
        f"{_TRAPS}::test_the_cited_passage_must_be_the_one_that_says_it",
    ),
    "B8 30 stale": (f"{_CHECK}::test_each_fault_has_its_reason",),
    "B8 31, 56 sources of a refusal": (f"{_FIELD}::test_a_refusal_lists_no_sources",),
    "B8 33, 34, 35 forms of marks": (
        f"{_MARKS}::test_every_form_is_read",
        f"{_MARKS}::test_what_is_not_understood_is_reported_and_left",
        f"{_MARKS}::test_ordinary_text_is_no_mark",
        f"{_MARKS}::test_any_text_at_all_is_parsed",
    ),
    "B8 36, 37 ids that are not": (f"{_ANSWER}::test_a_wrong_mark_is_not_a_missing_one",),
    "B8 38 a guard that never runs": (
        f"{_COUNTS}::test_the_counters_tell_what_became_of_every_sentence",
        f"{_COUNTS}::test_more_sentences_than_were_checked_are_refused",
        f"{_COUNTS}::test_the_session_silences_what_never_was_released",
    ),
    "B8 39 a guard that never blocks": (f"{_MUTANTS}::test_no_check_can_be_switched_off_unnoticed",),
    "B8 40 blanks between pieces": (f"{_DRILL}::test_characters_split_over_chunks_are_whole",),
    "B8 41 right answers blocked": (f"{_CHECK}::test_every_sentence_of_the_demo_passes_for_its_own_passage",),
    "B8 42 a buffer in common": (f"{_FIELD}::test_answers_do_not_share_their_stream",),
    "B8 43 sentences that vanish": (f"{_FIELD}::test_sentences_of_every_language_are_kept",),
    "B8 46 markup in a claim": (f"{_FIELD}::test_markup_hides_no_figure",),
    "B8 47, 48 figures of no passage": (f"{_FIELD}::test_a_figure_of_no_passage",),
    "B9 1 roles and antonyms": (f"{_TRAPS}::test_roles_and_antonyms",),
    "B9 2 zero subject": (f"{_TRAPS}::test_the_subject_comes_from_the_question",),
    "B9 3 bare answers": (
        f"{_TRAPS}::test_a_bare_answer_is_not_judged_by_the_passage_alone",
        f"{_TRAPS}::test_a_yes_must_fit_what_follows_it",
    ),
    "B9 4 modality": (f"{_TRAPS}::test_modality",),
    "B9 5 the condition in the next sentence": (f"{_TRAPS}::test_conditions",),
    "B9 6 到 and 了": (f"{_TRAPS}::test_changes",),
    "B9 7 inclusion": (f"{_TRAPS}::test_bounds",),
    "B9 8 rate and scope": (f"{_TRAPS}::test_rates",),
    "B9 9 numerals": (f"{_TRAPS}::test_numerals",),
    "B9 10 no numbers": (f"{_TRAPS}::test_words_that_only_look_like_numbers",),
    "B9 11 units": (f"{_TRAPS}::test_units",),
    "B9 12 不 that denies nothing": (f"{_TRAPS}::test_negation", f"{_DENIAL}::test_these_do_not"),
    "B9 13 marks": (f"{_MARKS}::test_every_form_is_read", f"{_CUT}::test_where_sentences_end"),
}


@cache
def names(path: str) -> frozenset[str]:
    """The functions of a test module."""
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("row", ROWS)
def test_each_row_has_its_test(row: str) -> None:
    """A test that was renamed or lost leaves no row without a test."""
    assert all(name in names(path) for path, name in (test.split("::") for test in ROWS[row]))


def test_every_fault_that_users_reported_is_there() -> None:
    """All 47 rows of A7, each once."""
    rows = sorted(int(row.split()[1]) for row in ROWS if row.startswith("A7 "))
    assert rows == list(range(1, 48))
