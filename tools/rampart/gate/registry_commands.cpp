// models, certify, promote, rollback: which model decides.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/named_file.hpp"
#include "frame/node_access.hpp"
#include "gate/proof_files.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/certification/signer.hpp"
#include "rampart/lease/trainer_seat.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/registry/figures.hpp"
#include "services/rampartd/node.hpp"
#include "services/rampartd/store_layout.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;

std::string time_text(base::TimePoint time) { return base::to_iso8601(time).substr(0, 16); }

constexpr const char* kUncertified = "none (uncertified)";

/// Returns the public name of the certificate that a promotion rests on; nullopt: none.
std::optional<std::string> name_of(const registry::CertificateNames& names,
                                   const registry::Promotion& promotion) {
    if (!promotion.certificate) return std::nullopt;
    return names.name_of(*promotion.certificate);
}

/// Returns when the certificate that a promotion rests on expires; nullopt: no end.
std::optional<std::string> end_of(const std::vector<registry::CertificateInfo>& certificates,
                                  const registry::Promotion& promotion) {
    for (const auto& info : certificates) {
        if (promotion.certificate == info.id && info.valid_until)
            return base::to_iso8601(*info.valid_until);
    }
    return std::nullopt;
}

Result<Answer> list_models(const fs::path& store) {
    RAMPART_TRY(const auto registry,
                registry::ModelRegistry::open(store / "registry",
                                              registry::ModelRegistry::Mode::kReadOnly));
    RAMPART_TRY(const auto models, registry->models());
    RAMPART_TRY(const auto certificates, registry->certificates());
    RAMPART_TRY(const auto names, registry::CertificateNames::read(*registry));
    const auto champion = registry->champion();
    Answer answer;
    answer.text = fmt::format("{:<66}{:<18}{:>10}  {}\n", "model", "registered", "bytes", "");
    json::array model_list, history;
    for (const auto& model : models) {
        const bool champ = champion && champion->policy == model.id;
        answer.text +=
            fmt::format("{:<66}{:<18}{:>10}  {}\n", model.id, time_text(model.registered_at),
                        model.bytes, champ ? "champion" : "");
        model_list.push_back({{"id", model.id.value()},
                              {"registered_at", base::to_iso8601(model.registered_at)},
                              {"bytes", model.bytes},
                              {"champion", champ}});
    }
    answer.text += fmt::format("\n{:<18}{:<12}{:<14}{:<66}{:<22}{}\n", "since", "by", "who",
                               "champion", "certificate", "valid until");
    for (const auto& p : registry->promotions()) {
        const auto name = name_of(names, p);
        const auto end = end_of(certificates, p);
        answer.text += fmt::format("{:<18}{:<12}{:<14}{:<66}{:<22}{}\n", time_text(p.at),
                                   to_string(p.kind), p.actor, p.policy,
                                   name.value_or(kUncertified), end ? end->substr(0, 16) : "-");
        history.push_back({{"at", base::to_iso8601(p.at)},
                           {"kind", registry::to_string(p.kind)},
                           {"policy", p.policy.value()},
                           {"certificate", json::value_from(name)},
                           {"valid_until", json::value_from(end)},
                           {"actor", p.actor},
                           {"reason", p.reason}});
    }
    answer.json = json::serialize(json::object{{"models", model_list}, {"promotions", history}});
    return answer;
}

/// Says which model decided at a time, and since when.
Result<Answer> champion_at(const fs::path& store, const std::string& time) {
    RAMPART_TRY(const auto at, base::parse_iso8601(time));
    RAMPART_TRY(const auto registry,
                registry::ModelRegistry::open(store / "registry",
                                              registry::ModelRegistry::Mode::kReadOnly));
    const auto live = registry->live_at(at);
    if (!live) {
        return Answer{.exit_code = ExitCode::kNo,
                      .text = fmt::format("no champion at {}\n", base::to_iso8601(at)),
                      .json = json::serialize(json::object{{"at", base::to_iso8601(at)},
                                                           {"champion", json::value(nullptr)}}),
                      .notes = {}};
    }
    RAMPART_TRY(const auto names, registry::CertificateNames::read(*registry));
    const auto certificate = name_of(names, *live);
    Answer answer;
    answer.text = fmt::format("champion at {}: {}\nsince {} by {}, certificate {}\n",
                              base::to_iso8601(at), live->policy, base::to_iso8601(live->at),
                              to_string(live->kind), certificate.value_or(kUncertified));
    answer.json = json::serialize(json::object{{"at", base::to_iso8601(at)},
                                               {"champion", live->policy.value()},
                                               {"since", base::to_iso8601(live->at)},
                                               {"kind", registry::to_string(live->kind)},
                                               {"certificate", json::value_from(certificate)}});
    return answer;
}

Answer champion_is(const registry::Promotion& promotion) {
    return {.exit_code = ExitCode::kDone,
            .text = fmt::format("champion: {}\n", promotion.policy),
            .json = json::serialize(json::object{{"champion", promotion.policy.value()}}),
            .notes = {}};
}

Answer refused(const base::Error& error) {
    return {.exit_code = ExitCode::kNo,
            .text = fmt::format("refused: {}\n", error.message),
            .json = json::serialize(json::object{
                {"refused", true}, {"reason", error.reason}, {"message", error.message}}),
            .notes = {}};
}

/// A refusal by the registry's rules is an answer; a store that can't be read is an error.
Result<Answer> answer_of(const Result<registry::Promotion>& result) {
    if (result) return champion_is(*result);
    const bool no = result.error().code == base::ErrorCode::kFailedPrecondition ||
                    result.error().code == base::ErrorCode::kPermissionDenied;
    return no ? Result<Answer>(refused(result.error())) : Result<Answer>(result.error());
}

