// ledger: its head, to be filed with a witness; a copy of it; whether it still continues a head.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"
#include "frame/reasons.hpp"
#include "gate/ledger_proof.hpp"
#include "rampart/base/file.hpp"
#include "rampart/certification/reasons.hpp"
#include "rampart/certification/signer.hpp"
#include "rampart/registry/figures.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/runtime/secrets.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/streaming/bookmark.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "rampart/wire/topics.hpp"
#include "services/rampartd/log_ends.hpp"
#include "services/rampartd/node.hpp"
#include "services/rampartd/reasons.hpp"
#include "services/rampartd/settings.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;
using base::Status;
using certification::DeltaLedger;
using certification::LedgerHead;
using certification::LogEnd;

struct Options : NodeOptions {
    fs::path ledger, key, after, out;
    std::vector<fs::path> heads;
};

/// Returns the settings of a store whose ledger may be read: its digests depend on outcomes of the
/// vault.
Result<rampartd::Settings> audited_settings(const fs::path& config) {
    RAMPART_TRY(auto settings, rampartd::load_settings(config));
    RAMPART_RETURN_IF_ERROR(check_exists(settings));
    if (settings.audit.enabled) return settings;
    return base::make_error(rampartd::Reason::kAuditRequired,
                            "'{}' has no audit.enabled = true: the ledger's digests depend on "
                            "outcomes of the vault, and are for those who audit the gate",
                            config.string());
}

Result<std::vector<std::string>> stored_entries(const rampartd::Settings& settings) {
    RAMPART_TRY(const auto registry,
                registry::ModelRegistry::open(settings.store / "registry",
                                              registry::ModelRegistry::Mode::kReadOnly));
    return registry->ledger_entries();
}

/// The decision log of a store as it lies, beside a node that may be writing it.
struct RawLog {
    std::unique_ptr<streaming_local::LocalLog> local;
    std::unique_ptr<streaming_kafka::KafkaReader> kafka;
    std::string topic;

    static Result<RawLog> open(const rampartd::Settings& settings) {
        RawLog log;
        log.topic = wire::Topics::with_prefix(settings.log.topic_prefix).decisions;
        if (settings.log.broker == rampartd::LogSettings::Broker::kKafka) {
            RAMPART_TRY(log.kafka, streaming_kafka::KafkaReader::open(settings.log.kafka));
        } else {
            RAMPART_TRY(log.local,
                        streaming_local::LocalLog::open_read_only(settings.store / "log"));
        }
        return log;
    }
    const streaming::Reader& reader() const {
        return local ? static_cast<const streaming::Reader&>(*local) : *kafka;
    }
};

json::array json_of(const std::vector<LogEnd>& log) {
    json::array out;
    for (const LogEnd& end : log)
        out.push_back(
            {{"partition", end.partition}, {"next", end.next}, {"chain", end.chain.hex()}});
    return out;
}

Result<base::SigningKey> store_key(const rampartd::Settings& settings) {
    RAMPART_TRY(const auto secret, runtime::load_secret(settings.store / "keys" / "signing"));
    return base::SigningKey::from_raw(secret);
}

fs::path key_beside(const fs::path& ledger) { return ledger.parent_path() / "gate.key.pem"; }

Result<base::SigningKey> file_key(const Options& options) {
    const auto file = options.key.empty() ? key_beside(options.ledger) : options.key;
    RAMPART_TRY(const auto pem, base::read_file(file, 1 << 16));
    return base::SigningKey::from_pem(pem);
}

Status one_source(const Options& options) {
    if (options.config.empty() != options.ledger.empty()) return base::ok();
    return base::make_error(Reason::kMisuse,
                            "name one: --config of a store, or --ledger of `rampart gate`");
}

/// Returns the public keys of a store, the one in use first.
Result<std::vector<base::VerifyingKey>> store_keys(const rampartd::Settings& settings) {
    RAMPART_TRY(const auto own, store_key(settings));
    RAMPART_TRY(const auto registry,
                registry::ModelRegistry::open(settings.store / "registry",
                                              registry::ModelRegistry::Mode::kReadOnly));
    return registry->verifying_keys(own.public_key());
}

Result<LedgerHead> store_head(const rampartd::Settings& settings, const fs::path& after) {
    RAMPART_TRY(const auto entries, stored_entries(settings));
    RAMPART_TRY(const auto ledger, DeltaLedger::open(entries));
    RAMPART_TRY(auto head, certification::head_of(ledger, runtime::SystemClock().now()));
    std::vector<LogEnd> known = ledger.log();
    if (!after.empty()) {
        RAMPART_TRY(const auto keys, store_keys(settings));
        RAMPART_TRY(auto earlier, read_head_file(after, keys));
        RAMPART_RETURN_IF_ERROR(certification::check_continues(ledger, earlier));
        known = std::move(earlier.log);
    }
    RAMPART_TRY(const auto log, RawLog::open(settings));
    RAMPART_TRY(head.log, rampartd::log_ends(log.reader(), log.topic, known));
    return head;
}

