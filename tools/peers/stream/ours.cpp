#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "tools/peers/stream/commands.hpp"
#include "tools/peers/stream/workload.hpp"

namespace {

void add_place(CLI::App& command, rampart::peers::LogPlace& place) {
    auto* brokers = command.add_option("--brokers", place.brokers, "host:port of a Kafka broker");
    command.add_option("--log", place.folder, "folder of an embedded log")->excludes(brokers);
    command.add_option("--prefix", place.prefix, "of the topics' names");
    command.add_option("--partitions", place.partitions)->check(CLI::Range(1, 64));
}

const std::map<std::string, rampart::peers::Sealing> kSealings{
    {"none", rampart::peers::Sealing::kNone},
    {"new", rampart::peers::Sealing::kNew},
    {"known", rampart::peers::Sealing::kKnown}};

}  // namespace

int main(int argc, char** argv) {
    using namespace rampart::peers;
    CLI::App app("Rampart's side of tools/peers/stream: one job, one JSON object.");
    app.require_subcommand(1);
    LogPlace place;
    DecideOptions deciding;
    LagOptions lagging;
    std::filesystem::path store;
    size_t count = 0;
    rampart::base::Status status;

    auto* file = app.add_subcommand("file", "the records, for peers");
    file->add_option("--out", store)->required();
    file->add_option("--count", count)->required();
    file->callback([&] { status = write_records_file(store, count); });

    auto* loading = app.add_subcommand("load", "topics with decisions and outcomes");
    add_place(*loading, place);
    loading->add_option("--count", count)->required();
    loading->callback([&] { status = load(place, count); });

    auto* joining = app.add_subcommand("join", "joins them into new stores");
    add_place(*joining, place);
    joining->add_option("--store", store)->required();
    joining->callback([&] { status = join(place, store); });

    auto* decide_command = app.add_subcommand("decide", "decides, through a synced log");
    decide_command->add_option("--store", deciding.store)->required();
    decide_command->add_option("--decisions", deciding.decisions)->required();
    decide_command->add_option("--batch", deciding.batch)->required()->check(CLI::Range(1, 1000));
    decide_command->add_option("--sealing", deciding.sealing, "none, new or known")
        ->transform(CLI::CheckedTransformer(kSealings));
    decide_command->callback([&] { status = decide(deciding); });

    auto* lag_command = app.add_subcommand("lag", "appends and joins at a steady rate");
    add_place(*lag_command, place);
    lag_command->add_option("--store", store)->required();
    lag_command->add_option("--rate", lagging.rate)->required()->check(CLI::Range(200, 100000));
    lag_command->add_option("--seconds", lagging.seconds)->required()->check(CLI::Range(1, 3600));
    lag_command->callback([&] { status = lag(place, store, lagging); });

    CLI11_PARSE(app, argc, argv);
    if (status) return 0;
    std::fprintf(stderr, "peer_stream_ours: %s\n", status.error().message.c_str());
    return 1;
}
