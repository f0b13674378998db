// Measures what a decision of a store is made of, each part alone: CPU time of the whole process,
// threads of databases and the kernel's work for it among it. Prints one JSON object.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "rampart/base/check.hpp"
#include "rampart/decision/decider.hpp"
#include "rampart/decision/encode.hpp"
#include "rampart/privacy/person_keys.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/sealed_log/sealed_log.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/decision_json.hpp"
#include "rampart/wire/record_codec.hpp"
#include "services/rampartd/reasons.hpp"
#include "services/rampartd/settings.hpp"
#include "tools/peers/reasons.hpp"
#include "tools/peers/stream/stopwatch.hpp"

namespace {

using namespace rampart;
namespace fs = std::filesystem;
using base::Result;
using base::Status;

constexpr const char* kTopic = "decisions";

struct Options {
    fs::path config, bodies, folder;
    size_t decisions = 20'000, group = 32;
};

/// A store's policy, and what is decided by it.
struct World {
    rampartd::Settings settings;
    std::shared_ptr<const decision::PolicyInForce> policy;
    std::vector<std::string> bodies;  // requests, each with an id and a person of its own
    std::vector<domain::Application> applications;
    std::vector<std::vector<float>> rows;
    std::vector<domain::Decision> decisions;
};

/// Returns the templates with a number in place of each '@'.
Result<std::vector<std::string>> bodies_of(const Options& options) {
    std::vector<std::string> templates, bodies;
    std::ifstream lines(options.bodies);
    for (std::string line; std::getline(lines, line);) templates.push_back(line);
    if (templates.empty()) {
        return base::make_error(peers::Reason::kNoTable, "--bodies {}: no line can be read",
                                options.bodies.string());
    }
    for (size_t i = 0; i < options.decisions; ++i) {
        std::string body;
        for (const char c : templates[i % templates.size()])
            body += c == '@' ? fmt::format("part-{}", i) : std::string(1, c);
        bodies.push_back(std::move(body));
    }
    return bodies;
}

/// Returns the policy that decides in a store.
Result<std::shared_ptr<const decision::PolicyInForce>> policy_of(const fs::path& store) {
    using registry::ModelRegistry;
    RAMPART_TRY(const auto registry,
                ModelRegistry::open(store / "registry", ModelRegistry::Mode::kReadOnly));
    const auto champion = registry->champion();
    if (!champion) {
        return base::make_error(rampartd::Reason::kNoChampion,
                                "{} has no champion: start the service once", store.string());
    }
    RAMPART_TRY(auto loaded, registry->load_model(champion->policy));
    return decision::PolicyInForce::create(
        std::make_shared<const model::LoadedPolicy>(std::move(loaded)), champion->certified());
}

/// Returns microseconds of CPU for each decision.
Result<double> cost(const World& world, const std::function<Status()>& work) {
    const peers::Stopwatch watch;
    RAMPART_RETURN_IF_ERROR(work());
    return 1e6 * watch.cpu_seconds() / static_cast<double>(world.bodies.size());
}

/// Reads requests and writes answers.
Status read_requests(World& world) {
    for (const auto& body : world.bodies) {
        RAMPART_TRY(auto parsed, wire::applications_from_json(body));
        world.applications.push_back(std::move(parsed.applications.front()));
    }
    return base::ok();
}

Status write_answers(const World& world) {
    size_t bytes = 0;
    for (const auto& one : world.decisions) bytes += wire::to_json(one).size();
    RAMPART_CHECK(bytes > 0, "no decision was written");
    return base::ok();
}

/// Evaluates trees, ramp and exploration, and nothing else.
Status evaluate(const World& world) {
    double sum = 0;
    for (const auto& row : world.rows)
        sum += world.policy->policy().evaluate(row, std::nullopt).approve;
    RAMPART_CHECK(sum > 0, "no application has a chance");
    return base::ok();
}

/// Encodes the features and decides: model, ramp, exploration and draw.
Status decide(World& world) {
    const auto now = runtime::SystemClock().now();
    const decision::DrawKey key{"parts", std::string(32, 's')};
    const decision::CoolOff cool_off{world.settings.product.name, world.settings.cool_off_days};
    for (const auto& application : world.applications) {
        RAMPART_TRY(auto row, decision::encode_row(application, world.policy->policy().schema()));
        RAMPART_TRY(auto made, decision::decide(*world.policy, application, row, std::nullopt, key,
                                                cool_off, true, now));
        world.rows.push_back(std::move(row));
        world.decisions.push_back(std::move(made));
    }
    return base::ok();
}

/// Appends all decisions in groups, each durable before the next: with `seals` as a node does it,
/// under a new key for each person, which is durable before.
Status append(const World& world, const Options& options, bool seals) {
    const fs::path folder = options.folder / (seals ? "sealed" : "plain");
    RAMPART_TRY(const auto memory, storage::MemoryBudget::create(world.settings.memory_bytes));
    RAMPART_TRY(const auto log,
                streaming_local::LocalLog::open(folder / "log", {.memory = memory}));
    const runtime::SystemClock clock;
    log->stamp_with(clock);
    RAMPART_RETURN_IF_ERROR(
        log->create_topic(kTopic, {.partitions = world.settings.log.partitions}));
    RAMPART_TRY(const auto keys,
                privacy::PersonKeys::open(folder / "keys", std::string(32, 's'), nullptr, memory));
    sealed_log::SealedLog writer(*log, *log, *keys, kTopic, seals);
    for (size_t from = 0; from < world.decisions.size(); from += options.group) {
        const size_t to = std::min(from + options.group, world.decisions.size());
        std::vector<streaming::Record> records;
        std::vector<domain::PersonId> people;
        for (size_t i = from; i < to; ++i) {
            records.push_back(wire::to_record(world.decisions[i], 0));
            people.push_back(world.decisions[i].application.person);
        }
        if (seals) RAMPART_RETURN_IF_ERROR(keys->prepare(people));
        RAMPART_RETURN_IF_ERROR(writer.append(kTopic, records));
    }
    return base::ok();
}

/// Trees and leaves of the policy's learned links.
std::string size_of(const model::Policy& policy) {
    size_t links = 0, trees = 0, leaves = 0;
    for (const auto& link : policy.links()) {
        const auto* learned = std::get_if<model::LearnedLink>(&link);
        if (learned == nullptr) continue;
        ++links;
        for (const auto& tree : learned->ensemble.trees) {
            ++trees;
            leaves += static_cast<size_t>(
                std::count_if(tree.nodes.begin(), tree.nodes.end(),
                              [](const auto& node) { return node.feature < 0; }));
        }
    }
    return fmt::format("\"links\": {}, \"trees\": {}, \"leaves\": {}", links, trees, leaves);
}

Status run(const Options& options) {
    RAMPART_TRY(auto settings, rampartd::load_settings(options.config));
    World world{std::move(settings), {}, {}, {}, {}, {}};
    RAMPART_TRY(world.policy, policy_of(world.settings.store));
    RAMPART_TRY(world.bodies, bodies_of(options));
    RAMPART_TRY(const double read, cost(world, [&] { return read_requests(world); }));
    RAMPART_TRY(const double decided, cost(world, [&] { return decide(world); }));
    RAMPART_TRY(const double model, cost(world, [&] { return evaluate(world); }));
    RAMPART_TRY(const double written, cost(world, [&] { return write_answers(world); }));
    RAMPART_TRY(const double plain, cost(world, [&] { return append(world, options, false); }));
    RAMPART_TRY(const double sealed, cost(world, [&] { return append(world, options, true); }));
    fmt::print(
        "{{\"decisions\": {}, \"group\": {}, {}, \"evaluate_us\": {}, \"decide_us\": {}, "
        "\"append_us\": {}, \"seal_and_append_us\": {}, \"json_us\": {}}}\n",
        options.decisions, options.group, size_of(world.policy->policy()), model, decided, plain,
        sealed, read + written);
    return base::ok();
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Measures the parts of a decision of a store, each alone, in CPU time.");
    Options options;
    app.add_option("--config", options.config, "the store's rampartd.toml")->required();
    app.add_option("--bodies", options.bodies, "a file with a request's body a line")->required();
    app.add_option("--dir", options.folder, "where logs are written; not there yet")->required();
    app.add_option("--decisions", options.decisions)->check(CLI::Range(100, 1'000'000));
    app.add_option("--group", options.group, "decisions in one write")->check(CLI::Range(1, 1000));
    CLI11_PARSE(app, argc, argv);
    const auto status = run(options);
    if (status) return 0;
    std::fprintf(stderr, "peer_serve_parts: %s\n", status.error().message.c_str());
    return 1;
}
