// inspect unmatched: outcome reports without their decision, loans without their report.
#include <CLI/CLI.hpp>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using base::Result;

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
