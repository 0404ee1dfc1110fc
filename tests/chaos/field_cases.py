"""What users of comparable tools suffered, by its id, and the tests that show that it does not happen here.

A test is `path::name` below `tests/`; its docstring or name tells more.
"""

CASES: dict[str, tuple[str, ...]] = {
    # Clocks and time-outs
    "TIM-1": (
        "referee/match/test_lag.py::test_a_bot_that_waits_for_a_processor_gets_that_time_back",
        "chaos/test_referee_troubles.py::test_an_event_loop_that_stands_still_costs_no_bot_anything",
    ),
    "TIM-2": ("chaos/test_referee_troubles.py::test_a_slow_disk_costs_no_bot_anything",),
    "TIM-3": (
        "referee/match/test_clock_kinds.py::test_a_clock",
        "referee/match/test_clocks.py::test_every_move_starts_with_a_full_limit",
        "referee/match/test_clocks.py::test_the_limit_acts_on_a_late_move_as_well_as_on_the_first",
    ),
    "TIM-4": (
        "referee/match/test_table.py::test_a_late_answer_never_reaches_the_next_match",
        "referee/match/test_fault_policies.py::test_a_late_answer_after_a_strike_is_dropped",
    ),
    "TIM-5": ("referee/match/test_table.py::test_a_faulty_bot_loses_this_match_only",),
    "TIM-9": ("referee/match/test_clocks.py::test_a_time_out_shows_limit_time_lag_and_processor_time",),
    "TIM-10": ("referee/match/test_faults.py::test_a_crash_wins_over_a_time_out",),
    "TIM-11": ("referee/match/test_fault_policies.py::test_a_strike_costs_the_choice_and_nothing_else",),
    "TIM-12": ("referee/match/test_clocks.py::test_bots_are_told_their_last_latency",),
    "TIM-14": ("bots/test_sdk_alone.py::test_where_no_referee_listens_it_gives_up_after_its_limit",),
    "TIM-15": (
        "referee/match/test_clock_kinds.py::test_getting_ready_has_a_limit_for_each_seat",
        "referee/tournament/test_config_clocks.py::test_a_bot_may_have_a_clock_of_its_own",
    ),
    "TIM-16": ("referee/match/test_clock_kinds.py::test_no_clock_runs_before_all_seats_are_ready",),
    "TIM-18": ("referee/wire/test_server.py::test_a_bot_may_ping_every_second",),
    "TIM-19": ("referee/wire/test_session.py::test_however_a_bot_leaves_it_is_noticed_at_once",),
    "TIM-20": ("referee/match/test_clock_kinds.py::test_a_bank_and_what_is_left_of_it_are_told",),
    "TIM-21": (
        "referee/match/test_ponder_and_cap.py::test_processor_time_off_turn_is_counted_apart",
        "referee/match/test_ponder_and_cap.py::test_a_bot_runs_only_while_it_is_asked",
    ),
    "TIM-22": ("referee/match/test_clock_kinds.py::test_each_seat_may_have_a_clock_of_its_own",),
    "TIM-23": ("referee/match/test_lag.py::test_a_bot_that_never_gets_a_processor_is_suspect_only",),
    "TIM-24": (
        "referee/match/test_faults.py::test_a_cancelled_match_tells_its_seats",
        "referee/match/test_ponder_and_cap.py::test_a_bot_runs_only_while_it_is_asked",
    ),
    # Start-up and connection
    "CON-1": ("referee/match/test_clock_kinds.py::test_no_clock_runs_before_all_seats_are_ready",),
    "CON-2": ("referee/match/test_lifecycle.py::test_bots_that_start_together_take_turns",),
    "CON-4": ("referee/match/test_table.py::test_a_match_that_cannot_start_is_void_and_says_why",),
    "CON-5": ("referee/match/test_table.py::test_a_match_that_cannot_start_is_void_and_says_why",),
    "CON-6": ("referee/match/test_ponder_and_cap.py::test_a_match_that_takes_too_long_is_adjudicated",),
    "CON-7": ("referee/match/test_table.py::test_a_match_that_cannot_start_is_void_and_says_why",),
    "CON-9": ("referee/match/test_clocks.py::test_a_seat_that_is_never_ready_makes_the_match_void",),
    "CON-10": ("referee/match/test_messages.py::test_match_start_says_all_that_is_fixed",),
    "CON-11": ("bots/test_sdk_alone.py::test_where_no_referee_listens_it_gives_up_after_its_limit",),
    "CON-13": ("bots/test_sdk.py::test_hooks_are_called_around_each_match",),
    "CON-15": ("referee/match/test_lifecycle.py::test_matches_side_by_side_do_not_mix",),
    # Processes: zombies, orphans, signals
    "PRC-1": (
        "referee/process/test_referee_death.py::test_no_descendant_outlives_the_referee",
        "end_to_end/test_run.py::test_a_reader_that_leaves_stops_nothing_and_leaves_nobody",
        "end_to_end/test_run.py::test_ctrl_c_stops_cleanly_and_says_how_to_go_on",
    ),
    "PRC-3": (
        "referee/process/test_sandbox.py::test_a_fork_bomb_meets_its_limit_and_the_next_bot_does_not_feel_it",
        "referee/process/test_descendants.py::test_a_fork_bomb_that_still_grows_is_cleaned_up",
    ),
    "PRC-4": (
        "referee/match/test_faults.py::test_a_fault_off_turn_frees_the_opponent_at_once",
        "referee/wire/test_session.py::test_however_a_bot_leaves_it_is_noticed_at_once",
    ),
    "PRC-5": (
        "referee/process/test_start_and_exit.py::test_sigterm_and_grace_let_a_bot_save",
        "referee/match/test_lifecycle.py::test_the_next_match_does_not_wait_for_a_dying_process",
    ),
    "PRC-7": (
        "referee/match/test_lifecycle.py::test_a_thousand_matches_in_a_row_leave_nothing_behind",
        "chaos/test_mixed_run.py::test_good_bots_play_the_same_beside_a_thousand_bad_ones",
    ),
    "PRC-8": (
        "end_to_end/test_run.py::test_a_second_runner_is_refused_and_the_first_is_not_disturbed",
        "end_to_end/test_side_by_side.py"
        "::test_a_run_whose_guardians_and_workers_are_killed_costs_the_one_beside_it_nothing",
        "referee/process/test_side_by_side.py::test_a_lost_guardian_ends_no_bot_of_another_run_whatever_its_token",
        "referee/process/test_cgroup.py::test_a_group_that_was_left_is_swept",
    ),
    "PRC-9": ("chaos/test_mixed_run.py::test_good_bots_play_the_same_beside_bad_ones_of_every_kind",),
    "PRC-10": ("chaos/test_phases.py::test_a_misdeed",),
    "PRC-11": ("referee/match/test_lifecycle.py::test_the_next_match_does_not_wait_for_a_dying_process",),
    "PRC-12": ("chaos/test_phases.py::test_a_misdeed",),
    "PRC-13": (
        "bots/test_sdk_alone.py::test_without_its_referee_it_exits_at_once",
        "bots/languages/test_session.py::test_it_exits_when_its_referee_is_killed",
    ),
    "PRC-16": (
        "referee/match/test_ponder_and_cap.py::test_processor_time_off_turn_is_counted_apart",
        "referee/match/test_ponder_and_cap.py::test_a_bot_runs_only_while_it_is_asked",
    ),
    # Output, messages, floods
    "OUT-1": ("referee/process/test_floods.py::test_a_flood_is_drained_with_head_tail_and_count_and_little_memory",),
    "OUT-3": (
        "referee/process/test_floods.py::test_a_flood_is_drained_with_head_tail_and_count_and_little_memory",
        "chaos/test_phases.py::test_stdout_at_full_speed_is_kept_head_and_tail_while_play_goes_on",
    ),
    "OUT-4": ("referee/process/test_names.py::test_a_name_that_could_mislead_is_refused_with_the_reason",),
    "OUT-5": ("referee/process/test_start_and_exit.py::test_the_last_words_are_there_when_the_exit_is_known",),
    "OUT-6": ("referee/process/test_start_and_exit.py::test_what_a_bot_sees",),
    "OUT-7": ("referee/match/test_table.py::test_a_crash_keeps_the_last_words_and_the_exit_code",),
    "OUT-11": ("referee/wire/test_session.py::test_however_a_bot_leaves_it_is_noticed_at_once",),
    # Crashes, illegal moves, broken bots
    "CRA-1": (
        "chaos/test_mixed_run.py::test_good_bots_play_the_same_beside_bad_ones_of_every_kind",
        "chaos/test_phases.py::test_a_misdeed",
    ),
    "CRA-2": (
        "referee/match/test_table.py::test_a_faulty_bot_loses_this_match_only",
        "referee/match/test_fault_policies.py::test_a_strike_costs_the_choice_and_nothing_else",
    ),
    "CRA-4": (
        "referee/match/test_table.py::test_a_faulty_bot_loses_this_match_only",
        "chaos/test_phases.py::test_a_misdeed",
    ),
    "CRA-5": ("referee/tournament/test_judging.py::test_the_last_attempt_is_played_alone_on_a_quiet_table",),
    "CRA-6": (
        "referee/match/test_platform_faults.py::test_rules_that_break_down",
        "chaos/test_referee_troubles.py::test_out_of_file_descriptors_is_a_platform_fault",
    ),
    "CRA-8": (
        "referee/tournament/test_judging.py::test_an_entry_that_faults_is_set_aside_and_what_it_has_played_stays",
    ),
    "CRA-9": ("referee/compliance/test_check_bot.py::test_misconduct_is_named_with_where_and_what_was_expected",),
    "CRA-10": ("referee/match/test_table.py::test_a_crash_keeps_the_last_words_and_the_exit_code",),
    "CRA-11": ("referee/match/test_fault_policies.py::test_the_default_action_of_a_game_is_legal_and_first",),
    "CRA-12": (
        "chaos/test_phases.py::test_seats_that_leave_one_after_another_rank_in_that_order",
        "referee/match/test_faults.py::test_seats_rank_in_order_of_leaving",
        "leaderboard/test_standings.py::test_faults_are_counted_apart_for_each_game_and_number_of_players",
    ),
    "CRA-14": ("referee/tournament/test_judging.py::test_when_an_entry_is_set_aside",),
    "CRA-15": ("referee/match/test_faults.py::test_a_fault_off_turn_frees_the_opponent_at_once",),
    "CRA-16": ("leaderboard/test_store.py::test_a_locked_database_is_an_error_and_is_not_thrown_away",),
}
