// stop exploration, stop rules-only, stop refer-all, stop list: what people have stopped.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using base::Result;

struct Options {
    NodeOptions node;
    bool end = false;
};

std::string line_of(const json::value& stop) {
    const auto text = [&](const char* name) { return text_of(stop.at(name)); };
    auto line = fmt::format("{:<12}from {} by {}: {}", text("name"), text("from"), text("by"),
                            text("reason"));
    if (!stop.at("to").is_null())
        line += fmt::format("; to {} by {}: {}", text("to"), text("ended_by"), text("end_reason"));
    return line + "\n";
}

Result<Answer> stop(const std::string& name, const Options& options) {
    const auto path = "/v1/stops/" + name;
    Result<json::value> asked =
        options.end
            ? remove_at_node(options.node.config,
                             fmt::format("{}?reason={}", path, query_value(options.node.reason)))
            : tell_node(options.node.config, path, {{"reason", options.node.reason}});
    if (!asked) return asked.error();
    const auto& made = asked->at("stop");
    const auto text = made.is_null() ? name + " is not stopped\n" : line_of(made);
    return Answer{.text = text, .json = json::serialize(*asked)};
}

Result<Answer> list(const NodeOptions& options) {
    RAMPART_TRY(const auto document, ask_node(options.config, "/v1/stops"));
    Answer answer{.json = json::serialize(document)};
    for (const auto& one : document.at("stops").as_array()) {
        answer.text += one.at("to").is_null() ? "IN FORCE  " : "          ";
        answer.text += line_of(one);
    }
    if (answer.text.empty()) answer.text = "nothing was ever stopped\n";
    return answer;
}

void add(Frame& frame, const std::string& name, const std::string& summary) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "stop " + name,
         .summary = summary,
         .example = fmt::format("rampart stop {} --reason 'complaints from branch 7' --config "
                                "rampartd.toml",
                                name),
         .detail = "At once at the running node, and within 2 s at all nodes of its group, until "
                   "it is ended with --end; a restart changes nothing. What is decided meanwhile "
                   "is no evidence for the gate."},
        [name, options](const Context&) { return stop(name, *options); });
    add_change_options(command, options->node);
    command.add_flag("--end", options->end, "end it: from now on is decided as before");
}

}  // namespace

void add_stop_exploration(Frame& frame) {
    add(frame, "exploration", "Decide by the champion without exploration");
}

void add_stop_rules_only(Frame& frame) {
    add(frame, "rules-only", "Decide by the first policy, the declared rule");
}

void add_stop_refer_all(Frame& frame) {
    add(frame, "refer-all", "Refer all applications to people");
}

void add_stop_list(Frame& frame) {
    auto options = std::make_shared<NodeOptions>();
    auto& command = frame.add({.name = "stop list",
                               .summary = "List what is stopped and what was, with who and why",
                               .example = "rampart stop list --config rampartd.toml"},
                              [options](const Context&) { return list(*options); });
    add_node_options(command, *options);
}

}  // namespace rampart::cli
