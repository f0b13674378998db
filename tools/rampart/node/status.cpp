// status: what a running node does, and what is wrong with it.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using base::Result;

/// Returns "0.4 s", "12 min", "3.1 h", "2.0 d"; "-" for null.
std::string duration_of(const json::value& seconds) {
    if (seconds.is_null()) return "-";
    const double s = seconds.to_number<double>();
    if (s < 100) return fmt::format("{:.1f} s", s);
    if (s < 6000) return fmt::format("{:.0f} min", s / 60);
    if (s < 360'000) return fmt::format("{:.1f} h", s / 3600);
    return fmt::format("{:.1f} d", s / 86'400);
}

std::string count_of(const json::value& value) {
    return fmt::format("{}", value.to_number<int64_t>());
}

std::string row(std::string_view name, const std::string& text) {
    return fmt::format("{:<14}{}\n", name, text);
}

std::string jobs_text(const json::array& jobs) {
    std::string text = fmt::format("\n{:<10}{:<9}{:>13}{:>10}{:>11}{:>10}  {}\n", "job", "state",
                                   "last success", "next in", "runs", "failures", "failing");
    for (const auto& one : jobs) {
        const auto& job = one.as_object();
        const bool running = job.at("running").as_bool();
        const auto& failing = job.at("failing");
        const bool fails = !failing.is_null();
        text += fmt::format("{:<10}{:<9}{:>13}{:>10}{:>11}{:>10}  {}\n", text_of(job.at("name")),
                            job.at("stuck").as_bool() ? "STUCK" : (running ? "running" : "waiting"),
                            duration_of(job.at("seconds_since_success")),
                            running ? std::string("-") : duration_of(job.at("next_in_seconds")),
                            count_of(job.at("runs")), count_of(job.at("failures")),
                            fails ? fmt::format("{}: {}", text_of(failing.at("reason")),
                                                text_of(failing.at("message")))
                                  : std::string("-"));
    }
    return text;
}

/// Requests that are jobs, by kind, where there are any.
std::string requests_text(const json::array& kinds) {
    std::string text;
    for (const auto& one : kinds) {
        const auto waiting = one.at("waiting").to_number<int64_t>();
        const auto running = one.at("running").to_number<int64_t>();
        const auto failed = one.at("failed").to_number<int64_t>();
        if (waiting + running + failed == 0) continue;
        text += row("requests", fmt::format("{}: {} waiting, {} running, the oldest for {}; {} of "
                                            "the last have failed",
                                            text_of(one.at("kind")), waiting, running,
                                            duration_of(one.at("oldest_seconds")), failed));
    }
    return text;
}

std::string sources_text(std::string_view name, const json::array& sources) {
    std::string text;
    for (const auto& one : sources) {
        const auto& source = one.as_object();
        text += row(name, fmt::format("partition {} of {}: {}", text_of(source.at("partition")),
                                      text_of(source.at("topic")), text_of(source.at("message"))));
    }
    return text;
}

std::string training_text(const json::value& training) {
    if (training.is_null()) return row("training", "off here");
    const auto& lease = training.at("lease");
    if (!lease.is_null() && !lease.at("held").as_bool())
        return row("training", "not here: " + text_of(lease.at("message")));
    const auto& last = training.at("last");
    std::string text = row(
        "training",
        fmt::format(
            "{} runs{}; next {}", count_of(training.at("runs")),
            last.is_null()
                ? std::string()
                : fmt::format(", the last of {}: {} {}", text_of(last.at("at")).substr(0, 10),
                              text_of(last.at("verdict")), text_of(last.at("reason"))),
            training.at("next_due").is_null() ? std::string("by matured decisions, or on request")
                                              : text_of(training.at("next_due")).substr(0, 10)));
    const auto& budget = training.at("budget");
    if (!budget.is_null())
        text += row(
            "error budget",
            fmt::format("epoch {}: {:.4g} of {:.4g} is spent, {} runs are left",
                        count_of(budget.at("epoch")), budget.at("spent").to_number<double>(),
                        budget.at("delta").to_number<double>(), count_of(budget.at("runs_left"))));
    return text;
}

std::string joined_text(const json::value& joined) {
    if (joined.is_null()) return row("joined", "nothing here");
    return row("joined until", fmt::format("{}, {} behind", text_of(joined.at("until")),
                                           duration_of(joined.at("lag_seconds")))) +
           row("joined",
               fmt::format("{} decisions, {} outcomes, {} matured, {} overdue, {} unmatched",
                           count_of(joined.at("decisions")), count_of(joined.at("outcomes")),
                           count_of(joined.at("matured")), count_of(joined.at("overdue")),
                           count_of(joined.at("unmatched"))));
}

std::string roles_text(const json::array& roles) {
    std::string names;
    for (const auto& one : roles) names += (names.empty() ? "" : ", ") + text_of(one);
    return row("roles", names);
}

std::string status_text(const json::object& status) {
    const bool ready = status.at("ready").as_bool(), degraded = status.at("degraded").as_bool();
    const auto& partitions = status.at("partitions");
    std::string text = row("state", !ready     ? "NOT READY"
                                    : degraded ? "ready, but degraded"
                                               : "ready");
    if (const auto* roles = status.if_contains("roles")) text += roles_text(roles->as_array());
    for (const auto& check : status.at("checks").as_array()) {
        if (!check.at("ok").as_bool())
            text += row("failed", text_of(check.at("name")) + ": " + text_of(check.at("message")));
    }
    text += row("policy", text_of(status.at("policy")));
    std::string stops;
    for (const auto& name : status.at("stops").as_array()) stops += " " + text_of(name);
    if (!stops.empty()) text += row("STOPPED", stops.substr(1) + " (rampart stop list)");
    text += row("clock", fmt::format("{} ({})", text_of(status.at("clock").at("now")),
                                     text_of(status.at("clock").at("mode"))));
    text += joined_text(status.at("joined"));
    text +=
        row("partitions",
            fmt::format("{} deciding, {} not, {} being made anew, {} that cannot be",
                        count_of(partitions.at("deciding")),
                        partitions.at("not_deciding").as_array().size(),
                        count_of(partitions.at("rebuilding")), count_of(partitions.at("refused"))));
    text += sources_text("not deciding", partitions.at("not_deciding").as_array());
    text += sources_text("unread", partitions.at("unread").as_array());
    text += training_text(status.at("training"));
    text += requests_text(status.at("requests").as_array());
    return text + jobs_text(status.at("jobs").as_array());
}

Result<Answer> status(const NodeOptions& options) {
    RAMPART_TRY(const auto document, ask_node(options.config, "/v1/status"));
    const auto& status = document.as_object();
    Answer answer;
    answer.json = json::serialize(document);
    answer.text = status_text(status);
    if (!status.at("ready").as_bool() || status.at("degraded").as_bool())
        answer.exit_code = ExitCode::kNo;
    return answer;
}

}  // namespace

void add_status(Frame& frame) {
    auto options = std::make_shared<NodeOptions>();
    auto& command = frame.add(
        {.name = "status",
         .summary = "Show what a running node does, and what is wrong with it",
         .example = "rampart status --config rampartd.toml",
         .detail = "Its jobs with their ages and errors, partitions, how far outcomes are "
                   "joined, training and error budget. Exit code 1: it is not ready, or "
                   "something has failed."},
        [options](const Context&) { return status(*options); });
    add_node_options(command, *options);
}

}  // namespace rampart::cli
