// challenger start, end, list: certified policies that decide beside the champion.
#include "node/challenger.hpp"

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <charconv>

#include "frame/frame.hpp"
#include "frame/node_access.hpp"
#include "frame/printable.hpp"
#include "frame/reasons.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using base::Result;

struct Options {
    NodeOptions node;
    std::string id;
    std::vector<std::string> arms;  // "POLICY=SHARE"
};

Result<json::value> arm_of(const std::string& text) {
    const auto equals = text.find('=');
    double share = 0;
    const char* const end = text.data() + text.size();
    const char* const begin = equals == std::string::npos ? end : text.data() + equals + 1;
    const auto [last, failure] = std::from_chars(begin, end, share);
    if (failure == std::errc() && last == end && begin != end)
        return json::value{{"policy", text.substr(0, equals)}, {"share", share}};
    return base::make_error(Reason::kMisuse,
                            "--arm: '{}' is not POLICY=SHARE, with a share between 0 and 1",
                            printable(text));
}

std::string text_of_assignment(const json::value& one) {
    const auto text = [&](const char* name) { return printable(text_of(one.at(name))); };
    auto out = fmt::format("{:<16}from {} by {}", text("id"), text("from"), text("by"));
    if (!one.at("to").is_null()) out += fmt::format("; to {} by {}", text("to"), text("ended_by"));
    out += "\n";
    for (const auto& arm : one.at("arms").as_array())
        out += fmt::format("    {:<8}{}\n", arm.at("share").to_number<double>(),
                           text_of(arm.at("policy")));
    return out;
}

Result<Answer> start(const Options& options) {
    json::array arms;
    for (const auto& text : options.arms) {
        RAMPART_TRY(auto arm, arm_of(text));
        arms.push_back(std::move(arm));
    }
    RAMPART_TRY(const auto document, tell_node(options.node.config, "/v1/assignments",
                                               {{"id", options.id},
                                                {"arms", std::move(arms)},
                                                {"reason", options.node.reason}}));
    const auto& assignment = document.at("assignment");
    Answer answer{.json = json::serialize(document)};
    if (!assignment.is_null()) {
        answer.text = text_of_assignment(assignment);
        return answer;
    }
    const auto& proposal = document.at("proposal");
    answer.text = fmt::format("proposal {}: {}, needs {} of scope approve until {}\ndigest: {}\n",
                              text_of(proposal.at("id")), text_of(proposal.at("state")),
                              text_of(proposal.at("approvals_needed")),
                              text_of(proposal.at("expires")), text_of(proposal.at("digest")));
    return answer;
}

Result<Answer> end(const Options& options) {
    RAMPART_TRY(const auto document,
                remove_at_node(options.node.config,
                               fmt::format("/v1/assignments/{}?reason={}", query_value(options.id),
                                           query_value(options.node.reason))));
    return Answer{.text = text_of_assignment(document.at("assignment")),
                  .json = json::serialize(document)};
}

Result<Answer> list(const NodeOptions& options) {
    RAMPART_TRY(const auto document, ask_node(options.config, "/v1/assignments"));
    Answer answer{.json = json::serialize(document)};
    for (const auto& one : document.at("assignments").as_array())
        answer.text +=
            (one.at("to").is_null() ? "IN FORCE  " : "          ") + text_of_assignment(one);
    if (answer.text.empty()) answer.text = "no challenger ever decided\n";
    return answer;
}

}  // namespace

void add_challenger_start(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "challenger start",
         .summary = "Let a certified policy decide about a share of people beside the champion",
         .example = "rampart challenger start --id spring --arm 9c41…=0.1 --reason 'a month beside "
                    "the champion' --config rampartd.toml",
         .detail =
             "At the running node that trains; the nodes of its group follow. The policy needs "
             "what a promotion needs. The champion has the rest of the shares. It ends by "
             "`challenger end`, by the next start and by every change of the champion. With "
             "training.on_certified = \"propose\" it waits for approval (`rampart proposal`)."},
        [options](const Context&) { return start(*options); });
    command.add_option("--id", options->id, "a name for it, never used before")->required();
    command.add_option("--arm", options->arms, "POLICY=SHARE of a challenger; may be repeated")
        ->required();
    add_change_options(command, options->node);
}

void add_challenger_end(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "challenger end",
         .summary = "Let the champion alone decide again",
         .example = "rampart challenger end spring --reason 'the month is over' --config "
                    "rampartd.toml",
         .detail =
             "At the running node that trains; the nodes of its group follow within seconds."},
        [options](const Context&) { return end(*options); });
    command.add_option("ID", options->id, "the name, as `challenger list` shows it")->required();
    add_change_options(command, options->node);
}

void add_challenger_list(Frame& frame) {
    auto options = std::make_shared<NodeOptions>();
    auto& command = frame.add(
        {.name = "challenger list",
         .summary = "List which policies decide beside the champion, and which did",
         .example = "rampart challenger list --config rampartd.toml",
         .detail = "Latest first, from the running node that trains. `rampart registry at` shows "
                   "who decided at a time."},
        [options](const Context&) { return list(*options); });
    add_node_options(command, *options);
}

}  // namespace rampart::cli
