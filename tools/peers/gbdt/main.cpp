#include <CLI/CLI.hpp>
#include <cstdio>

#include "tools/peers/gbdt/commands.hpp"

/// What tools/peers/gbdt/run measures of ours: see --help.
namespace rampart::peer_gbdt {
namespace {

void add_train(CLI::App& app, TrainJob& job) {
    CLI::App* command = app.add_subcommand("train", "train on a table, tell time and memory");
    command->add_option("--data", job.data, "table file")->required();
    auto* const test = command->add_option("--test", job.test, "table file to predict");
    command->add_option("--predictions", job.predictions, "where its raw scores go")->needs(test);
    command->add_option("--threads", job.threads)->check(CLI::Range(1, 64));
    command->add_option("--trees", job.params.trees);
    command->add_option("--leaves", job.params.leaves);
    command->add_option("--bins", job.params.max_bins);
    command->add_option("--learning-rate", job.params.learning_rate);
    command->add_option("--min-rows", job.params.min_rows_in_leaf);
}

int run(int argc, char** argv) {
    CLI::App app("Rampart's learner and engine, for tools/peers/gbdt/run");
    app.require_subcommand(1);
    TrainJob job;
    add_train(app, job);
    CLI11_PARSE(app, argc, argv);
    const base::Status status = train(job);
    if (status) return 0;
    fmt::print(stderr, "peer_gbdt: {}\n", status.error().message);
    return 2;
}

}  // namespace
}  // namespace rampart::peer_gbdt

int main(int argc, char** argv) { return rampart::peer_gbdt::run(argc, argv); }
