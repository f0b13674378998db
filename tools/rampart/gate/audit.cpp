// audit: what the audit log of a store has, whether it is whole, and a copy that others verify.
#include "gate/audit.hpp"

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "frame/frame.hpp"
#include "frame/named_file.hpp"
#include "frame/node_access.hpp"
#include "frame/printable.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/new_file.hpp"
#include "rampart/certification/signer.hpp"
#include "rampart/registry/audit_export.hpp"
#include "rampart/registry/audit_reading.hpp"
#include "rampart/runtime/secrets.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "services/rampartd/reasons.hpp"
#include "services/rampartd/settings.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;
using registry::ModelRegistry;

constexpr size_t kMostExportBytes = size_t{1} << 32;

struct Options {
    fs::path store, config, out, head, key;
    uint64_t number = 0;
    std::map<std::string, std::string> filters;
};

Result<std::unique_ptr<ModelRegistry>> open_registry(const fs::path& store) {
    return ModelRegistry::open(store / "registry", ModelRegistry::Mode::kReadOnly);
}

std::string line_of(const registry::ShownEntry& entry) {
    std::string text = fmt::format("{:>6}  {}  {:<16} {}", entry.number, base::to_iso8601(entry.at),
                                   entry.principal, entry.action);
    if (!entry.object.empty()) text += "  " + entry.object;
    if (!entry.before.empty()) text += "  before " + entry.before;
    if (!entry.after.empty() && entry.after != entry.object) text += "  after " + entry.after;
    return printable(text) + '\n';
}

Result<Answer> list(const Options& options) {
    RAMPART_TRY(const auto request, registry::parse_audit_request(options.filters, "--"));
    RAMPART_TRY(const auto registry, open_registry(options.store));
    RAMPART_TRY(const auto page, registry::read_audit_page(*registry, request));
    Answer answer{.text = {}, .json = to_json(page)};
    for (const auto& entry : page.entries) answer.text += line_of(entry);
    if (page.next)
        answer.notes.push_back(fmt::format("the log goes on: add --cursor {}", *page.next));
    return answer;
}

Result<Answer> show(const Options& options) {
    RAMPART_TRY(const auto registry, open_registry(options.store));
    RAMPART_TRY(const auto found, registry::read_audit_entry(*registry, options.number));
    if (!found) {
        return Answer{.exit_code = ExitCode::kNo,
                      .text = fmt::format("the audit log has {} entries, and no {}\n",
                                          registry->audit_head().count, options.number),
                      .json = "null",
                      .notes = {}};
    }
    const auto& entry = *found;
    Answer answer{.text = {}, .json = to_json(entry)};
    const auto row = [&](std::string_view name, const std::string& text) {
        if (!text.empty()) answer.text += fmt::format("{:<14}{}\n", name, printable(text));
    };
    row("entry", fmt::format("{}", entry.number));
    row("at", base::to_iso8601(entry.at));
    row("principal", entry.principal);
    row("action", entry.action);
    row("object", entry.object);
    row("before", entry.before);
    row("after", entry.after);
    for (const auto& [name, value] : entry.details) row("", name + ": " + value);
    row("withheld", fmt::format("{}", fmt::join(entry.withheld, ", ")));
    return answer;
}

/// Returns the public keys of a store, the one in use first.
Result<std::vector<base::VerifyingKey>> store_keys(const Options& options) {
    if (!options.key.empty()) {
        RAMPART_TRY(const auto pem, base::read_file(options.key, 1 << 16));
        return named_file(certification::read_keys(pem));
    }
    RAMPART_TRY(const auto pem, base::read_file(options.store / "gate.pub.pem", 1 << 16));
    return certification::read_keys(pem);
}

Result<Answer> verify(const Options& options) {
    std::optional<registry::AuditHead> filed;
    if (!options.head.empty()) {
        RAMPART_TRY(const auto keys, store_keys(options));
        RAMPART_TRY(const auto bytes, base::read_file(options.head, kMostExportBytes));
        RAMPART_TRY(filed, named_file(registry::read_exported_head(bytes, keys)));
    }
    RAMPART_TRY(const auto check, registry::check_audit_log(options.store / "registry", filed));
    json::object out{
        {"verified", !check.first_break}, {"entries", check.entries}, {"first_broken", nullptr}};
    Answer answer;
    if (const auto& found = check.first_break) {
        answer.exit_code = ExitCode::kNo;
        answer.text = fmt::format("broken at entry {}: {}\n", found->entry, found->error.message);
        out["first_broken"] = json::object{{"entry", found->entry},
                                           {"reason", found->error.reason},
                                           {"message", found->error.message}};
    } else {
        answer.text = fmt::format("verified: {} entries\n", check.entries);
        if (filed) answer.text += fmt::format("they continue the {} of the export\n", filed->count);
    }
    answer.json = json::serialize(out);
    return answer;
}

