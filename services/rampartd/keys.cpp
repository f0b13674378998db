#include "services/rampartd/keys.hpp"

#include <fmt/ranges.h>

#include "rampart/base/digest.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/runtime/secrets.hpp"
#include "rampart/storage/folder.hpp"

namespace rampart::rampartd {

using base::Result;
namespace fs = std::filesystem;

Result<Keys> load_keys(runtime::StoreStart& start, const fs::path& store,
                       const fs::path& person_file) {
    const auto folder = store / "keys";
    const auto person_path = person_file.empty() ? folder / "person" : person_file;
    std::vector<fs::path> files{folder / "draw", folder / "split", folder / "evidence",
                                folder / "signing"};
    // a store from before decisions were sealed has nothing that was made with `person`
    const bool sealed = start.first() || storage::is_database(store / "privacy" / "keys");
    if (sealed) files.push_back(person_path);
    RAMPART_TRY(auto secrets, start.secrets(files));
    if (!sealed) {
        RAMPART_TRY(auto person, runtime::load_or_create_secret(person_path));
        secrets.push_back(std::move(person));
    }
    RAMPART_TRY(const auto token, start.renewable_secret(folder / "token"));
    RAMPART_TRY(auto signing, base::SigningKey::from_raw(secrets[3]));
    certification::KeyIds ids{.draw = runtime::secret_id(secrets[0]),
                              .evidence = runtime::secret_id(secrets[2]),
                              .signing = runtime::secret_id(secrets[3]),
                              .split = runtime::secret_id(secrets[1])};
    return Keys{.draw = std::move(secrets[0]),
                .split = std::move(secrets[1]),
                .evidence = std::move(secrets[2]),
                .token = base::to_hex(token),
                .person = std::move(secrets[4]),
                .signing = std::move(signing),
                .ids = std::move(ids)};
}

std::map<std::string, std::string> recorded(const certification::KeyIds& ids) {
    return {{"draw", ids.draw},
            {"evidence", ids.evidence},
            {"signing", ids.signing},
            {"split", ids.split}};
}

base::Status check_keys(const Keys& keys, const std::map<std::string, std::string>& known,
                        const fs::path& store) {
    std::vector<std::string> others;
    for (const auto& [name, id] : recorded(keys.ids)) {
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
