// erase, hold add|remove|list: erasure of a person, and what forbids it.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"
#include "rampart/data_retention/reasons.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;

struct Options : NodeOptions {
    std::string person, application, matter, until;
    bool dry_run = false;
};

/// Returns an answer where the rules refuse or there is nothing to erase; everything else is an
/// error.
Result<Answer> refused(const base::Error& error) {
    const bool unknown = error.is(data_retention::Reason::kUnknownPerson);
    if (!unknown && !error.is(data_retention::Reason::kOnHold) &&
        !error.is(data_retention::Reason::kRetention))
        return error;
    Answer answer;
    answer.exit_code = ExitCode::kNo;
    answer.text = fmt::format("{}: {}\n", unknown ? "unknown" : "refused", error.message);
    answer.json = json::serialize(
        json::object{{"erased", false}, {"refused", error.reason}, {"message", error.message}});
    return answer;
}

Result<Answer> erase(const Options& options) {
    json::object body{{"reason", options.reason}, {"dry_run", options.dry_run}};
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
        answer.text += fmt::format("  decision {} of {}\n", text_of(one.at("decision_id")),
                                   text_of(one.at("decided_at")).substr(0, 10));
    }
    answer.text += fmt::format("  quarantined records: {}\n  protected attributes: {}\n",
                               text_of(report.at("quarantined")),
                               report.at("protected_attributes").as_bool() ? "yes" : "none");
    if (!options.dry_run) {
        answer.text += fmt::format("  keys destroyed: {}\n", text_of(report.at("keys_destroyed")));
    }
    answer.text += "stays:\n";
    for (const auto& sentence : report.at("remains").as_array()) {
        answer.text += fmt::format("  {}\n", std::string(sentence.get_string()));
    }
    return answer;
}

Result<Answer> hold(const Options& options, bool add) {
    json::object body{
        {"person_id", options.person}, {"matter", options.matter}, {"reason", options.reason}};
    if (add && !options.until.empty()) body["until"] = options.until;
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
        answer.text +=
            fmt::format("{:<34}{:<20}{:<12}{:<12}{:<10}{}\n", text_of(one.at("person")),
                        text_of(one.at("matter")), text_of(one.at("since")).substr(0, 10),
                        text_of(one.at("until")).substr(0, 10),
                        one.at("in_force").as_bool() ? "yes" : "no", text_of(one.at("reason")));
    }
    return answer;
}

CLI::App& add_change(Frame& frame, const CommandSpec& spec, const std::shared_ptr<Options>& options,
                     Run run) {
    auto& command = frame.add(spec, std::move(run));
    add_change_options(command, *options);
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
         .summary = "Erase a person's records from state, index, quarantine, log and files",
         .example = "rampart erase --person p-4711 --reason 'request 2026-118' --config "
                    "rampartd.toml",
         .detail = "All records of the person are erased, also when --application names one of "
                   "several applications. What stays elsewhere is listed. The erasure is a job of "
                   "the node, which goes on after a crash; the command follows it, and run again "
                   "joins it. Exit code 1: a legal hold or the retention "
                   "period forbids it (the answer says which and until when), or there is no "
                   "record of that person; 2: there is no decision on that application."},
        options, [options](const Context&) { return erase(*options); });
    auto* who = command.add_option_group("Person");
    who->add_option("--person", options->person, "the person's id; or --application");
    who->add_option("--application", options->application,
                    "the id of one of the person's applications");
    who->require_option(1);
    command.add_flag("--dry-run", options->dry_run,
                     "list what would be erased, and change nothing");
}

void add_hold_add(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = add_hold_change(
        frame,
        {.name = "hold add",
         .summary = "Add a legal hold: a person's records may not be erased",
         .example = "rampart hold add --person p-4711 --matter court-12 --until 2028-01-01 "
                    "--reason 'claim' --config rampartd.toml"},
        options, true);
    command.add_option("--matter", options->matter, "the matter of the hold; one hold per matter")
        ->required();
    command.add_option("--until", options->until,
                       "last day of the hold, YYYY-MM-DD; default: until it is removed");
}

void add_hold_remove(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = add_hold_change(
        frame,
        {.name = "hold remove",
         .summary = "Remove a legal hold, so that the person can be erased",
         .example = "rampart hold remove --person p-4711 --matter court-12 --reason 'settled' "
                    "--config rampartd.toml"},
        options, false);
    command.add_option("--matter", options->matter, "the matter, as given to 'hold add'")
        ->required();
}

void add_hold_list(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add({.name = "hold list",
                               .summary = "List legal holds by person",
                               .example = "rampart hold list --config rampartd.toml",
                               .detail = "Persons are shown as tags: no id is stored."},
                              [options](const Context&) { return list_holds(*options); });
    add_node_options(command, *options);
}

}  // namespace rampart::cli
