#pragma once

#include "frame/frame.hpp"

/// The functions that register each command, by family as in main.cpp.
namespace rampart::cli {

void add_schema_infer(Frame& frame);
void add_train(Frame& frame);
void add_learners(Frame& frame);
void add_recipe(Frame& frame);
void add_cv(Frame& frame);
void add_frontier(Frame& frame);
void add_postprocess(Frame& frame);
void add_calibrate(Frame& frame);
void add_data_profile(Frame& frame);
void add_evaluate(Frame& frame);
void add_score(Frame& frame);
void add_compare(Frame& frame);
void add_audit_individual(Frame& frame);
void add_explain(Frame& frame);
void add_counterfactual(Frame& frame);
void add_card(Frame& frame);
void add_reasons_check(Frame& frame);
void add_import(Frame& frame);
void add_export(Frame& frame);
void add_serve(Frame& frame);
void add_status(Frame& frame);
void add_candidate(Frame& frame);
void add_certify(Frame& frame);
void add_gate_log(Frame& frame);
void add_verify(Frame& frame);
void add_figures(Frame& frame);
void add_ledger_head(Frame& frame);
void add_ledger_copy(Frame& frame);
void add_ledger_check(Frame& frame);
void add_export_log(Frame& frame);
void add_models(Frame& frame);
void add_registry_at(Frame& frame);
void add_promote(Frame& frame);
void add_rollback(Frame& frame);
void add_monitor(Frame& frame);
void add_report(Frame& frame);
void add_decide(Frame& frame);
void add_inspect(Frame& frame);
void add_replay(Frame& frame);
void add_letter(Frame& frame);
void add_unmatched(Frame& frame);
void add_erase(Frame& frame);
void add_hold_add(Frame& frame);
void add_hold_remove(Frame& frame);
void add_hold_list(Frame& frame);
void add_clock_accept(Frame& frame);
void add_token_create(Frame& frame);
void add_token_list(Frame& frame);
void add_token_revoke(Frame& frame);
void add_token_rotate(Frame& frame);
void add_topics_create(Frame& frame);
void add_topics_check(Frame& frame);
void add_topics_acls(Frame& frame);
void add_partition_list(Frame& frame);
void add_partition_resume(Frame& frame);
void add_partition_move(Frame& frame);
void add_decisions(Frame& frame);
void add_events(Frame& frame);
void add_stop_exploration(Frame& frame);
void add_stop_rules_only(Frame& frame);
void add_stop_refer_all(Frame& frame);
void add_stop_list(Frame& frame);
void add_review_open(Frame& frame);
void add_review_answer(Frame& frame);
void add_review_list(Frame& frame);
void add_quarantine_list(Frame& frame);
void add_quarantine_replay(Frame& frame);
void add_quarantine_drop(Frame& frame);
void add_backup_create(Frame& frame);
void add_backup_list(Frame& frame);
void add_backup_verify(Frame& frame);
void add_backup_restore(Frame& frame);
void add_store_check(Frame& frame);
void add_store_encrypt(Frame& frame);
void add_trainer_hand_over(Frame& frame);
void add_trainer_take_over(Frame& frame);
void add_trainer_take_back(Frame& frame);
void add_errors(Frame& frame);
void add_metrics(Frame& frame);

}  // namespace rampart::cli