Result<Answer> print_head(const Options& options) {
    RAMPART_RETURN_IF_ERROR(one_source(options));
    std::string signed_head;
    LedgerHead head;
    if (!options.config.empty()) {
        RAMPART_TRY(const auto settings, audited_settings(options.config));
        RAMPART_TRY(const auto key, store_key(settings));
        RAMPART_TRY(head, store_head(settings, options.after));
        signed_head = certification::sign_head(head, key);
    } else {
        RAMPART_TRY(const auto key, file_key(options));
        RAMPART_TRY(const auto ledger, read_ledger_file(options.ledger));
        RAMPART_TRY(head, certification::head_of(ledger, runtime::SystemClock().now()));
        signed_head = certification::sign_head(head, key);
    }
    if (!options.out.empty())
        RAMPART_RETURN_IF_ERROR(base::write_file_atomically(options.out, signed_head));
    Answer answer;
    answer.text = signed_head;
    answer.json = json::serialize(json::object{{"head", head.head.hex()},
                                               {"entries", head.entries},
                                               {"epoch", head.epoch},
                                               {"runs_used", head.runs_used},
                                               {"made_at", base::to_iso8601(head.made_at)},
                                               {"log", json_of(head.log)},
                                               {"signed", signed_head}});
    answer.notes.push_back(
        fmt::format("head of a ledger with {} entries and {} partitions of the log: file it with "
                    "a witness",
                    head.entries, head.log.size()));
    return answer;
}

Result<Answer> copy_ledger(const Options& options) {
    RAMPART_RETURN_IF_ERROR(audited_settings(options.config).map([](const auto&) {}));
    RAMPART_TRY(const auto node, open_existing(options.config));
    RAMPART_TRY(
        const auto entries,
        registry::read_ledger(node->registry(), {node->now(), options.actor, options.reason}));
    RAMPART_TRY(const auto ledger, DeltaLedger::open(entries));
    std::string bytes;
    for (const auto& entry : entries) bytes += entry + '\n';
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(options.out, bytes, 0600));
    Answer answer;
    answer.text = fmt::format("ledger: {}, {} entries\n", options.out.string(), entries.size());
    answer.json = json::serialize(
        json::object{{"ledger", options.out.string()}, {"entries", entries.size()}});
    answer.notes.push_back("the audit log has who copied it");
    return answer;
}

/// Returns whether the error says that ledger or log are not those of then. Others, such as a
/// broker that cannot be reached, leave it open.
bool is_no(const base::Error& error) {
    return error.is(certification::Reason::kOtherLedger) ||
           error.is(streaming::Reason::kOtherLog) || streaming::is_gap(error);
}

Answer no(std::string_view what, const base::Error& error) {
    return {.exit_code = ExitCode::kNo,
            .text = fmt::format("{}: {}\n", what, error.message),
            .json = json::serialize(json::object{
                {"continues", false}, {"reason", error.reason}, {"message", error.message}}),
            .notes = {}};
}

/// A ledger, with the log beside it where it is that of a store, and the keys of its heads.
struct Source {
    DeltaLedger ledger;
    std::optional<RawLog> log{};
    std::vector<base::VerifyingKey> keys;
};

Result<Source> open_source(const Options& options) {
    std::vector<base::VerifyingKey> keys;
    if (!options.key.empty()) {
        RAMPART_TRY(const auto pem, base::read_file(options.key, 1 << 16));
        RAMPART_TRY(keys, certification::read_keys(pem));
    }
    if (options.config.empty()) {
        if (keys.empty() && !fs::exists(key_beside(options.ledger))) {
            return base::make_error(Reason::kNoKey,
                                    "'{}' is not there, and --key names no other key of the heads",
                                    key_beside(options.ledger).string());
        }
        RAMPART_TRY(auto ledger, read_ledger_file(options.ledger));
        if (keys.empty()) {
            RAMPART_TRY(const auto own, file_key(options));
            keys.push_back(own.public_key());
        }
        return Source{std::move(ledger), std::nullopt, std::move(keys)};
    }
    RAMPART_TRY(const auto settings, audited_settings(options.config));
    RAMPART_TRY(const auto entries, stored_entries(settings));
    RAMPART_TRY(auto ledger, DeltaLedger::open(entries));
    RAMPART_TRY(auto log, RawLog::open(settings));
    if (keys.empty()) {
        RAMPART_TRY(keys, store_keys(settings));
    }
    return Source{std::move(ledger), std::move(log), std::move(keys)};
}

