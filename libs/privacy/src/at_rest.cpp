#include "rampart/privacy/at_rest.hpp"

#include <algorithm>

#include "rampart/base/aead.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/privacy/person_keys.hpp"
#include "rampart/privacy/reasons.hpp"
#include "rampart/storage/database.hpp"
#include "register_format.hpp"

namespace rampart::privacy {

using base::Result;
using storage::KeyRange;

namespace {

storage::OpenOptions reading() {
    storage::OpenOptions options;
    options.create = false;
    options.read_only = true;
    return options;
}

// The families of the person keys (schemas/keys.md).
constexpr storage::ColumnFamily kKeys{1}, kPeople{2};
constexpr char kLive = 1;
const std::string kDestroyed(1, 2);

/// Returns the ids of the keys that a person is linked to.
Result<std::vector<std::string>> linked(const storage::Database& db, std::string_view tag) {
    RAMPART_TRY(const auto list, db.get(kPeople, tag));
    std::vector<std::string> ids;
    for (size_t at = 0; list && at + kKeyIdBytes <= list->size(); at += kKeyIdBytes)
        ids.push_back(list->substr(at, kKeyIdBytes));
    return ids;
}

}  // namespace

Result<std::vector<std::string>> check_keys_at_rest(const std::filesystem::path& folder,
                                                    std::string_view secret) {
    RAMPART_TRY(const auto db,
                storage::Database::open(folder, {"meta", "keys", "people"}, reading()));
    const auto digest = base::hmac_sha256(secret, "rampart person key wrapping");
    const std::string wrapping(digest.bytes.begin(), digest.bytes.end());
    std::vector<std::string> problems;
    const auto examine_key = [&](std::string_view id, std::string_view value) -> Result<bool> {
        if (value == kDestroyed) return true;
        const auto plain = base::unseal(wrapping, id, value.substr(value.starts_with(kLive)));
        if (!plain || plain->size() < kPersonTagBytes) {
            problems.push_back(
                fmt::format("key {} is damaged, or wrapped with another secret", base::to_hex(id)));
            return true;
        }
        RAMPART_TRY(const auto ids, linked(*db, plain->substr(0, kPersonTagBytes)));
        if (std::find(ids.begin(), ids.end(), id) == ids.end()) {
            problems.push_back(
                fmt::format("key {} opens what it sealed, and is linked to no person any more",
                            base::to_hex(id)));
        }
        return true;
    };
    RAMPART_RETURN_IF_ERROR(db->scan(kKeys, KeyRange::all(), examine_key));
    const auto examine_link = [&](std::string_view tag, std::string_view) -> Result<bool> {
        RAMPART_TRY(const auto ids, linked(*db, tag));
        for (const auto& id : ids) {
            RAMPART_TRY(const auto stored, db->get(kKeys, id));
            if (stored && stored->starts_with(kLive)) continue;
            problems.push_back(fmt::format("a person is linked to key {}, which is {}",
                                           base::to_hex(id), stored ? "destroyed" : "not there"));
        }
        return true;
    };
    RAMPART_RETURN_IF_ERROR(db->scan(kPeople, KeyRange::all(), examine_link));
    return problems;
}

Result<RegisterAtRest> read_register(const std::filesystem::path& folder) {
    const storage::ColumnFamily erasures{1}, meta{2};
    RAMPART_TRY(const auto db,
                storage::Database::open(folder, {"holds", "erasures", "meta"}, reading()));
    RegisterAtRest out;
    const auto visit = [&](std::string_view tag, std::string_view value) -> Result<bool> {
        RAMPART_TRY(const auto begun, decode_erasure(PersonTag(std::string(tag)), value));
        BegunErasure erasure{begun.person, {}};
        for (const auto& one : begun.decisions) erasure.decisions.push_back(one.id);
        out.begun.push_back(std::move(erasure));
        return true;
    };
    RAMPART_RETURN_IF_ERROR(db->scan(erasures, KeyRange::all(), visit));
    RAMPART_TRY(const auto sealed, db->get(meta, "sealed_log"));
    RAMPART_TRY(const auto clear, db->get(meta, "clear_log"));
    out.sealed_log = sealed && !clear;
    return out;
}

}  // namespace rampart::privacy
