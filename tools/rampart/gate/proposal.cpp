// proposal list, show, approve, reject: certified policies that wait for people.
#include "gate/proposal.hpp"

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "frame/frame.hpp"
#include "frame/node_access.hpp"
#include "frame/printable.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using base::Result;

struct Options {
    NodeOptions node;
    uint64_t number = 0;
    std::string digest, comment;
    std::optional<std::string> switch_at;  // empty is refused by the node, not left out
};

std::string row(std::string_view name, const std::string& text) {
    return fmt::format("{:<14}{}\n", name, text);
}

std::string text_of_member(const json::object& proposal, const char* name) {
    return text_of(proposal.at(name));
}

/// Returns "2 of 2 approvals (anna, bert)".
std::string approvals_text(const json::object& proposal) {
    const auto& approvals = proposal.at("approvals").as_array();
    std::string names;
    for (const auto& one : approvals)
        names += fmt::format("{}{}", names.empty() ? "" : ", ", text_of(one.at("by")));
    return fmt::format("{} of {} approvals{}", approvals.size(),
                       text_of_member(proposal, "approvals_needed"),
                       names.empty() ? "" : fmt::format(" ({})", names));
}

std::string state_text(const json::object& proposal) {
    const auto state = text_of_member(proposal, "state");
    const auto& why = proposal.at("why");
    if (!why.is_null()) return fmt::format("{} ({})", state, text_of(why));
    if (state != "scheduled") return state;
    return fmt::format("{} ({})", state, text_of_member(proposal, "switch_at"));
}

std::string text_of_proposal(const json::object& proposal) {
    const auto member = [&](const char* name) { return text_of_member(proposal, name); };
    std::string text =
        row("proposal", member("id")) + row("state", state_text(proposal)) +
        row("policy", member("policy")) + row("replaces", member("replaces")) +
        (proposal.at("assignment").is_null()
             ? ""
             : row("challenger", fmt::format("of a share of {} of people, in assignment {}",
                                             proposal.at("share").to_number<double>(),
                                             printable(member("assignment"))))) +
        row("certificate", member("certificate")) + row("valid until", member("valid_until")) +
        row("proposed", fmt::format("{} by {}", member("at"), member("proposed_by"))) +
        row("expires", member("expires")) + row("approvals", approvals_text(proposal));
    for (const auto& one : proposal.at("approvals").as_array())
        text += row("", fmt::format("{} at {}: {}", text_of(one.at("by")), text_of(one.at("at")),
                                    printable(text_of(one.at("comment")))));
    if (!proposal.at("switch_at").is_null()) text += row("switch at", member("switch_at"));
    if (!proposal.at("ended_at").is_null())
        text += row("ended", fmt::format("{} by {}: {}", member("ended_at"), member("ended_by"),
                                         printable(member("comment"))));
    return text + row("digest", member("digest"));
}

Result<Answer> list(const Options& options) {
    RAMPART_TRY(const auto document, ask_node(options.node.config, "/v1/proposals"));
    Answer answer{.json = json::serialize(document)};
    for (const auto& value : document.at("proposals").as_array()) {
        const auto& one = value.as_object();
        answer.text += fmt::format("{:>4}  {:<28}{}  policy {}, expires {}\n",
                                   text_of_member(one, "id"), state_text(one), approvals_text(one),
                                   text_of_member(one, "policy"), text_of_member(one, "expires"));
    }
    if (answer.text.empty()) answer.text = "nothing was ever proposed\n";
    return answer;
}

Answer answer_of(const json::value& document) {
    return {.text = text_of_proposal(document.at("proposal").as_object()),
            .json = json::serialize(document)};
}

Result<Answer> show(const Options& options) {
    RAMPART_TRY(const auto document,
                ask_node(options.node.config, fmt::format("/v1/proposals/{}", options.number)));
    return answer_of(document);
}

Result<Answer> judge(const std::string& action, const Options& options) {
    json::object body{{"digest", options.digest}, {"comment", options.comment}};
    if (options.switch_at) body["switch_at"] = *options.switch_at;
    RAMPART_TRY(const auto document,
                tell_node(options.node.config,
                          fmt::format("/v1/proposals/{}/{}", options.number, action), body));
    return answer_of(document);
}

void add_judgement(Frame& frame, const std::string& action, const std::string& summary,
                   const std::string& detail) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "proposal " + action,
         .summary = summary,
         .example = fmt::format("rampart proposal {} 3 --digest 9c41… --comment 'minutes of the "
                                "credit board, 12 May' --config rampartd.toml",
                                action),
         .detail = detail + " At the running node that trains, with a token of scope approve: "
                            "RAMPART_TOKEN_FILE names its file."},
        [action, options](const Context&) { return judge(action, *options); });
    command.add_option("NUMBER", options->number, "the proposal, as `proposal list` shows it")
        ->required();
    command.add_option("--digest", options->digest, "its digest, as `proposal show` shows it")
        ->required();
    command.add_option("--comment", options->comment, "why, for the audit log")->required();
    if (action == "approve")
        command.add_option("--switch-at", options->switch_at,
                           "when it is to decide (ISO 8601); default: with the last approval");
    add_node_options(command, options->node);
}

}  // namespace

void add_proposal_list(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command =
        frame.add({.name = "proposal list",
                   .summary = "List certified policies that wait for people, and those that did",
                   .example = "rampart proposal list --config rampartd.toml",
                   .detail = "Latest first, from the running node that trains."},
                  [options](const Context&) { return list(*options); });
    add_node_options(command, options->node);
}

void add_proposal_show(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "proposal show",
         .summary = "Show one proposal with its digest, which an approval has to name",
         .example = "rampart proposal show 3 --config rampartd.toml",
         .detail = "It has no figure of the vault: `rampart verify` and `rampart figures` show "
                   "the certificate to those who may see it."},
        [options](const Context&) { return show(*options); });
    command.add_option("NUMBER", options->number, "the proposal, as `proposal list` shows it")
        ->required();
    add_node_options(command, options->node);
}

void add_proposal_approve(Frame& frame) {
    add_judgement(frame, "approve", "Approve a certified policy, so that it decides",
                  "The last approval that is needed switches, or, where all approvals name one "
                  "time, schedules the switch: `proposal reject`, a rollback and the stop "
                  "rules-only cancel it. Who proposed the candidate may not approve it, and each "
                  "principal counts once.");
}

void add_proposal_reject(Frame& frame) {
    add_judgement(frame, "reject", "Reject a certified policy",
                  "It ends the proposal; the champion stays, and so does what the gate charged.");
}

}  // namespace rampart::cli