/// Words and JSON on what of the log was compared.
void add_log(const std::vector<rampartd::CheckedPartition>& log, Answer& answer,
             json::object& out) {
    json::array partitions;
    int64_t records = 0;
    for (const auto& [partition, checked] : log) {
        records += checked.compared();
        partitions.push_back({{"partition", partition},
                              {"begin", checked.begin.value()},
                              {"from", checked.from.value()},
                              {"to", checked.to.value()},
                              {"in_holes", checked.in_holes}});
        if (checked.in_holes > 0)
            answer.notes.push_back(fmt::format(
                "partition {}: {} offsets between {} and {} were not checked: the chain of digests "
                "was begun anew behind them",
                partition, checked.in_holes, checked.from, checked.to));
        if (checked.from == checked.begin) continue;
        answer.notes.push_back(fmt::format(
            "partition {}: checked from offset {} on; of what lies before, from offset {} on, the "
            "log has no longer all records: that part was not checked",
            partition, checked.from, checked.begin));
    }
    answer.text += fmt::format("{} records of the log are those of then.\n", records);
    out["log_records"] = records;
    out["partitions"] = std::move(partitions);
}

/// Fails where the log could not be compared: it must not look as if it had been. Errors: the
/// reader's; failed_precondition "nothing_to_compare".
Status check_compared(const RawLog& log, const std::vector<rampartd::CheckedPartition>& checked) {
    if (checked.empty()) {
        return base::make_error(Reason::kNothingToCompare,
                                "neither a head nor a run of the ledger has the ends of the log: "
                                "nothing shows what the log was");
    }
    for (const auto& [partition, records] : checked) {
        if (!records.nothing()) continue;
        const streaming::PartitionId id(static_cast<int32_t>(partition));
        RAMPART_TRY(const auto first, log.reader().begin_offset(log.topic, id));
        if (first < records.end) {
            return base::make_error(
                Reason::kNothingToCompare,
                "partition {}: heads and runs speak of the records from offset {} to {}; the log "
                "has them from {} on, and none of the heads and runs was made there, so that "
                "these cannot be compared",
                partition, records.begin, records.end, first);
        }
        return base::make_error(Reason::kNothingToCompare,
                                "partition {}: the log no longer has any of the records, from "
                                "offset {} to {}, that heads and runs speak of",
                                partition, records.begin, records.end);
    }
    return base::ok();
}

/// Returns how many records of the log came after all that heads and runs speak of.
Result<int64_t> records_after(const RawLog& log,
                              const std::vector<rampartd::CheckedPartition>& checked) {
    int64_t records = 0;
    RAMPART_TRY(const auto partitions, log.reader().partitions(log.topic));
    for (int32_t p = 0; p < partitions; ++p) {
        const streaming::PartitionId id(p);
        RAMPART_TRY(auto from, log.reader().begin_offset(log.topic, id));
        for (const auto& [partition, compared] : checked) {
            if (partition == static_cast<uint32_t>(p)) from = std::max(from, compared.to);
        }
        RAMPART_TRY(const auto end, log.reader().end_offset(log.topic, id));
        records += std::max<int64_t>(0, end.value() - from.value());
    }
    return records;
}

/// Checks the log of a store against its ends that were kept. Nullopt: it is as it was, and the
/// answer says what was compared.
Result<std::optional<Answer>> check_kept_log(const RawLog& log, const std::vector<LogEnd>& ends,
                                             Answer& answer, json::object& out) {
    const auto checked = rampartd::check_log(log.reader(), log.topic, ends);
    if (!checked && is_no(checked.error())) return no("NOT CONTINUED", checked.error());
    if (!checked) return checked.error();
    const auto compared = check_compared(log, *checked);
    if (!compared && compared.error().is(Reason::kNothingToCompare))
        return no("NOT CHECKED", compared.error());
    if (!compared) return compared.error();
    add_log(*checked, answer, out);
    RAMPART_TRY(const auto after, records_after(log, *checked));
    out["log_records_after"] = after;
    answer.text += fmt::format(
        "Records after the last of these heads and runs, of which nothing speaks yet: {}.\n",
        after);
    return std::nullopt;
}

