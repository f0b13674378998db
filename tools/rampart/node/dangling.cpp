// inspect dangling: reports without their decision, loans without their report.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;

std::string text_of(const json::value& value) {
    return value.is_string() ? std::string(value.get_string()) : json::serialize(value);
}

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

Result<Answer> report(const fs::path& config) {
    RAMPART_TRY(const auto document, ask_node(config, "/v1/dangling"));
    Answer answer;
    answer.json = json::serialize(document);
    answer.text =
        fmt::format("as of {}\n\nreports whose decision never came: {}\n",
                    text_of(document.at("as_of")), text_of(document.at("dangling_reports")));
    answer.text += ages(document.at("dangling_by_age").as_array());
    for (const auto& one : document.at("dangling").as_array()) {
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

void add_dangling(Frame& frame) {
    auto config = std::make_shared<fs::path>();
    frame
        .add({.name = "inspect dangling",
              .summary = "Reports without their decision, matured loans without a report",
              .example = "rampart inspect dangling --config rampartd.toml"},
             [config](const Context&) { return report(*config); })
        .add_option("--config", *config, "rampartd.toml of the running node")
        ->required();
}

}  // namespace rampart::cli
