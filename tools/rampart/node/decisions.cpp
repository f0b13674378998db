// decisions: those that a running node has joined, by whom and what they are about.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <map>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"
#include "rampart/report/probability.hpp"
#include "rampart/report/text_table.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using base::Result;

constexpr size_t kPage = 1000;   // decisions that a node gives at once
constexpr size_t kIdShown = 12;  // characters of a policy's id

struct Options {
    NodeOptions node;
    std::map<std::string, std::string> filters;  // parameters of the query, as typed
    size_t limit = 20;
    bool newest = false;
};

std::string target_of(const Options& options, size_t limit, const std::string& cursor) {
    auto target =
        fmt::format("/v1/decisions?limit={}{}", limit, options.newest ? "&order=newest" : "");
    for (const auto& [name, value] : options.filters)
        if (!value.empty()) target += fmt::format("&{}={}", name, query_value(value));
    return cursor.empty() ? target : target + "&cursor=" + query_value(cursor);
}

std::string table_of(const json::array& decisions) {
    report::Table table{{"decision", "applied", "person", "action", "P(approve)", "policy"}};
    for (const auto& one : decisions) {
        const auto& application = one.at("application");
        table.push_back({text_of(one.at("decision_id")), text_of(application.at("event_time")),
                         text_of(application.at("person_id")), text_of(one.at("action")),
                         report::probability_text(one.at("p_approve").to_number<double>()),
                         text_of(one.at("policy_id")).substr(0, kIdShown)});
    }
    return report::align(table, 4);
}

Result<Answer> list(const Options& options) {
    json::array found;
    std::string cursor;
    int64_t looked_at = 0;
    do {
        const size_t wanted = std::min(kPage, options.limit - found.size());
        RAMPART_TRY(const auto page,
                    ask_node(options.node.config, target_of(options, wanted, cursor)));
        for (const auto& one : page.at("decisions").as_array()) found.push_back(one);
        looked_at += page.at("looked_at").as_int64();
        const auto& next = page.at("next_cursor");
        cursor = next.is_null() ? std::string() : text_of(next);
    } while (!cursor.empty() && found.size() < options.limit);
    Answer answer;
    answer.text = found.empty() ? std::string("no decision fits\n") : table_of(found);
    if (!cursor.empty())
        answer.notes.push_back(
            options.newest ? "there may be more: raise --limit, or end earlier with --to"
                           : "there may be more: raise --limit, or begin later with --from");
    answer.json = json::serialize(json::object{
        {"decisions", std::move(found)}, {"looked_at", looked_at}, {"more", !cursor.empty()}});
    return answer;
}

}  // namespace

void add_decisions(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "decisions",
         .summary =
             "List decisions of a running node by person, application, time, policy or action",
         .example = "rampart decisions --person p-4711 --config rampartd.toml",
         .detail = "Oldest application first, or newest with --newest, as far as the node has "
                   "joined them; the filters hold together. With --json each decision is whole, "
                   "with its features. Outcomes are "
                   "not shown, nor what people decided later. Each search is "
                   "an entry of the node's audit log, once an hour. The caller needs the scope "
                   "audit."},
        [options](const Context&) { return list(*options); });
    add_node_options(command, options->node);
    const auto add = [&](const char* name, const char* help) {
        return command.add_option(fmt::format("--{}", name), options->filters[name], help);
    };
    add("person", "the person's id");
    add("application", "the application's id");
    add("policy", "id of the policy that decided, whole");
    add("action", "the policy's action")->check(CLI::IsMember({"approve", "decline", "refer"}));
    add("reason", "a code among the decision's reasons, such as random_draw_in_ramp");
    add("from", "applications of this time (ISO 8601) or later");
    add("to", "applications before this time (ISO 8601)");
    command.add_flag("--newest", options->newest, "the newest application first");
    command.add_option("--limit", options->limit, "number of decisions, at most")
        ->check(CLI::Range(size_t{1}, size_t{100'000}))
        ->capture_default_str();
}

}  // namespace rampart::cli