Result<Answer> export_log(const Options& options) {
    RAMPART_RETURN_IF_ERROR(check_new("--out", options.out));
    RAMPART_TRY(const auto settings, rampartd::load_settings(options.config));
    RAMPART_RETURN_IF_ERROR(check_exists(settings));
    if (!settings.audit.enabled) {
        return base::make_error(rampartd::Reason::kAuditRequired,
                                "'{}' has no audit.enabled = true: digests in the audit log depend "
                                "on outcomes of the vault, and are for those who audit the gate",
                                options.config.string());
    }
    RAMPART_TRY(const auto secret, runtime::load_secret(settings.store / "keys" / "signing"));
    RAMPART_TRY(const auto key, base::SigningKey::from_raw(secret));
    RAMPART_TRY(const auto registry, open_registry(settings.store));
    RAMPART_TRY(const auto entries, registry->audit_entries());
    const auto bytes = registry::export_audit_log(entries, runtime::SystemClock().now(), key);
    RAMPART_RETURN_IF_ERROR(base::write_new_file(options.out, bytes, 0600));
    return Answer{
        .text = fmt::format("export: {}, {} entries\n", options.out.string(), entries.size()),
        .json = json::serialize(
            json::object{{"export", options.out.string()}, {"entries", entries.size()}}),
        .notes = {"tools/audit/verify_export verifies it with the store's gate.pub.pem, and with "
                  "an earlier export that the log was not written anew"}};
}

void add_store_option(CLI::App& command, Options& options) {
    command.add_option("--store", options.store, "the store folder; a node may be serving it")
        ->required();
}

}  // namespace

void add_audit_list(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "audit list",
         .summary = "List entries of the audit log: who did what, and when",
         .example = "rampart audit list --store demo-out/store --action promote --limit 20",
         .detail = "Oldest first. Of the node whose store it is. Certificates have their public "
                   "names; digests of the ledger are in `audit export` alone."},
        [options](const Context&) { return list(*options); });
    add_store_option(command, *options);
    const auto filter = [&](const std::string& name, const std::string& what) {
        command.add_option_function<std::string>(
            "--" + name, [options, name](const auto& text) { options->filters[name] = text; },
            what);
    };
    filter("principal", "only what this principal did");
    filter("action", "only this action, such as promote");
    filter("object", "only what names this model, decision, person's tag, stop, ...");
    filter("from", "not before this date or time (ISO 8601)");
    filter("to", "before this date or time");
    filter("limit", fmt::format("entries at most, 1 to {}; default: {}", registry::kMostAuditLimit,
                                registry::kDefaultAuditLimit));
    filter("cursor", "only what comes behind the entry with this number");
}

void add_audit_show(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add({.name = "audit show",
                               .summary = "Show one entry of the audit log with its details",
                               .example = "rampart audit show 12 --store demo-out/store",
                               .detail = "Exit code 1: there is no such entry."},
                              [options](const Context&) { return show(*options); });
    command.add_option("NUMBER", options->number, "the entry, as `audit list` shows it")
        ->required();
    add_store_option(command, *options);
}

void add_audit_verify(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "audit verify",
         .summary = "Check that the audit log is what was written",
         .example = "rampart audit verify --store demo-out/store --head audit-2026-11.jsonl",
         .detail = "Checks the chain of hashes, the head that is stored beside the log and, with "
                   "--head, that the log continues an export that was filed. Exit code 1: it was "
                   "changed, and the first entry that does not fit is named. 4: it cannot be "
                   "read. Who can write the store can chain the log anew: only an export that a "
                   "witness holds shows that."},
        [options](const Context&) { return verify(*options); });
    add_store_option(command, *options);
    command.add_option("--head", options->head, "a file of `rampart audit export`");
    command.add_option("--key", options->key,
                       "the store's public key (PEM); default: gate.pub.pem in the store");
}

void add_audit_export(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "audit export",
         .summary = "Copy the whole audit log, with a signed head, for others to verify",
         .example = "rampart audit export --config audit.toml --out audit-2026-11.jsonl",
         .detail = "One JSON object a line; the last line is the head, signed with the store's "
                   "key. Needs audit.enabled. tools/audit/verify_export verifies it without "
                   "Rampart. The file holds tags of persons and ids of decisions, and what was "
                   "given as a reason."},
        [options](const Context&) { return export_log(*options); });
    command.add_option("--config", options->config, "the service's configuration (TOML)")
        ->required();
    command.add_option("--out", options->out, "the new file to write")->required();
}

}  // namespace rampart::cli
