// replay: decides again what a store holds, and says what differs.
#include "services/rampartd/replay.hpp"

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <cstdio>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"
#include "frame/reasons.hpp"
#include "rampart/report/text_table.hpp"
#include "rampart/runtime/shutdown.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using base::Result;

struct Options {
    std::filesystem::path config;
    std::string from, to, decision, sample_of = "decisions";
    size_t sample = 0;
    uint64_t seed = 0;
};

Result<std::optional<base::TimePoint>> time_of(const std::string& text) {
    if (text.empty()) return std::nullopt;
    RAMPART_TRY(const auto time, base::parse_iso8601(text));
    return time;
}

/// Returns a line for each policy.
std::string policies_text(const rampartd::ReplayReport& report) {
    report::Table table{{"policy", "decided again", "otherwise", "could not be"}};
    for (const auto& [policy, count] : report.by_policy)
        table.push_back({policy, std::to_string(count.replayed), std::to_string(count.different),
                         std::to_string(count.failed)});
    return report.by_policy.empty() ? "" : report::align(table);
}

json::object policies_of(const rampartd::ReplayReport& report) {
    json::object out;
    for (const auto& [policy, count] : report.by_policy)
        out[policy] = json::object{
            {"replayed", count.replayed}, {"different", count.different}, {"failed", count.failed}};
    return out;
}

Answer answer_of(const rampartd::ReplayReport& report) {
    uint64_t failed = 0;
    json::object failures;
    for (const auto& [reason, count] : report.failed) {
        failed += count;
        failures[reason] = count;
    }
    Answer answer;
    const bool same = report.different == 0 && failed == 0;
    answer.exit_code = same ? ExitCode::kDone : ExitCode::kNo;
    answer.text =
        fmt::format("{} decisions decided again: {} to the bit, {} otherwise\n", report.replayed,
                    report.replayed - report.different, report.different);
    for (const auto& difference : report.differences)
        answer.text += "DIFFERS  " + difference + "\n";
    for (const auto& [reason, count] : report.failed)
        answer.text += fmt::format("{} could not be decided again: {}\n", count, reason);
    if (failed > 0) answer.text += "such as: " + report.first_failure + "\n";
    answer.text += policies_text(report);
    if (report.erased > 0) answer.text += fmt::format("{} are erased\n", report.erased);
    if (report.replayed == 0 && failed == 0)
        answer.notes.push_back("there was none to decide again");
    answer.json = json::serialize(json::object{
        {"replayed", report.replayed},
        {"different", report.different},
        {"differences", json::array(report.differences.begin(), report.differences.end())},
        {"failed", std::move(failures)},
        {"policies", policies_of(report)},
        {"erased", report.erased}});
    return answer;
}

Result<Answer> replay(const Options& options, const Context& context) {
    rampartd::ReplayRequest request;
    RAMPART_TRY(request.from, time_of(options.from));
    RAMPART_TRY(request.to, time_of(options.to));
    request.decision = options.decision;
    request.sample = options.sample;
    request.sample_of = options.sample_of == "persons" ? rampartd::SampleOf::kPersons
                                                       : rampartd::SampleOf::kDecisions;
    request.seed = options.seed;
    if (request.from && request.to && *request.to <= *request.from)
        return base::make_error(Reason::kMisuse, "--to {} is not after --from {}", options.to,
                                options.from);
    RAMPART_TRY(const auto node, open_existing(options.config));
    RAMPART_TRY(const auto signal, runtime::Shutdown::install());
    request.progress = [&](uint64_t seen) {
        if (context.terminal && seen % 1000 == 0) {
            fmt::print(stderr, "\r{} decisions", seen);
            std::fflush(stderr);
        }
        return !signal->requested();
    };
    RAMPART_TRY(const auto report, rampartd::replay_decisions(*node, request));
    if (context.terminal) fmt::print(stderr, "\r");
    if (report.interrupted)
        return base::make_error(Reason::kInterrupted, "the replay was interrupted");
    return answer_of(report);
}

}  // namespace

void add_replay(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "replay",
         .summary = "Decide again what a store holds, and name each bit that differs",
         .example =
             "rampart replay --config rampartd.toml --from 2026-01-01T00:00:00Z --sample 1000",
         .detail =
             "Each decision is made again by the policy, the key of draws and, where the policy "
             "reads it, the protected group of then: score, probabilities, draw, action, "
             "propensity and reasons have to be the same to the bit. Exit code 1: some are not, "
             "or could not be decided again. "
             "The table counts them by policy. No node may be serving the store."},
        [options](const Context& context) { return replay(*options, context); });
    command.add_option("--config", options->config, "rampartd.toml of the store")->required();
    auto* one = command.add_option("--decision", options->decision, "only the decision of this id");
    command.add_option("--from", options->from, "decided at this time (ISO 8601) or later")
        ->excludes(one);
    command.add_option("--to", options->to, "decided before this time (ISO 8601)")->excludes(one);
    auto* sample = command
                       .add_option("--sample", options->sample,
                                   "so many of --sample-of, drawn with --seed; default: all")
                       ->check(CLI::Range(size_t{1}, size_t{1'000'000}))
                       ->excludes(one);
    command
        .add_option("--sample-of", options->sample_of,
                    "decisions, or persons: so many persons with all of their decisions")
        ->check(CLI::IsMember({"decisions", "persons"}))
        ->capture_default_str()
        ->needs(sample);
    command.add_option("--seed", options->seed, "seed of the sample")->needs(sample);
}

}  // namespace rampart::cli
