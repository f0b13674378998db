// store check: is every byte as it was written, and does it all fit together?
#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"
#include "rampart/storage/derived_database.hpp"
#include "rampart/storage/encryption.hpp"
#include "rampart/storage/inspection.hpp"
#include "services/rampartd/store_layout.hpp"
#include "store/store_checks.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;

/// What is found in the course of a check, as text and as JSON.
struct Report {
    Answer answer;
    json::array databases, checks, problems;
    uint64_t plain = 0;  // files of databases
    bool encrypted = false;

    void problem(const std::string& where, const std::string& what) {
        problems.push_back({{"where", where}, {"problem", what}});
        answer.text += fmt::format("BAD  {}: {}\n", where, what);
        answer.exit_code = ExitCode::kNo;
    }
};

/// A problem: damage, or a version that is not for this release. Other errors are passed on.
base::Status check_database(const fs::path& store, const std::string& name, Report& report) {
    const auto looked = storage::verify(store / name);
    if (!looked && looked.error().code != base::ErrorCode::kDataLoss) return looked.error();
    if (!looked) {
        report.databases.push_back({{"database", name}, {"sound", false}});
        report.problem(name, looked.error().message);
        return base::ok();
    }
    RAMPART_TRY(const auto at_rest, storage::files_at_rest(store / name));
    json::object by_key;
    for (const auto& [id, files] : at_rest.by_key) by_key[id] = files;
    report.plain += at_rest.plain;
    report.encrypted = report.encrypted || !at_rest.by_key.empty();
    report.databases.push_back({{"database", name},
                                {"sound", true},
                                {"plain_files", at_rest.plain},
                                {"files_by_key", by_key},
                                {"version", looked->version},
                                {"keys", looked->keys},
                                {"files", looked->files},
                                {"bytes", looked->bytes}});
    report.answer.text +=
        fmt::format("ok   {:<28} version {}, about {} keys, {} bytes in {} files\n", name,
                    looked->version, looked->keys, looked->bytes, looked->files);
    const auto known = known_version(name);
    if (!known) {
        report.answer.notes.push_back(name + ": this release knows no such database");
    } else if (looked->version > *known) {
        report.problem(name, fmt::format("has format version {}, this release knows up to {}: made "
                                         "by a later release, use that",
                                         looked->version, *known));
    } else if (looked->version < *known) {
        report.answer.notes.push_back(fmt::format(
            "{}: version {} becomes {} when it is next served", name, looked->version, *known));
    }
    return base::ok();
}

Result<Answer> check(const fs::path& config) {
    RAMPART_TRY(const auto settings, rampartd::load_settings(config));
    RAMPART_RETURN_IF_ERROR(check_exists(settings));
    RAMPART_TRY(const auto databases, storage::find_databases(settings.store));
    const auto earlier = rampartd::databases_of_earlier_layout(settings.store);
    Report report;
    for (const auto& name : databases) {
        if (std::find(earlier.begin(), earlier.end(), settings.store / name) != earlier.end()) {
            report.answer.notes.push_back(
                name +
                ": of an earlier release and not read any more; delete it when the service "
                "has read its log to the end");
            continue;
        }
        RAMPART_RETURN_IF_ERROR(check_database(settings.store, name, report));
    }
    if (report.plain > 0 && (report.encrypted || settings.privacy.encrypt_databases))
        report.answer.notes.push_back(
            fmt::format("{} files of databases are plain: `rampart store encrypt` encrypts them",
                        report.plain));
    RAMPART_TRY(const auto set_aside, storage::find_set_aside(settings.store));
    for (const auto& name : set_aside) {
        report.answer.notes.push_back(
            name +
            ": a damaged database that was set aside; it holds personal data, delete it when the "
            "one in its place is whole (ops/runbooks/damage.md)");
    }
    for (const auto& item : store_checks()) {
        const auto found = item.run(settings, report.answer.notes);
        if (!found && found.error().code != base::ErrorCode::kDataLoss) {
            return found.error().with_context(item.name);
        }
        const auto problems = found ? *found : std::vector<std::string>{found.error().message};
        for (const auto& problem : problems) report.problem(item.name, problem);
        if (problems.empty()) report.answer.text += fmt::format("ok   {}\n", item.name);
        report.checks.push_back({{"check", item.name}, {"problems", problems.size()}});
    }
    report.answer.json = json::serialize(json::object{{"sound", report.problems.empty()},
                                                      {"databases", report.databases},
                                                      {"checks", report.checks},
                                                      {"problems", report.problems}});
    return report.answer;
}

}  // namespace

void add_store_check(Frame& frame) {
    auto config = std::make_shared<fs::path>();
    auto& command = frame.add(
        {.name = "store check",
         .summary = "Check a store: checksums, format versions, invariants",
         .example = "rampart store check --config demo-out/rampartd.toml",
         .detail = "Changes nothing, and may run beside the service. Exit code 1: something is not "
                   "as it should be."},
        [config](const Context&) { return check(*config); });
    command.add_option("--config", *config, "rampartd.toml of the store")->required();
}

}  // namespace rampart::cli
