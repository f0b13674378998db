// person export: all that a store holds of one person.
#include "store/person.hpp"

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "frame/node_access.hpp"
#include "frame/reasons.hpp"
#include "rampart/base/new_file.hpp"
#include "services/rampartd/person_document.hpp"
#include "store/person_page.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;

struct Options : NodeOptions {
    std::string person, application;
    fs::path out;
};

/// Refuses a file that is there, or an id that cannot be one, before a store is opened.
base::Status check(const Options& options) {
    const bool by_person = options.application.empty();
    RAMPART_RETURN_IF_ERROR(domain::check_id(by_person ? "--person" : "--application",
                                             by_person ? options.person : options.application));
    return options.out.empty() ? base::ok() : check_new("--out", options.out);
}

/// Returns what the store holds, in one line.
std::string counts_text(const data_retention::PersonRecord& record) {
    return fmt::format(
        "{} decisions, {} records of the log, {} in quarantine, {} versions of protected "
        "attributes, {} legal holds, {} requests, {} entries of the audit log\n",
        record.decisions.size(), record.log.size(), record.quarantine.size(),
        record.attribute_versions.size(), record.holds.size(), record.jobs.size(),
        record.audit.size());
}

Answer answer_of(const data_retention::PersonRecord& record, std::string text) {
    Answer answer;
    answer.json = std::move(text);
    if (const auto erased = record.erased_at())
        answer.notes.push_back(
            fmt::format("the person was erased on {}: {}", base::to_iso8601(*erased).substr(0, 10),
                        record.empty() ? "nothing is held but the entries of the audit log"
                                       : "this is what was left, or has come since"));
    if (record.in_vault.value_or(true))
        answer.notes.push_back(fmt::format(
            "the outcomes of this person {} among those that the gate tests with: who makes "
            "candidates must not read them",
            record.in_vault ? "are" : "may, since this node does not train, be"));
    for (size_t i = 2; i < record.elsewhere.size(); ++i)
        answer.notes.push_back("not in this export: " + record.elsewhere[i]);
    return answer;
}

Result<Answer> export_record(const Options& options) {
    RAMPART_RETURN_IF_ERROR(check(options));
    RAMPART_TRY(const auto node, open_existing(options.config));
    RAMPART_TRY(const auto record, node->export_person({domain::PersonId(options.person),
                                                        domain::ApplicationId(options.application),
                                                        options.actor, options.reason}));
    RAMPART_TRY(const auto registered, rampartd::in_registry(record, node->registry()));
    auto answer = answer_of(record, rampartd::to_json(record, registered));
    const auto document = json::parse(answer.json).as_object();
    if (options.out.empty()) {
        answer.text = person_text(document);
        return answer;
    }
    const bool data = options.out.extension() == ".json";
    RAMPART_RETURN_IF_ERROR(
        base::write_new_file(options.out, data ? answer.json + "\n" : person_page(document), 0600));
    answer.text = fmt::format("wrote {}: {}", options.out.string(), counts_text(record));
    return answer;
}

}  // namespace

void add_person_export(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "person export",
         .summary = "Export all that a store holds of one person, as JSON or a page",
         .example = "rampart person export --person p-4711 --config audit.toml --reason asked "
                    "--out p-4711.html",
         .detail =
             "Decisions with features, draw, reasons and explanation; outcomes, overrides and what "
             "was joined; protected attributes; what waits in the log or lies in quarantine; legal "
             "holds, erasures, requests, entries of the audit log; the policies that decided. All "
             "of it is shown, protected attributes too, since who runs this has the store's keys. "
             "Keys and secrets are never shown. A part that cannot be read is named, and nothing "
             "is written. The export is an entry of the audit log, under the person's tag. Of a "
             "person in the vault, or at a node that does not train, it needs audit.enabled and "
             "--reason. No "
             "node may be serving the store: stop it first. Exit code 2: the store knows no such "
             "person or application."},
        [options](const Context&) { return export_record(*options); });
    command.add_option("--config", options->config, "rampartd.toml of the store")->required();
    auto* who = command.add_option_group("Person");
    who->add_option("--person", options->person, "the person's id; or --application");
    who->add_option("--application", options->application,
                    "the id of one of the person's applications");
    who->require_option(1);
    command.add_option("--out", options->out,
                       "new file, readable by its owner only: a page, or the JSON document if its "
                       "name ends in .json; default: text on standard output");
    add_actor_option(command, options->actor);
    command.add_option(
        "--reason", options->reason,
        "reason, for the audit log; name no person. Needed of a person in the vault");
}

}  // namespace rampart::cli
