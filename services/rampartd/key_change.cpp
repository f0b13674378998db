#include "services/rampartd/key_change.hpp"

#include <array>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/certification/delta_ledger.hpp"
#include "rampart/certification/reasons.hpp"
#include "rampart/certification/signer.hpp"
#include "rampart/runtime/secrets.hpp"
#include "rampart/storage/folder.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 2> kChangeable{"draw", "signing"};

fs::path file_of(const fs::path& store, std::string_view name) { return store / "keys" / name; }

/// Where a new key waits until the registry has recorded it.
fs::path waiting_file(const fs::path& store, std::string_view name) {
    return store / "keys" / fmt::format("{}.next", name);
}

/// Returns what a change of a key would break; empty: nothing.
std::string_view why_it_stays(std::string_view name) {
    if (name == "split")
        return "it says who is in the vault; with another one persons whom models have learnt from "
               "would certify these models. A store whose vault is known to those who train has to "
               "be begun anew";
    if (name == "arm")
        return "persons would change their policy in the assignment in force, and arms that were "
               "logged could not be replayed";
    if (name == "evidence")
        return "the pseudonyms of a person in evidence files would differ, so that files of one "
               "vault could not be compared. Keep the evidence from those who know the key";
    if (name == "person")
        return "keys and tags of all persons are made with it: sealed decisions could not be read, "
               "and erasures and holds not be found. Who had the store and the key has read them";
    return {};
}

Status check_changeable(const fs::path& store, const registry::ModelRegistry& registry,
                        const std::string& name) {
    const auto why = why_it_stays(name);
    if (!why.empty())
        return base::make_error(Reason::kKeyStays, "{} cannot be changed: {}",
                                file_of(store, name).string(), why);
    if (name != "signing") return base::ok();
    RAMPART_TRY(const auto entries, registry.ledger_entries());
    RAMPART_TRY(const auto ledger, certification::DeltaLedger::open(entries));
    if (!ledger.open_run()) return base::ok();
    return base::make_error(certification::Reason::kRunOpen,
                            "a run of the gate is open, and ends with the key with which it began: "
                            "start the node, and wait for its end");
}

Status make_folder(const fs::path& folder) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (!failure) fs::permissions(folder, fs::perms::owner_all, failure);
    if (!failure) return base::ok();
    return base::make_error(base::Reason::kIoError, "cannot make '{}': {}", folder.string(),
                            failure.message());
}

Status move_file(const fs::path& from, const fs::path& to) {
    std::error_code failure;
    fs::rename(from, to, failure);
    if (!failure) return base::sync_tree(to.parent_path());
    return base::make_error(base::Reason::kIoError, "cannot move '{}' to '{}': {}", from.string(),
                            to.string(), failure.message());
}

/// Returns the ids that the registry has recorded; empty: there is no registry.
Result<std::map<std::string, std::string>> recorded_ids(const fs::path& store) {
    if (!storage::is_database(store / "registry" / "registry"))
        return std::map<std::string, std::string>();
    RAMPART_TRY(const auto registry,
                registry::ModelRegistry::open(store / "registry",
                                              registry::ModelRegistry::Mode::kReadOnly));
    return registry->recorded_keys();
}

/// Removes what an import that was cut off has left.
Status remove_unplaced(const fs::path& keys) {
    std::error_code failure;
    if (!fs::is_directory(keys, failure)) return base::ok();
    std::vector<fs::path> left;
    for (fs::recursive_directory_iterator at(keys, failure), end; !failure && at != end;
         at.increment(failure)) {
        if (at->path().extension() == kUnplaced) left.push_back(at->path());
    }
    for (const auto& file : left) {
        if (!failure) fs::remove(file, failure);
    }
    if (!failure) return base::ok();
    return base::make_error(base::Reason::kIoError, "cannot tidy '{}': {}", keys.string(),
                            failure.message());
}

}  // namespace

fs::path retired_file(const fs::path& store, const std::string& id) {
    return store / "keys" / "retired" / id;
}

Result<registry::KeyChange> change_key(const fs::path& store, registry::ModelRegistry& registry,
                                       const std::string& name, const KeyRequest& request) {
    RAMPART_RETURN_IF_ERROR(check_changeable(store, registry, name));
    const auto file = file_of(store, name);
    RAMPART_TRY(const auto before, runtime::load_secret(file));
    const auto known = registry.recorded_keys();
    registry::KeyChange change{name, runtime::secret_id(before), "", request.reason};
    if (const auto it = known.find(name); it == known.end() || it->second != change.from) {
        return base::make_error(base::Reason::kOtherKey,
                                "{} is not the key that the registry has recorded: put that one "
                                "back first",
                                file.string());
    }
    const auto secret = base::random_bytes(before.size());
    change.to = runtime::secret_id(secret);
    std::string kept = base::to_hex(before) + "\n";
    if (name == "signing") {
        // who finds it later could sign as the gate: only what verifies is kept
        RAMPART_TRY(const auto key, base::SigningKey::from_raw(before));
        change.public_key = kept = key.public_key().to_pem();
    }
    RAMPART_RETURN_IF_ERROR(
        base::write_file_atomically(waiting_file(store, name), base::to_hex(secret) + "\n", 0600));
    RAMPART_RETURN_IF_ERROR(make_folder(store / "keys" / "retired"));
    RAMPART_RETURN_IF_ERROR(
        base::write_file_atomically(retired_file(store, change.from), kept, 0600));
    RAMPART_RETURN_IF_ERROR(base::sync_tree(store / "keys"));
    RAMPART_RETURN_IF_ERROR(registry.replace_key(change, request.at, request.actor));
    RAMPART_RETURN_IF_ERROR(move_file(waiting_file(store, name), file));
    if (name != "signing") return change;
    RAMPART_TRY(const auto now, base::SigningKey::from_raw(secret));
    RAMPART_RETURN_IF_ERROR(write_gate_keys(store, registry, now.public_key()));
    return change;
}

Status settle_key_change(const fs::path& store) {
    RAMPART_RETURN_IF_ERROR(remove_unplaced(store / "keys"));
    for (const auto name : kChangeable) {
        const auto waiting = waiting_file(store, name);
        std::error_code failure;
        if (!fs::exists(waiting, failure)) continue;
        RAMPART_TRY(const auto ids, recorded_ids(store));
        const auto known = ids.find(std::string(name));
        if (known == ids.end()) continue;  // no registry to say which one counts
        const auto next = runtime::load_secret(waiting);
        if (next && runtime::secret_id(*next) == known->second) {
            RAMPART_RETURN_IF_ERROR(move_file(waiting, file_of(store, name)));
            continue;
        }
        // where neither is the recorded one, the start refuses the key; nothing is thrown away
        const auto current = runtime::load_secret(file_of(store, name));
        if (!current || runtime::secret_id(*current) != known->second) continue;
        fs::remove(waiting, failure);
        if (!failure) fs::remove(retired_file(store, known->second), failure);
        if (failure)
            return base::make_error(base::Reason::kIoError, "cannot remove '{}': {}",
                                    waiting.string(), failure.message());
    }
    return base::ok();
}

Status write_gate_keys(const fs::path& store, const registry::ModelRegistry& registry,
                       const base::VerifyingKey& current) {
    return base::write_file_atomically(store / "gate.pub.pem",
                                       certification::write_keys(registry.verifying_keys(current)));
}

}  // namespace rampart::rampartd
