#include "frame/commands.hpp"
#include "gate/audit.hpp"
#include "gate/proposal.hpp"
#include "node/challenger.hpp"
#include "rampart/runtime/store_keys.hpp"
#include "store/keys.hpp"
#include "store/person.hpp"

namespace {

using rampart::cli::Frame;

void add_learn(Frame& frame) {
    using namespace rampart::cli;
    frame.section("Make a model");
    frame.family("schema", "Describe a table's columns");
    add_schema_infer(frame);
    frame.family("data", "Look at a table");
    add_data_profile(frame);
    add_train(frame);
    add_learners(frame);
    frame.family("recipe", "Recipes of scheduled training");
    add_recipe(frame);
    add_cv(frame);
    add_frontier(frame);
    add_postprocess(frame);
    add_calibrate(frame);
    add_import(frame);
    add_export(frame);
}

void add_audit(Frame& frame) {
    using namespace rampart::cli;
    frame.section("Measure and explain a model");
    add_evaluate(frame);
    add_score(frame);
    add_compare(frame);
    add_audit_individual(frame);
    add_explain(frame);
    add_counterfactual(frame);
    add_card(frame);
    frame.family("reasons", "Check the lender's words for reasons");
    add_reasons_check(frame);
}

void add_gate(Frame& frame) {
    using namespace rampart::cli;
    frame.section("Certify and promote a model");
    add_candidate(frame);
    add_certify(frame);
    add_gate_log(frame);
    add_verify(frame);
    add_figures(frame);
    frame.family("ledger", "Show to others that ledger and log are the only ones");
    add_ledger_head(frame);
    add_ledger_copy(frame);
    add_ledger_check(frame);
    add_export_log(frame);
    add_models(frame);
    frame.family("registry", "Show who decided when");
    add_registry_at(frame);
    frame.family("audit", "Show who did what, and that nothing was changed in the record");
    add_audit_list(frame);
    add_audit_show(frame);
    add_audit_verify(frame);
    add_audit_export(frame);
    add_promote(frame);
    frame.family("proposal", "Show, approve and reject what waits to decide");
    add_proposal_list(frame);
    add_proposal_show(frame);
    add_proposal_approve(frame);
    add_proposal_reject(frame);
    frame.family("challenger", "Let certified policies decide beside the champion");
    add_challenger_start(frame);
    add_challenger_end(frame);
    add_challenger_list(frame);
    add_rollback(frame);
    add_monitor(frame);
    add_report(frame);
}

void add_node(Frame& frame) {
    using namespace rampart::cli;
    frame.section("Run a node, and ask a running one");
    add_serve(frame);
    add_status(frame);
    add_decide(frame);
    add_decisions(frame);
    add_events(frame);
    frame.family("stop",
                 "Stop exploration, all but the declared rule, or all deciding but by people");
    add_stop_exploration(frame);
    add_stop_rules_only(frame);
    add_stop_refer_all(frame);
    add_stop_list(frame);
    frame.family("review", "Open, answer and list what waits for people");
    add_review_open(frame);
    add_review_answer(frame);
    add_review_list(frame);
    add_erase(frame);
    frame.family(
        "hold", "Add, remove and list legal holds, which forbid the erasure of a person's records");
    add_hold_add(frame);
    add_hold_remove(frame);
    add_hold_list(frame);
    frame.family("clock", "Accept the wall clock after a jump");
    add_clock_accept(frame);
    frame.family("token", "Make, list, replace and revoke the tokens of callers");
    add_token_create(frame);
    add_token_list(frame);
    add_token_revoke(frame);
    add_token_rotate(frame);
    frame.family("quarantine", "List, replay and drop rejected records");
    add_quarantine_list(frame);
    add_quarantine_replay(frame);
    add_quarantine_drop(frame);
    frame.family("partition", "List, resume and move the partitions of a node");
    add_partition_list(frame);
    add_partition_resume(frame);
    add_partition_move(frame);
    frame.family("topics",
                 "Create or compare the topics on a Kafka cluster, and the rights on them");
    add_topics_create(frame);
    add_topics_check(frame);
    add_topics_acls(frame);
}

void add_store(Frame& frame) {
    using namespace rampart::cli;
    frame.section("Read, back up and check a store");
    frame.family("inspect", "Show a model, a certificate, a store or a log without changing it");
    add_inspect(frame);
    add_unmatched(frame);
    frame.family("backup", "Back up a store; list, verify and restore backups");
    add_backup_create(frame);
    add_backup_list(frame);
    add_backup_verify(frame);
    add_backup_restore(frame);
    frame.family("store", "Check a store, and encrypt it");
    add_store_check(frame);
    add_store_encrypt(frame);
    add_replay(frame);
    add_letter(frame);
    frame.family("person", "Show what a store holds of one person");
    add_person_export(frame);
    frame.family("keys", "List, copy and change the keys of a store");
    add_keys_list(frame);
    add_keys_export(frame);
    add_keys_import(frame);
    add_keys_rotate(frame);
    frame.family("trainer", "Move the training of a group to another node");
    add_trainer_hand_over(frame);
    add_trainer_take_over(frame);
    add_trainer_take_back(frame);
}

void add_frame(Frame& frame) {
    using namespace rampart::cli;
    frame.section("Look up an error or a metric");
    add_errors(frame);
    add_metrics(frame);
}

}  // namespace

int main(int argc, char** argv) {
    rampart::runtime::use_store_keys();
    Frame frame;
    add_learn(frame);
    add_audit(frame);
    add_gate(frame);
    add_node(frame);
    add_store(frame);
    add_frame(frame);
    return frame.main(argc, argv);
}
