// quarantine list, replay, drop and inspect unmatched: records that have not been joined.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using base::Result;

struct Options : NodeOptions {
    std::string topic;
    int32_t partition = 0;
    int64_t offset = 0;
};

Result<Answer> list(const Options& options) {
    RAMPART_TRY(const auto document, ask_node(options.config, "/v1/quarantine"));
    Answer answer;
    answer.json = json::serialize(document);
    answer.text = fmt::format("{:<24}{:>9}{:>10}{:>8}  {:<24}{}\n", "topic", "partition", "offset",
                              "bytes", "reason", "message");
    for (const auto& item : document.at("quarantined").as_array()) {
        const auto& one = item.as_object();
        const auto text = [&](const char* name) { return text_of(one.at(name)); };
        answer.text +=
            fmt::format("{:<24}{:>9}{:>10}{:>8}  {:<24}{}\n", text("topic"), text("partition"),
                        text("offset"), text("bytes"), text("reason"), text("message"));
    }
    return answer;
}

Result<Answer> act(const Options& options, std::string_view target) {
    RAMPART_TRY(const auto document, tell_node(options.config, target,
                                               {{"topic", options.topic},
                                                {"partition", options.partition},
                                                {"offset", options.offset},
                                                {"reason", options.reason}}));
    Answer answer;
    answer.json = json::serialize(document);
    const auto& object = document.as_object();
    const auto* applied = object.if_contains("applied");
    if (applied == nullptr) {
        answer.text = "dropped\n";
    } else if (applied->as_bool()) {
        answer.text = "applied; it is out of quarantine\n";
    } else {
        answer.exit_code = ExitCode::kNo;
        answer.text = fmt::format("it stays: {}\n", std::string(object.at("message").as_string()));
    }
    return answer;
}

void add_act(Frame& frame, const CommandSpec& spec, std::string target) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(spec, [options, target = std::move(target)](const Context&) {
        return act(*options, target);
    });
    command
        .add_option("OFFSET", options->offset,
                    "offset of the record, as 'quarantine list' shows it")
        ->required();
    command.add_option("--topic", options->topic, "topic of the record")->required();
    command.add_option("--partition", options->partition, "partition of the record")->required();
    add_change_options(command, *options);
}

}  // namespace

void add_quarantine_list(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add({.name = "quarantine list",
                               .summary = "List rejected records (undecodable or conflicting)",
                               .example = "rampart quarantine list --config rampartd.toml",
                               .detail = "The content is not shown: it may be personal data."},
                              [options](const Context&) { return list(*options); });
    add_node_options(command, *options);
}

void add_quarantine_replay(Frame& frame) {
    add_act(
        frame,
        {.name = "quarantine replay",
         .summary = "Apply a rejected record again, after the cause is mended",
         .example = "rampart quarantine replay 812 --topic outcomes --partition 3 --reason 'new "
                    "version' --config rampartd.toml",
         .detail = "Exit code 1: the record is still rejected and stays in quarantine."},
        "/v1/quarantine/replay");
}

void add_quarantine_drop(Frame& frame) {
    add_act(
        frame,
        {.name = "quarantine drop",
         .summary = "Remove a rejected record from quarantine for good",
         .example = "rampart quarantine drop 812 --topic outcomes --partition 3 --reason 'sent by "
                    "mistake' --config rampartd.toml"},
        "/v1/quarantine/drop");
}

namespace {

std::string ages(const json::array& bins) {
    std::string text;
    for (const auto& item : bins) {
        const auto& upto = item.at("up_to_days");
        text += fmt::format("{:>14}{:>8}\n",
                            upto.is_null() ? "older" : fmt::format("{} days", text_of(upto)),
                            text_of(item.at("count")));
    }
    return text;
}

Result<Answer> report(const NodeOptions& options) {
    RAMPART_TRY(const auto document, ask_node(options.config, "/v1/unmatched"));
    Answer answer;
    answer.json = json::serialize(document);
    answer.text =
        fmt::format("as of {}\n\noutcome reports without their decision: {}\n",
                    text_of(document.at("as_of")), text_of(document.at("unmatched_reports")));
    answer.text += ages(document.at("unmatched_by_age").as_array());
    for (const auto& one : document.at("unmatched").as_array()) {
        answer.text +=
            fmt::format("  {:<34}{} outcomes, {} overrides, since {}\n",
                        text_of(one.at("decision_id")), text_of(one.at("outcomes")),
                        text_of(one.at("overrides")), text_of(one.at("since")).substr(0, 10));
    }
    answer.text += fmt::format("\nloans that matured without a report: {}\n",
                               text_of(document.at("overdue_examples")));
    answer.text += ages(document.at("overdue_by_age").as_array());
    for (const auto& one : document.at("overdue").as_array()) {
        answer.text +=
            fmt::format("  {:<34}{:<20}since {}\n", text_of(one.at("decision_id")),
                        text_of(one.at("measure")), text_of(one.at("since")).substr(0, 10));
    }
    answer.notes.push_back(fmt::format("ages are those of the {} listed at most of each",
                                       text_of(document.at("listed_at_most"))));
    return answer;
}

}  // namespace

void add_unmatched(Frame& frame) {
    auto options = std::make_shared<NodeOptions>();
    auto& command =
        frame.add({.name = "inspect unmatched",
                   .summary = "List outcome reports without a decision, and loans that matured "
                              "without a report",
                   .example = "rampart inspect unmatched --config rampartd.toml"},
                  [options](const Context&) { return report(*options); });
    add_node_options(command, *options);
}

}  // namespace rampart::cli
