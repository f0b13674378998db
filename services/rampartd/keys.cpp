#include "services/rampartd/keys.hpp"

#include <fmt/ranges.h>

#include "rampart/base/reasons.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/runtime/secrets.hpp"
#include "rampart/storage/folder.hpp"
#include "services/rampartd/key_change.hpp"

namespace rampart::rampartd {

using base::Result;
namespace fs = std::filesystem;

namespace {

/// Returns whether the store must have its key of arms: not if a release made it that knew none, as
/// the ids in its registry tell.
Result<bool> has_arm_key(const runtime::StoreStart& start, const fs::path& store) {
    std::error_code ignored;  // then it is asked for, by name
    if (start.first() || fs::exists(store / "keys" / "arm", ignored)) return true;
    if (!storage::is_database(store / "registry" / "registry")) return true;
    RAMPART_TRY(const auto registry,
                registry::ModelRegistry::open(store / "registry",
                                              registry::ModelRegistry::Mode::kReadOnly));
    return registry->recorded_keys().contains("arm");
}

}  // namespace

Result<Keys> load_keys(runtime::StoreStart& start, const fs::path& store,
                       const fs::path& person_file) {
    RAMPART_RETURN_IF_ERROR(settle_key_change(store));
    const auto folder = store / "keys";
    const auto person_path = person_file.empty() ? folder / "person" : person_file;
    std::vector<fs::path> files{folder / "draw", folder / "split", folder / "evidence",
                                folder / "signing"};
    // a store from before decisions were sealed has nothing that was made with `person`
    const bool sealed = start.first() || storage::is_database(store / "privacy" / "keys");
    RAMPART_TRY(const bool arms, has_arm_key(start, store));
    if (sealed) files.push_back(person_path);
    if (arms) files.push_back(folder / "arm");
    RAMPART_TRY(auto secrets, start.secrets(files));
    if (!sealed) {
        RAMPART_TRY(auto person, runtime::load_or_create_secret(person_path));
        secrets.insert(secrets.begin() + 4, std::move(person));
    }
    if (!arms) {
        RAMPART_TRY(auto arm, runtime::load_or_create_secret(folder / "arm"));
        secrets.push_back(std::move(arm));
    }
    RAMPART_TRY(auto signing, base::SigningKey::from_raw(secrets[3]));
    certification::KeyIds ids{.draw = runtime::secret_id(secrets[0]),
                              .evidence = runtime::secret_id(secrets[2]),
                              .signing = runtime::secret_id(secrets[3]),
                              .split = runtime::secret_id(secrets[1])};
    auto arm_id = runtime::secret_id(secrets[5]);
    return Keys{.draw = std::move(secrets[0]),
                .arm = std::move(secrets[5]),
                .split = std::move(secrets[1]),
                .evidence = std::move(secrets[2]),
                .person = std::move(secrets[4]),
                .signing = std::move(signing),
                .ids = std::move(ids),
                .arm_id = std::move(arm_id)};
}

access::Files principal_files(const fs::path& store) {
    return {store / "keys" / "principals.toml", store / "keys" / "token"};
}

std::map<std::string, std::string> recorded(const Keys& keys) {
    const auto& ids = keys.ids;
    return {{"arm", keys.arm_id},
            {"draw", ids.draw},
            {"evidence", ids.evidence},
            {"signing", ids.signing},
            {"split", ids.split}};
}

base::Status check_keys(const Keys& keys, const std::map<std::string, std::string>& known,
                        const fs::path& store) {
    std::vector<std::string> others;
    for (const auto& [name, id] : recorded(keys)) {
        const auto it = known.find(name);
        if (it == known.end() || it->second == id) continue;
        others.push_back(fmt::format("{} (its id is {}, the store's {})",
                                     (store / "keys" / name).string(), id, it->second));
    }
    if (others.empty()) return base::ok();
    return base::make_error(
        base::Reason::kOtherKey,
        "{}: another key than the store was made with. Restore the file from your backup of the "
        "keys (ops/runbooks/backup.md)",
        fmt::join(others, ", "));
}

}  // namespace rampart::rampartd