Answer proposal_is(const registry::PromotionProposal& proposal) {
    return {
        .exit_code = ExitCode::kDone,
        .text = fmt::format("proposal {}: {}, needs {} of scope approve until {}\ndigest: {}\n",
                            proposal.number, to_string(proposal.state), proposal.approvals_needed,
                            base::to_iso8601(proposal.expires), proposal.digest().hex()),
        .json = fmt::format(R"({{"proposal":{}}})", to_json(proposal)),
        .notes = {}};
}

struct PromoteOptions {
    fs::path config, certificate, evidence;
    std::string model, actor = "operator";
};

Result<Answer> promote(const PromoteOptions& options) {
    RAMPART_TRY(const auto certificate,
                base::read_file(options.certificate, base::limits::kMaxCertificateBytes));
    RAMPART_TRY(auto files, find_proof_files(options.certificate, certificate));
    if (!options.evidence.empty()) files.evidence = options.evidence;
    RAMPART_TRY(const auto evidence, read_evidence(files.evidence));
    RAMPART_TRY(const auto node, open_existing(options.config));
    RAMPART_RETURN_IF_ERROR(node->check_trains());
    const auto keys = node->registry().verifying_keys(node->keys().signing.public_key());
    const registry::Proof proof{certificate, evidence,
                                certification::signer_among(certificate, keys)};
    const domain::PolicyId model(options.model);
    const auto& training = node->settings().training;
    if (training.on_certified != retraining::OnCertified::kPropose)
        return answer_of(node->registry().promote(model, proof, node->now(), options.actor));
    const auto proposal =
        node->registry().propose(model, proof, training.terms, node->now(), options.actor, true);
    if (!proposal) return answer_of(Result<registry::Promotion>(proposal.error()));
    return proposal_is(*proposal);
}

struct RollbackOptions {
    fs::path config;
    std::string reason, actor = "operator";
};

Result<Answer> rollback(const RollbackOptions& options) {
    // the registry alone: this must work when nothing else does
    RAMPART_TRY(const auto settings, rampartd::load_settings(options.config));
    RAMPART_RETURN_IF_ERROR(check_exists(settings));
    RAMPART_RETURN_IF_ERROR(lease::check_not_handed_over(rampartd::seat_of(settings.store)));
    RAMPART_TRY(const auto registry, registry::ModelRegistry::open(settings.store / "registry"));
    const auto champion = registry->champion();
    base::TimePoint now = runtime::SystemClock().now();
    if (settings.event_clock && champion) now = champion->at;
    return answer_of(registry->rollback(now, options.actor, options.reason));
}

}  // namespace

void add_models(Frame& frame) {
    struct Options {
        fs::path store;
        std::string at;
    };
    auto options = std::make_shared<Options>();
    auto& command =
        frame.add({.name = "models",
                   .summary = "List registered models and the history of champions",
                   .example = "rampart models --store demo-out/store --at 2023-06-01",
                   .detail = "With --at: which model decided at that time. Exit code 1: none did."},
                  [options](const Context&) {
                      return options->at.empty() ? list_models(options->store)
                                                 : champion_at(options->store, options->at);
                  });
    command.add_option("--store", options->store, "the store folder; a node may be serving it")
        ->required();
    command.add_option("--at", options->at, "a date or time (ISO 8601): only who decided then");
}

void add_promote(Frame& frame) {
    auto options = std::make_shared<PromoteOptions>();
    auto& command = frame.add(
        {.name = "promote",
         .summary = "Promote a certified model, or propose it to those who approve",
         .example = "rampart promote --config rampartd.toml --model 5ac… --certificate 3f….cert",
         .detail =
             "With training.on_certified = \"propose\" the model waits for approval (`rampart "
             "proposal`), again where its earlier proposal has ended. Exit code 1: the registry "
             "refuses (other model, other verdict, stale reference, bad evidence). No node may be "
             "serving the store."},
        [options](const Context&) { return promote(*options); });
    command.add_option("--config", options->config, "rampartd.toml of the store")->required();
    command.add_option("--model", options->model, "id of the model")->required();
    command.add_option("--certificate", options->certificate, "certificate file of the model")
        ->required();
    command.add_option("--evidence", options->evidence,
                       "evidence file; default: beside the certificate, or the registry's");
    add_actor_option(command, options->actor);
}

void add_rollback(Frame& frame) {
    auto options = std::make_shared<RollbackOptions>();
    auto& command = frame.add(
        {.name = "rollback",
         .summary = "Restore the previous champion",
         .example = "rampart rollback --config rampartd.toml --reason 'complaints from branch 7'",
         .detail = "If a node serves the store, use POST /v1/rollback instead. Exit code 1: the "
                   "registry refuses."},
        [options](const Context&) { return rollback(*options); });
    command.add_option("--config", options->config, "rampartd.toml of the store")->required();
    command.add_option("--reason", options->reason, "reason, for the audit log")->required();
    add_actor_option(command, options->actor);
}

namespace {

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
    RAMPART_RETURN_IF_ERROR(node->check_may_propose());  // before a model is registered
    RAMPART_RETURN_IF_ERROR(node->check_trains());
    base::TimePoint at = node->now();
    if (!options.at.empty()) {
        RAMPART_TRY(at, base::parse_iso8601(options.at));
    }
    RAMPART_TRY(const auto id, registered(*node, options, at));
    RAMPART_TRY(const auto run, node->certify(id, at, options.new_epoch, options.actor));
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
         .summary = "Test a model at the gate; promote or propose it if CERTIFIED",
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
