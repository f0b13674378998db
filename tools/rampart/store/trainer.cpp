// trainer hand-over, take-over, take-back: which node of a group trains.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <filesystem>
#include <optional>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"
#include "frame/reasons.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/storage/folder.hpp"
#include "services/rampartd/settings.hpp"
#include "services/rampartd/trainer_move.hpp"
#include "store/passphrase.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;

struct Options : NodeOptions {
    fs::path file, passphrase;
    std::optional<uint64_t> over;
};

/// Returns the request with the time that the audit log goes by.
Result<rampartd::KeyRequest> request_of(const Options& options,
                                        const rampartd::Settings& settings) {
    base::TimePoint now = runtime::SystemClock().now();
    if (settings.event_clock && storage::is_database(settings.store / "registry" / "registry")) {
        RAMPART_TRY(const auto registry,
                    registry::ModelRegistry::open(settings.store / "registry",
                                                  registry::ModelRegistry::Mode::kReadOnly));
        if (registry->champion()) now = registry->champion()->at;
    }
    return rampartd::KeyRequest{options.actor, options.reason, now};
}

Answer answer_of(const rampartd::HandOver& about, const fs::path& file, std::string text) {
    Answer answer;
    answer.text = std::move(text);
    answer.json = json::serialize(json::object{{"file", file.string()},
                                               {"id", about.id},
                                               {"node", about.node},
                                               {"epoch", about.seat.held->epoch},
                                               {"ledger_entries", about.ledger_entries}});
    return answer;
}

Result<Answer> hand_over(const Options& options) {
    RAMPART_TRY(const auto settings, rampartd::load_settings(options.config));
    RAMPART_RETURN_IF_ERROR(check_exists(settings));
    std::error_code failure;
    if (fs::exists(options.file, failure))
        return base::make_error(Reason::kMisuse, "--out {}: there is such a file already",
                                options.file.string());
    RAMPART_TRY(auto passphrase, read_passphrase(options.passphrase, true));
    RAMPART_TRY(auto by, request_of(options, settings));
    RAMPART_TRY(
        const auto about,
        rampartd::hand_over(settings, {options.file, std::move(passphrase), std::move(by)}));
    auto answer =
        answer_of(about, options.file,
                  fmt::format("{}: the training of group '{}', handed over under epoch {}\n",
                              options.file.string(), about.group, about.seat.held->epoch));
    answer.notes.push_back(
        "this store does not train any more; the node may be started, and decides on");
    answer.notes.push_back("take the file over at one node, once, and then delete it");
    return answer;
}

Result<Answer> take_over(const Options& options) {
    RAMPART_TRY(const auto settings, rampartd::load_settings(options.config));
    RAMPART_TRY(auto passphrase, read_passphrase(options.passphrase, false));
    RAMPART_TRY(auto by, request_of(options, settings));
    RAMPART_TRY(
        const auto about,
        rampartd::take_over(settings, {options.file, std::move(passphrase), std::move(by)}));
    auto answer =
        answer_of(about, options.file,
                  fmt::format("this store trains for group '{}', in the place of node '{}'; its "
                              "ledger has {} entries\n",
                              about.group, about.node, about.ledger_entries));
    answer.notes.push_back(fmt::format("what this store had before is in {}",
                                       (settings.store / ".before-take-over" / about.id).string()));
    answer.notes.push_back("start the node, and make a copy of its keys: rampart keys export");
    return answer;
}

Result<Answer> take_back(const Options& options) {
    RAMPART_TRY(const auto settings, rampartd::load_settings(options.config));
    RAMPART_RETURN_IF_ERROR(check_exists(settings));
    RAMPART_TRY(const auto by, request_of(options, settings));
    RAMPART_RETURN_IF_ERROR(rampartd::take_back(settings, options.over, by));
    Answer answer;
    answer.text = "this store trains again from its next start on\n";
    answer.json = json::serialize(json::object{{"trains", true}});
    return answer;
}

void add_request_options(CLI::App& command, Options& options) {
    command.add_option("--config", options.config, "rampartd.toml of the store")->required();
    command.add_option("--reason", options.reason, "reason, for the audit log")->required();
    add_actor_option(command, options.actor);
}

}  // namespace

void add_trainer_hand_over(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "trainer hand-over",
         .summary = "End the training in a store, and put it into one file, under a passphrase",
         .example = "rampart trainer hand-over --config rampartd.toml --out training.rt "
                    "--passphrase-file passphrase --reason 'new machine'",
         .detail = "The file has models, certificates, the ledger of the error budget, runs and "
                   "keys. The store does not train any more, and its node decides on. It may be "
                   "repeated: the last file counts. No node may be serving the store."},
        [options](const Context&) { return hand_over(*options); });
    command.add_option("--out", options->file, "file to write, which does not exist yet")
        ->required();
    add_passphrase_option(command, options->passphrase);
    add_request_options(command, *options);
}

void add_trainer_take_over(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "trainer take-over",
         .summary = "Let a store train in the place of the one that handed over",
         .example = "rampart trainer take-over training.rt --config rampartd.toml "
                    "--passphrase-file passphrase --reason 'new machine'",
         .detail = "The ledger is compared with the log. A file is good once; after a crash, run "
                   "the command again. No node may be serving the store."},
        [options](const Context&) { return take_over(*options); });
    command.add_option("FILE", options->file, "file that `trainer hand-over` wrote")->required();
    add_passphrase_option(command, options->passphrase);
    add_request_options(command, *options);
}

void add_trainer_take_back(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "trainer take-back",
         .summary = "Let a store train again that has handed over, or was restored",
         .example = "rampart trainer take-back --config rampartd.toml --reason 'file lost'",
         .detail = "Files that were handed over are good for nothing then. It is refused where "
                   "another store, or a later state of this one, has trained since: with --over, "
                   "what was charged to the error budget there is charged to none. No node may "
                   "be serving the store."},
        [options](const Context&) { return take_back(*options); });
    command.add_option("--over", options->over,
                       "epoch of the store that trained last, as the refusal names it");
    add_request_options(command, *options);
}

}  // namespace rampart::cli
