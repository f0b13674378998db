#include "rampart/runtime/store_keys.hpp"

#include <map>
#include <mutex>

#include "rampart/runtime/secrets.hpp"

namespace rampart::runtime {
namespace {

namespace fs = std::filesystem;
using storage::FileKey;

struct Met {
    std::mutex mutex;
    std::map<std::string, std::string> secrets;  // by id
};
Met& met() {
    static Met one;
    return one;
}

FileKey key_of(std::string secret) {
    FileKey key{secret_id(secret), std::move(secret)};
    const std::lock_guard lock(met().mutex);
    met().secrets[key.id] = key.secret;
    return key;
}

/// Notes those of the retired keys that are secrets: of a signing key there is the public part.
void meet_retired(const fs::path& folder) {
    std::error_code none;
    for (auto it = fs::directory_iterator(folder, none); !none && it != fs::directory_iterator();
         it.increment(none)) {
        if (auto secret = load_secret(it->path())) (void)key_of(*std::move(secret));
    }
}

/// Returns whether a folder above a database is its store, or where a store is taken over: not any
/// other folder that has a file of that name. A first start makes the key before the first
/// database.
bool is_store_of(const fs::path& folder, const fs::path& database) {
    std::error_code failure;
    if (fs::is_directory(folder / "registry", failure)) return true;
    const auto first = *database.lexically_relative(folder).begin();
    return first == "registry" || first == ".take-over";
}

}  // namespace

base::Result<storage::FileKeys> keys_of_database(const fs::path& database) {
    storage::FileKeys keys;
    std::error_code failure;
    const auto whole = fs::absolute(database, failure).lexically_normal();
    auto folder = whole;
    while (folder.has_relative_path() && !keys.current) {
        folder = folder.parent_path();
        const auto file = store_key_file(folder);
        if (fs::status(file, failure).type() == fs::file_type::not_found ||
            !is_store_of(folder, whole))
            continue;
        RAMPART_TRY(auto secret, load_secret(file));
        keys.current = key_of(std::move(secret));
        keys.where = file;
        meet_retired(folder / "keys" / "retired");
    }
    const std::lock_guard lock(met().mutex);
    for (const auto& [id, secret] : met().secrets) keys.others.push_back({id, secret});
    return keys;
}

void use_store_keys() { storage::set_file_key_source(keys_of_database); }

base::Status read_with_key(const fs::path& file) {
    RAMPART_TRY(auto secret, load_secret(file));
    (void)key_of(std::move(secret));
    return base::ok();
}

}  // namespace rampart::runtime
