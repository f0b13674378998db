// export-log: the records of a store as a log for `rampart gate`, or for a workbench.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"
#include "frame/reasons.hpp"
#include "rampart/base/file.hpp"
#include "rampart/gate_log/log_writer.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;

struct Options : NodeOptions {
    std::string side, at, candidate, reference;
    fs::path out;
};

Result<Answer> export_log(const Options& options) {
    if (options.candidate.empty() != options.reference.empty()) {
        return base::make_error(Reason::kMisuse,
                                "--candidate and --reference are a pair: give both or neither");
    }
    rampartd::ExportRequest request{options.candidate,       options.reference, {},
                                    options.side == "vault", options.actor,     options.reason};
    if (!options.at.empty()) {
        RAMPART_TRY(request.at, base::parse_iso8601(options.at));
    }
    RAMPART_TRY(const auto node, open_existing(options.config));
    RAMPART_TRY(const auto exported, node->export_log(request));
    const bool pair = !options.candidate.empty();
    RAMPART_TRY(const auto files,
                gate_log::write_log(
                    exported.log, exported.development,
                    {.development = !request.vault || pair, .vault = request.vault, .pair = pair}));
    auto settings = options.out;
    settings.replace_extension(".toml");
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(options.out, files.log, 0600));
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(settings, files.settings, 0600));
    const auto at = base::to_iso8601(exported.development.as_known_at);
    Answer answer;
    answer.text = fmt::format("log:      {}\nsettings: {}\nas known: {}\n", options.out.string(),
                              settings.string(), at);
    answer.json = json::serialize(json::object{
        {"log", options.out.string()}, {"settings", settings.string()}, {"as_known_at", at}});
    if (request.vault) {
        answer.notes.push_back(
            "the vault's records up to then count as read: no later run of this store is tested on "
            "them");
    }
    return answer;
}

}  // namespace

void add_export_log(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "export-log",
         .summary = "Write a store's records as a log for `rampart gate`",
         .example = "rampart export-log --config rampartd.toml --side development --out log.csv",
         .detail =
             "The development side has features and weights, to make candidates from. The vault "
             "needs audit.enabled = true and --reason, is in the audit log, and its records count "
             "as read: no later run of the store is tested on them. With --candidate and "
             "--reference, registered models, the log of the vault has both sides and both "
             "policies, as the gate reads them. [impact] and [groups] of its gate.toml are written "
             "beside it, FILE.toml; [gate] is that of rampartd.toml. No node may be serving the "
             "store."},
        [options](const Context&) { return export_log(*options); });
    command.add_option("--config", options->config, "rampartd.toml of the store")->required();
    command.add_option("--side", options->side, "development or vault")
        ->check(CLI::IsMember({"development", "vault"}))
        ->required();
    command.add_option("--at", options->at,
                       "records as known at this time (ISO 8601); default: the latest");
    command.add_option("--candidate", options->candidate, "id of a registered model");
    command.add_option("--reference", options->reference, "id of a registered model");
    command.add_option("--out", options->out, "CSV file to write")->required();
    command.add_option("--reason", options->reason, "reason, for the audit log");
    add_actor_option(command, options->actor);
}

}  // namespace rampart::cli
