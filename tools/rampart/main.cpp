#include "frame/commands.hpp"

int main(int argc, char** argv) {
    rampart::cli::Frame frame;
    rampart::cli::add_schema_infer(frame);
    rampart::cli::add_train(frame);
    rampart::cli::add_frontier(frame);
    rampart::cli::add_postprocess(frame);
    rampart::cli::add_evaluate(frame);
    rampart::cli::add_audit_individual(frame);
    rampart::cli::add_explain(frame);
    rampart::cli::add_card(frame);
    rampart::cli::add_import(frame);
    rampart::cli::add_export(frame);
    rampart::cli::add_serve(frame);
    rampart::cli::add_certify(frame);
    rampart::cli::add_verify(frame);
    rampart::cli::add_models(frame);
    rampart::cli::add_promote(frame);
    rampart::cli::add_rollback(frame);
    rampart::cli::add_monitor(frame);
    rampart::cli::add_decide(frame);
    rampart::cli::add_inspect(frame);
    rampart::cli::add_dangling(frame);
    rampart::cli::add_erase(frame);
    rampart::cli::add_hold_add(frame);
    rampart::cli::add_hold_remove(frame);
    rampart::cli::add_hold_list(frame);
    rampart::cli::add_clock_accept(frame);
    rampart::cli::add_topics_create(frame);
    rampart::cli::add_topics_check(frame);
    rampart::cli::add_partition_list(frame);
    rampart::cli::add_partition_resume(frame);
    rampart::cli::add_partition_move(frame);
    rampart::cli::add_quarantine_list(frame);
    rampart::cli::add_quarantine_replay(frame);
    rampart::cli::add_quarantine_drop(frame);
    rampart::cli::add_backup_create(frame);
    rampart::cli::add_backup_list(frame);
    rampart::cli::add_backup_verify(frame);
    rampart::cli::add_backup_restore(frame);
    rampart::cli::add_store_check(frame);
    return frame.main(argc, argv);
}
