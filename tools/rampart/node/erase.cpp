// erase, hold add|remove|list: what a lender owes a person, and what forbids it.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;

struct Options {
    fs::path config;
    std::string person, application, matter, until, reason, actor = "operator";
    bool dry_run = false;
};

std::string text_of(const json::object& object, const char* name) {
    const auto& value = object.at(name);
    if (value.is_null()) return "-";
    return value.is_string() ? std::string(value.get_string()) : json::serialize(value);
}

/// That it is refused by the rules, or that there is nothing to erase, is an answer; everything
/// else is an error.
Result<Answer> refused(const base::Error& error) {
    const bool unknown = error.reason == "unknown_person";
    if (!unknown && error.reason != "on_hold" && error.reason != "retention") return error;
    Answer answer;
    answer.exit_code = 1;
    answer.text = fmt::format("{}: {}\n", unknown ? "unknown" : "refused", error.message);
    answer.json = json::serialize(
        json::object{{"erased", false}, {"refused", error.reason}, {"message", error.message}});
    return answer;
}

Result<Answer> erase(const Options& options) {
    json::object body{{"actor", options.actor},
                      {"reason", options.reason},
                      {"dry_run", options.dry_run ? "yes" : "no"}};
    const bool by_person = !options.person.empty();
    body[by_person ? "person_id" : "application_id"] =
        by_person ? options.person : options.application;
    const auto document = tell_node(options.config, "/v1/erasures", body);
    if (!document) return refused(document.error());
    const auto& report = document->as_object();
    Answer answer;
    answer.json = json::serialize(report);
    answer.text = options.dry_run ? "would be erased:\n" : "erased:\n";
    for (const auto& item : report.at("decisions").as_array()) {
        const auto& one = item.as_object();
        answer.text += fmt::format("  decision {} of {}\n", text_of(one, "decision_id"),
                                   text_of(one, "decided_at").substr(0, 10));
    }
    answer.text += fmt::format("  quarantined records: {}\n  protected attributes: {}\n",
                               text_of(report, "quarantined"),
                               report.at("protected_attributes").as_bool() ? "yes" : "none");
    if (!options.dry_run) {
        answer.text += fmt::format("  keys destroyed: {}\n", text_of(report, "keys_destroyed"));
    }
    answer.text += "stays:\n";
    for (const auto& sentence : report.at("remains").as_array()) {
        answer.text += fmt::format("  {}\n", std::string(sentence.get_string()));
    }
    return answer;
}

Result<Answer> hold(const Options& options, bool add) {
    json::object body{{"person_id", options.person},
                      {"matter", options.matter},
                      {"actor", options.actor},
                      {"reason", options.reason}};
    if (add) body["until"] = options.until;
    RAMPART_TRY(const auto document,
                tell_node(options.config, add ? "/v1/holds" : "/v1/holds/remove", body));
    Answer answer;
    answer.json = json::serialize(document);
    answer.text = add ? fmt::format("held in the matter '{}' until {}\n", options.matter,
                                    options.until.empty() ? "it is removed" : options.until)
                      : fmt::format("no longer held in the matter '{}'\n", options.matter);
    return answer;
}

Result<Answer> list_holds(const Options& options) {
    RAMPART_TRY(const auto document, ask_node(options.config, "/v1/holds"));
    Answer answer;
    answer.json = json::serialize(document);
    answer.text = fmt::format("{:<34}{:<20}{:<12}{:<12}{:<10}{}\n", "person (tag)", "matter",
                              "since", "until", "in force", "reason");
    for (const auto& item : document.at("holds").as_array()) {
        const auto& one = item.as_object();
        answer.text += fmt::format(
            "{:<34}{:<20}{:<12}{:<12}{:<10}{}\n", text_of(one, "person"), text_of(one, "matter"),
            text_of(one, "since").substr(0, 10), text_of(one, "until").substr(0, 10),
            one.at("in_force").as_bool() ? "yes" : "no", text_of(one, "reason"));
    }
    return answer;
}

/// What all have that change something.
CLI::App& add_change(Frame& frame, const CommandSpec& spec, const std::shared_ptr<Options>& options,
                     Run run) {
    auto& command = frame.add(spec, std::move(run));
    command.add_option("--config", options->config, "rampartd.toml of the running node")
        ->required();
    command.add_option("--reason", options->reason, "why, for the audit log")->required();
    command.add_option("--actor", options->actor, "who asks, for the audit log")
        ->capture_default_str();
    return command;
}

CLI::App& add_hold_change(Frame& frame, const CommandSpec& spec,
                          const std::shared_ptr<Options>& options, bool add) {
    auto& command = add_change(frame, spec, options,
                               [options, add](const Context&) { return hold(*options, add); });
    command.add_option("--person", options->person, "the person's id")->required();
    return command;
}

}  // namespace

void add_erase(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = add_change(
        frame,
        {.name = "erase",
         .summary = "Forget a person, in state, index, quarantine, log and files",
         .example = "rampart erase --person p-4711 --reason 'request 2026-118' --config "
                    "rampartd.toml",
         .detail = "All that is held of the person goes, also where --application names one of "
                   "several applications. What stays elsewhere is listed. Ask again after a crash: "
                   "it goes on. Exit code 0: erased; 1: a hold or the retention forbids it, which "
                   "and until when is said, or nothing is held of that person; 2: misuse, or no "
                   "decision is known by that application."},
        options, [options](const Context&) { return erase(*options); });
    auto* who = command.add_option_group("who");
    who->add_option("--person", options->person, "the person's id");
    who->add_option("--application", options->application, "the id of an application of his");
    who->require_option(1);
    command.add_flag("--dry-run", options->dry_run, "say what there is, and change nothing");
}

void add_hold_add(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = add_hold_change(
        frame,
        {.name = "hold add",
         .summary = "Forbid to erase a person",
         .example = "rampart hold add --person p-4711 --matter court-12 --until 2028-01-01 "
                    "--reason 'claim' --config rampartd.toml"},
        options, true);
    command.add_option("--matter", options->matter, "what it is about; one hold a matter")
        ->required();
    command.add_option("--until", options->until, "last until this day; default: until removed");
}

void add_hold_remove(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = add_hold_change(
        frame,
        {.name = "hold remove",
         .summary = "Let a person be erased again",
         .example = "rampart hold remove --person p-4711 --matter court-12 --reason 'settled' "
                    "--config rampartd.toml"},
        options, false);
    command.add_option("--matter", options->matter, "as given to 'hold add'")->required();
}

void add_hold_list(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add({.name = "hold list",
                               .summary = "Holds, by person",
                               .example = "rampart hold list --config rampartd.toml",
                               .detail = "Persons go by tags: no id is kept."},
                              [options](const Context&) { return list_holds(*options); });
    command.add_option("--config", options->config, "rampartd.toml of the running node")
        ->required();
}

}  // namespace rampart::cli
