"""Rows of A7 on hearing, turns, interruptions, speech, devices and files: which test stands for which."""

from __future__ import annotations

_HEARING = "audio/test_hearing_faults.py"
_VAD = "audio/test_vad.py"
_EDGE = "audio/test_edge.py"
_LINE = "audio/test_sound_line.py"
_BARGE = "voice_agent/test_barge_in.py"
_AHEAD = "voice_agent/test_ahead.py"
_STEP = "voice_agent/test_step.py"
_SESSION = "voice_agent/test_session.py"
_TURNS = "voice_agent/test_field_turns.py"

CALL_ROWS: dict[str, tuple[str, ...]] = {
    "A7 1 subscribe lines out of silence": (f"{_HEARING}::test_subscribe_lines_are_no_turn",),
    "A7 2 silence submitted": (f"{_HEARING}::test_silence_never_reaches_the_model",),
    "A7 3 hot words out of silence": (f"{_HEARING}::test_hot_words_out_of_noise_are_dropped",),
    "A7 4 loops": (f"{_HEARING}::test_a_sure_loop_is_still_a_loop",),
    "A7 5 near silence passes the detector": (f"{_HEARING}::test_a_murmur_of_the_line_is_too_quiet",),
    "A7 6 scripts alternate": (
        f"{_HEARING}::test_one_script_leaves_the_recogniser",
        "audio/test_stabilise.py::test_scripts_are_one",
    ),
    "A7 7 no punctuation, too much text": (
        f"{_HEARING}::test_no_more_is_written_than_can_be_said",
        "voice_agent/test_turn_end.py::test_punctuation_decides_nothing",
    ),
    "A7 17 the wrong phonemes": (
        "audio/test_g2p.py::test_kokoro_knows_every_phoneme",
        "audio/test_tts.py::test_spoken_words_are_heard",
    ),
    "A7 18 answers itself": (
        "voice_agent/test_echo.py::test_a_bot_that_hears_itself_does_not_answer_itself",
        "voice_agent/test_echo.py::test_half_duplex_hears_nothing_of_itself",
    ),
    "A7 19 background speech stops it": (
        f"{_BARGE}::test_nothing_is_too_short_for_words",
        f"{_BARGE}::test_a_noisy_room_does_not_chop_up_an_answer",
    ),
    "A7 20 a cough loses the turn": (
        f"{_AHEAD}::test_a_cough_after_a_wasted_speculation_loses_no_turn",
        f"{_BARGE}::test_a_cough_before_the_answer_never_loses_it",
    ),
    "A7 21 no resume after a murmur": (
        f"{_SESSION}::test_a_murmur_resumes_where_it_stopped",
        "audio/test_playback.py::test_a_pause_keeps_the_place",
    ),
    "A7 22 two triggers, one threshold": (f"{_TURNS}::test_no_second_way_cuts_the_agent",),
    "A7 23 an empty transcript interrupts": (f"{_STEP}::test_a_backchannel_resumes_the_same_reply",),
    "A7 24 sound of the last turn": (
        f"{_STEP}::test_stale_results_are_counted_and_change_nothing_else",
        f"{_BARGE}::test_after_the_cut_not_one_sample_of_the_old_answer",
    ),
    "A7 25 sounds on after the stop": (
        f"{_BARGE}::test_ducked_within_200_ms_and_silent_within_350",
        f"{_BARGE}::test_after_the_cut_not_one_sample_of_the_old_answer",
    ),
    "A7 26 stalls until the caller speaks": (
        f"{_STEP}::test_a_reply_that_never_sounds_is_a_fault",
        f"{_BARGE}::test_nobody_is_paused_for_ever",
        "voice_agent/test_live.py::test_a_stalled_loudspeaker_holds_the_speech",
    ),
    "A7 27 history is not what was heard": (
        f"{_BARGE}::test_a_cut_answer_is_remembered_as_what_was_heard",
        f"{_SESSION}::test_words_over_the_agent_cut_it",
    ),
    "A7 28 roles out of order": (f"{_TURNS}::test_history_stays_in_the_order_it_was_said",),
    "A7 29 speculation races": (
        f"{_AHEAD}::test_a_speculation_is_used_and_its_answer_is_the_same",
        f"{_AHEAD}::test_a_wasted_speculation_leaves_nothing_but_its_count",
    ),
    "A7 30 stuck after interruptions": (
        f"{_BARGE}::test_fifty_barge_ins_in_a_row_leave_no_old_sound_no_stuck_state_and_no_task",
    ),
    "A7 35 the voice service says 403": (
        f"{_EDGE}::test_403_is_asked_again_once_with_the_clock_put_right",
        "voice_agent/test_voicing.py::test_a_call_goes_on_whatever_the_service_does",
    ),
    "A7 36 no sound for valid text": (
        f"{_EDGE}::test_no_audio_for_valid_text",
        f"{_EDGE}::test_punctuation_only_is_never_sent",
    ),
    "A7 37 frames of other lengths and rates": (
        "audio/test_framing.py::test_the_detector_takes_every_frame_of_every_device",
    ),
    "A7 38 the detector is missing": (f"{_VAD}::test_a_missing_detector_is_fatal",),
    "A7 39 the detector's faults are swallowed": (
        f"{_VAD}::test_a_failure_of_the_library_is_not_silence",
        "audio/test_silero.py::test_a_failure_of_the_graph_is_not_silence",
    ),
    "A7 40 devices": (
        "audio/test_devices.py::test_no_device_is_one_line_that_says_what_there_is",
        f"{_LINE}::test_a_refused_rate_is_not_the_end",
        f"{_LINE}::test_a_lost_microphone_is_said_and_found_again",
        "audio/test_microphone.py::test_what_the_system_lost_is_counted",
        "audio/test_microphone.py::test_the_callback_only_moves_bytes",
        "voice_agent/test_talk.py::test_devices_are_listed",
    ),
    "A7 41 formats of WAV": (
        "audio/test_riff.py::test_every_format_is_known_plain_and_extensible",
        "audio/test_riff.py::test_anything_else_is_one_clear_line",
        "audio/test_wav.py::test_a_stereo_file_is_mixed_or_split",
    ),
    "A7 42 a chunk of another shape": (
        "audio/test_framing.py::test_broken_blocks_are_refused",
        f"{_VAD}::test_a_frame_of_another_shape_is_an_error",
    ),
    "A7 43 checked speech is dropped": (
        "audio/test_speaker.py::test_a_stalled_device_is_full_and_loses_nothing",
    ),
    "A7 44 a queue without a bound": (
        "audio/test_microphone.py::test_a_late_reader_loses_counted_sound_and_no_time",
    ),
    "A7 45 memory grows": (
        "voice_agent/test_long_call.py::test_two_hundred_turns_over_scripted_models",
        "audio/test_wav.py::test_a_streamed_file_is_the_file_written_whole",
    ),
    "A7 46 what was said in logs": (
        "voice_agent/test_privacy_on_disk.py::test_nothing_personal_is_on_the_disk",
        "voice_agent/test_telemetry.py::test_no_word_that_was_spoken_leaves",
    ),
    "A7 47 the end of a file is lost": (f"{_AHEAD}::test_a_recording_that_ends_in_speech_is_still_answered",),
}
