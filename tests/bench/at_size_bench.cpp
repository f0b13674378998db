// Figures at size, of one partition: its joined state made anew from an embedded log, its examples
// matured, the development set read, the vault visited and read. Prints a JSON object.
// `tests/bench/at_size` runs it, and compares two builds.
//
//     bench_at_size DECISIONS FOLDER [sealed]
//
// The log (as many outcomes as decisions) is made in FOLDER when there is none, and is kept.
// `sealed`: decisions lie in it sealed with the keys of their persons.

#include <cstdlib>
#include <filesystem>

#include "rampart/joiner/catch_up.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/privacy/person_keys.hpp"
#include "rampart/sealed_log/sealed_log.hpp"
#include "rampart/storage/memory_budget.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "rampart/training_set/training_set_builder.hpp"
#include "support/generated_loans.hpp"
#include "support/set_clock.hpp"
#include "tools/peers/stream/stopwatch.hpp"

namespace rampart {
namespace {

namespace fs = std::filesystem;
using base::Result;
using base::Status;
using peers::Stopwatch;
using streaming::Offset;
using streaming::PartitionId;

constexpr uint64_t kMemory = 512u << 20;  // bytes for all databases: the default of a node
constexpr size_t kAppended = 5000;        // records at once
constexpr int64_t kMatured = support::kGeneratedDays + 200;  // day on which all have

void print(const char* name, int64_t items, const Stopwatch& watch) {
    fmt::print(", \"{}\": {{\"items\": {}, \"seconds\": {:.4f}, \"cpu_seconds\": {:.4f}}}", name,
               items, watch.seconds(), watch.cpu_seconds());
    std::fflush(stdout);
}

/// A store of one partition, and the log that it follows from.
struct Place {
    fs::path folder;
    int64_t decisions = 0;
    support::SetClock clock{support::day(0)};
    std::shared_ptr<storage::MemoryBudget> memory = storage::MemoryBudget::create(kMemory).value();
    std::unique_ptr<streaming_local::LocalLog> plain;
    std::unique_ptr<privacy::PersonKeys> keys;
    std::unique_ptr<sealed_log::SealedLog> log;
    std::unique_ptr<protected_attributes::ProtectedStore> attributes;
    std::unique_ptr<joiner::OutcomeJoiner> joiner;
};

Status fill(Place& place, const support::GeneratedLog& made) {
    for (const char* topic : {"decisions", "outcomes"}) {
        RAMPART_RETURN_IF_ERROR(place.plain->create_topic(topic, {}));
        for (int64_t at = 0; at < place.decisions;) {
            RAMPART_TRY(const auto stored, made.read(topic, PartitionId(0), Offset(at), kAppended));
            std::vector<streaming::Record> records;
            for (const auto& one : stored) records.push_back(one.record);
            RAMPART_RETURN_IF_ERROR(place.log->append(topic, records).map([](const auto&) {}));
            at += static_cast<int64_t>(records.size());
        }
    }
    return support::know_persons(*place.attributes, made, place.decisions);
}

Status open(Place& place, bool sealed) {
    const bool known = fs::exists(place.folder / "filled");
    if (!known) fs::remove_all(place.folder);
    RAMPART_TRY(place.plain,
                streaming_local::LocalLog::open(place.folder / "log", {.memory = place.memory}));
    place.plain->stamp_with(place.clock);
    RAMPART_TRY(place.keys, privacy::PersonKeys::open(place.folder / "keys", std::string(32, 's'),
                                                      nullptr, place.memory));
    place.log = std::make_unique<sealed_log::SealedLog>(*place.plain, *place.plain, *place.keys,
                                                        "decisions", sealed);
    RAMPART_TRY(const auto catalog, protected_attributes::AttributeCatalog::create(
                                        {{"sex", {"female", "male"}}}, true));
    RAMPART_TRY(place.attributes,
                protected_attributes::ProtectedStore::open(place.folder / "attributes", catalog));
    if (known) return base::ok();
    RAMPART_RETURN_IF_ERROR(fill(place, support::GeneratedLog(place.decisions)));
    fs::create_directories(place.folder / "filled");
    return base::ok();
}

Status rebuild(Place& place) {
    fs::remove_all(place.folder / "joins");
    joiner::JoinerOptions options{.product = support::generated_product()};
    options.memory = place.memory;
    RAMPART_TRY(place.joiner, joiner::OutcomeJoiner::open(place.folder / "joins",
                                                          std::move(options), *place.log));
    const Stopwatch joining;
    RAMPART_TRY(const auto caught_up, joiner::catch_up(*place.joiner));
    print("rebuild", static_cast<int64_t>(caught_up.records), joining);
    RAMPART_RETURN_IF_ERROR(joiner::nothing_stopped(caught_up.stopped));
    const Stopwatch maturing;
    RAMPART_TRY(const auto matured, place.joiner->advance(support::day(kMatured)));
    print("mature", static_cast<int64_t>(matured), maturing);
    return base::ok();
}

Status read(const Place& place) {
    RAMPART_TRY(const auto sets,
                training_set::TrainingSetBuilder::create(
                    *place.joiner, support::generated_product(), support::generated_schema(),
                    *place.attributes, "a salt of sixteen bytes or more"));
    const auto now = support::day(kMatured);
    size_t visited = 0;
    const auto count = [&](auto, auto) { ++visited; };
    RAMPART_RETURN_IF_ERROR(sets.visit_vault(now, count));  // fills the caches
    const Stopwatch visiting;
    RAMPART_RETURN_IF_ERROR(sets.visit_vault(now, count));
    print("visit_vault", place.decisions, visiting);
    {
        const Stopwatch reading;
        RAMPART_TRY(const auto set, sets.vault_rows(now));
        print("read_vault", place.decisions, reading);
        fmt::print(", \"vault\": \"{}\"", set.digest.hex());
    }
    const Stopwatch reading;
    RAMPART_TRY(const auto set, sets.development_rows(now));
    print("read_development", place.decisions, reading);
    fmt::print(", \"development_rows\": {}, \"development\": \"{}\"", set.rows.size(),
               set.digest.hex());
    const Stopwatch sampling;
    RAMPART_TRY(
        const auto sample,
        sets.development_sample(now, {.max_rows = static_cast<size_t>(place.decisions / 20)}));
    print("sample_development", place.decisions, sampling);
    fmt::print(", \"sample\": \"{}\"", sample.digest.hex());
    return base::ok();
}

Status run(int64_t decisions, const fs::path& folder, bool sealed) {
    Place place;
    place.folder = folder;
    place.decisions = decisions;
    RAMPART_RETURN_IF_ERROR(open(place, sealed));
    fmt::print("{{\"decisions\": {}, \"sealed\": {}", decisions, sealed);
    RAMPART_RETURN_IF_ERROR(rebuild(place));
    RAMPART_RETURN_IF_ERROR(read(place));
    fmt::print(", \"state\": \"{}\"}}\n", place.joiner->state_hash().hex());
    return base::ok();
}

}  // namespace
}  // namespace rampart

int main(int argc, char** argv) {
    if (argc < 3) {
        fmt::print(stderr, "bench_at_size DECISIONS FOLDER [sealed]\n");
        return 2;
    }
    const bool sealed = argc > 3 && std::string_view(argv[3]) == "sealed";
    const auto done = rampart::run(std::atoll(argv[1]), argv[2], sealed);
    if (!done) fmt::print(stderr, "bench_at_size: {}\n", done.error().message);
    return done ? 0 : 1;
}
