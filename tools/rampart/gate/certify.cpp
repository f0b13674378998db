#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/named_file.hpp"
#include "frame/node_access.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/model/model_file.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;

struct Options {
    fs::path config;
    std::string model, at, new_epoch, actor = "operator";
};

/// A path to a model file, which is registered, or the id of a registered model.
Result<domain::PolicyId> registered(rampartd::Node& node, const Options& options,
                                    base::TimePoint at) {
    std::error_code unreadable;
    if (!fs::exists(options.model, unreadable)) {
        RAMPART_TRY(const auto loaded, node.registry().load_model(domain::PolicyId(options.model)));
        return loaded.id;
    }
    RAMPART_TRY(const auto bytes, base::read_file(options.model, base::limits::kMaxModelFileBytes));
    RAMPART_RETURN_IF_ERROR(named_file(model::decode_model_file(bytes)));
    return node.registry().register_model(bytes, at, options.actor);
}

Result<Answer> certify(const Options& options) {
    RAMPART_TRY(const auto node, open_existing(options.config));
    base::TimePoint at = node->now();
    if (!options.at.empty()) {
        RAMPART_TRY(at, base::parse_iso8601(options.at));
    }
    RAMPART_TRY(const auto id, registered(*node, options, at));
    RAMPART_TRY(const auto run, node->certify(id, at, options.new_epoch));
    Answer answer;
    answer.exit_code =
        run.verdict == certification::Verdict::kCertified ? ExitCode::kDone : ExitCode::kNo;
    answer.text = fmt::format("{}{}{}\ncandidate:   {}\nreference:   {}\ncertificate: {}\n",
                              to_string(run.verdict), run.message.empty() ? "" : ": ", run.message,
                              run.candidate, run.reference, run.certificate);
    answer.json = retraining::encode(run);
    return answer;
}

}  // namespace

void add_certify(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "certify",
         .summary = "Test a model at the gate; promote it if CERTIFIED",
         .example = "rampart certify --config rampartd.toml --model candidate.rmp",
         .detail =
             "Charges the error budget (δ ledger) for a run, unless the model is refused before "
             "the vault, the held-out safety set, is read. Exit code 1: any verdict but "
             "CERTIFIED. No node may be serving the store."},
        [options](const Context&) { return certify(*options); });
    command.add_option("--config", options->config, "rampartd.toml of the store")->required();
    command.add_option("--model", options->model, "a model file, or the id of a registered model")
        ->required();
    command.add_option("--at", options->at,
                       "use the data known at this time (ISO 8601); default: now");
    command.add_option(
        "--new-epoch", options->new_epoch,
        "open a new epoch of the error budget with this run, if it is charged; the text is the "
        "reason");
    add_actor_option(command, options->actor);
}

}  // namespace rampart::cli