/// Checks the ledger against each head, and the log beside it against the heads and the ledger.
Result<Answer> check_ledger(const Options& options) {
    RAMPART_RETURN_IF_ERROR(one_source(options));
    if (options.config.empty() && options.heads.empty()) {
        return base::make_error(Reason::kMisuse,
                                "--ledger needs --head, a head that was filed, to compare it with, "
                                "and --key, the gate's public key, where no gate.key.pem is "
                                "beside it");
    }
    RAMPART_TRY(const auto source, open_source(options));
    RAMPART_TRY(auto ends, rampartd::committed_ends(source.ledger));
    const bool commits = !ends.empty();
    for (const auto& file : options.heads) {
        RAMPART_TRY(const auto head, read_head_file(file, source.keys));
        const auto status = certification::check_continues(source.ledger, head);
        if (!status) return no("NOT CONTINUED", status.error());
        ends.insert(ends.end(), head.log.begin(), head.log.end());
    }
    const size_t entries = source.ledger.entries().size(), heads = options.heads.size();
    Answer answer;
    json::object out{{"continues", nullptr}, {"entries", entries}, {"heads", heads}};
    if (heads == 0) {
        answer.text = fmt::format(
            "The ledger has {} entries. It was compared with no head: nothing shows that it is the "
            "ledger of then.\n",
            entries);
    } else {
        answer.text = fmt::format("The ledger has {} entries and continues {} head{}.\n", entries,
                                  heads, heads == 1 ? "" : "s");
        out["continues"] = true;
    }
    if (source.log) {
        RAMPART_TRY(auto fails, check_kept_log(*source.log, ends, answer, out));
        if (fails) return std::move(*fails);
        if (!commits)
            answer.notes.push_back(
                "no run of the ledger has the ends of the log (gate.commit_log = false, or an "
                "earlier release)");
    }
    answer.json = json::serialize(out);
    return answer;
}

void add_source_options(CLI::App& command, Options& options) {
    command.add_option("--config", options.config,
                       "rampartd.toml of a store, with audit.enabled = true; a node may serve it");
    command.add_option("--ledger", options.ledger, "ledger of `rampart gate`");
}

}  // namespace

void add_ledger_head(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "ledger head",
         .summary = "Print a signed head of the ledger and the decision log, for a witness",
         .example = "rampart ledger head --config audit.toml --out head-2026-11.json",
         .detail = "File each head with a witness: a validator, a supervisor, a notary. "
                   "`ledger check` and `verify --head` show later that the ledger is still the "
                   "one of then, and `ledger check` that no decision before the head was left "
                   "out. Outcomes and overrides are in no head."},
        [options](const Context&) { return print_head(*options); });
    add_source_options(command, *options);
    command.add_option("--key", options->key,
                       "signing key (PEM) of --ledger; default: gate.key.pem beside it");
    command.add_option("--after", options->after,
                       "earlier head of the store: only later records of the log are read");
    command.add_option("--out", options->out, "file to write, besides printing");
}

void add_ledger_copy(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "ledger copy",
         .summary = "Copy the ledger out of a store, for `verify --ledger`",
         .example = "rampart ledger copy --config audit.toml --out audit/ledger --reason review",
         .detail = "One entry a line, each with the digest of the one before. Each copy is in the "
                   "audit log, because digests and notes depend on outcomes of the vault. No node "
                   "may be serving the store."},
        [options](const Context&) { return copy_ledger(*options); });
    command
        .add_option("--config", options->config,
                    "rampartd.toml of the store, with audit.enabled = true")
        ->required();
    command.add_option("--out", options->out, "file to write")->required();
    command.add_option("--reason", options->reason, "reason, for the audit log")->required();
    add_actor_option(command, options->actor);
}

void add_ledger_check(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "ledger check",
         .summary = "Compare the ledger and the decision log with heads that were filed",
         .example = "rampart ledger check --config audit.toml --head head-2026-11.json",
         .detail = "Compares the ledger with heads that were filed, and the decision log of a "
                   "store with these heads and with the ends of the log that each run of the "
                   "ledger has; it reads the whole log. Where the front of the log was deleted, "
                   "it checks what is left, and notes from where on. Exit code 0: what is left "
                   "holds. 1: the ledger or the log is another one, a decision was left out or "
                   "changed, or nothing is left to compare. Outcomes and overrides are not "
                   "compared. Entries of the ledger are not signed: without a head that a "
                   "witness holds, who can write the store can chain log and ledger anew."},
        [options](const Context&) { return check_ledger(*options); });
    add_source_options(command, *options);
    command.add_option("--head", options->heads,
                       "a head that was filed; may be repeated; required with --ledger");
    command.add_option("--key", options->key,
                       "the gate's public key (PEM); default: that of the store, or of "
                       "gate.key.pem beside --ledger");
}

}  // namespace rampart::cli
