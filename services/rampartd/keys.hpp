#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "rampart/access/directory.hpp"
#include "rampart/base/signing.hpp"
#include "rampart/certification/delta_ledger.hpp"
#include "rampart/runtime/store_start.hpp"

namespace rampart::rampartd {

/// The secrets of a store, each 32 bytes in a file of mode 0600 under <store>/keys, made at the
/// first start and at no other.
struct Keys {
    std::string draw, arm, split, evidence;
    std::string person;  // behind person keys and tags
    base::SigningKey signing;
    certification::KeyIds ids;
    std::string arm_id;
};

/// `person_file`: where the secret `person` lies; empty: in the store. Errors: those of
/// runtime::StoreStart::secrets. A store of
/// a release that knew no arms gets its key of arms once: as long as the registry has no id of one,
/// nothing was made with it.
base::Result<Keys> load_keys(runtime::StoreStart& start, const std::filesystem::path& store,
                             const std::filesystem::path& person_file);

/// Where a store has its principals, and the token of its first start.
access::Files principal_files(const std::filesystem::path& store);

/// Ids as the registry records them, by the names of the files.
std::map<std::string, std::string> recorded(const Keys& keys);

/// Errors: failed_precondition "other_key" names each file that holds another key than the one
/// whose id was recorded. Nothing recorded: every key will do.
base::Status check_keys(const Keys& keys, const std::map<std::string, std::string>& known,
                        const std::filesystem::path& store);

}  // namespace rampart::rampartd
