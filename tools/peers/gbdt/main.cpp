#include <CLI/CLI.hpp>
#include <cstdio>

#include "tools/peers/gbdt/commands.hpp"

/// Our part of tools/peers/gbdt/run: see --help.
namespace rampart::peer_gbdt {
namespace {

void add_params(CLI::App& command, gbdt::LearnerParams& params) {
    command.add_option("--trees", params.trees);
    command.add_option("--leaves", params.leaves);
    command.add_option("--bins", params.max_bins);
    command.add_option("--learning-rate", params.learning_rate);
    command.add_option("--min-rows", params.min_rows_in_leaf);
}

CLI::App* add_train(CLI::App& app, TrainJob& job) {
    CLI::App* command = app.add_subcommand("train", "train on a table, report time and memory");
    command->add_option("--data", job.data, "table file")->required();
    auto* const test = command->add_option("--test", job.test, "table file to predict");
    command->add_option("--predictions", job.predictions, "where its raw scores go")->needs(test);
    command->add_option("--threads", job.threads)->check(CLI::Range(1, 64));
    add_params(*command, job.params);
    return command;
}

CLI::App* add_predict(CLI::App& app, PredictJob& job) {
    CLI::App* command = app.add_subcommand("predict", "train, then time scoring beside the peers");
    command->add_option("--data", job.data, "table file")->required();
    command->add_option("--lightgbm", job.lightgbm_library, "lib_lightgbm.so")->required();
    command->add_option("--lightgbm-model", job.lightgbm_model, "text model")->required();
    command->add_option("--xgboost", job.xgboost_library, "libxgboost.so")->required();
    command->add_option("--xgboost-model", job.xgboost_model, "JSON model")->required();
    command->add_option("--rows", job.batch_rows, "of a batch, at most")
        ->check(CLI::Range(1, 10'000'000));
    command->add_option("--rounds", job.rounds)->check(CLI::Range(1, 1000));
    add_params(*command, job.params);
    return command;
}

int run(int argc, char** argv) {
    CLI::App app("Rampart's learner and engines, for tools/peers/gbdt/run");
    app.require_subcommand(1);
    TrainJob train_job;
    PredictJob predict_job;
    const CLI::App* const trains = add_train(app, train_job);
    add_predict(app, predict_job);
    CLI11_PARSE(app, argc, argv);
    const base::Status status = trains->parsed() ? train(train_job) : predict(predict_job);
    if (status) return 0;
    fmt::print(stderr, "peer_gbdt: {}\n", status.error().message);
    return 2;
}

}  // namespace
}  // namespace rampart::peer_gbdt

int main(int argc, char** argv) { return rampart::peer_gbdt::run(argc, argv); }
