#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/privacy/person_tag.hpp"

/// The databases of persons from outside, for a check; nothing is changed. They may be open
/// elsewhere.
namespace rampart::privacy {

/// Reads all person keys in the folder and returns the faults, by the ids of the keys: a key that
/// opens what it sealed, and is no longer linked to its person, so that no erasure destroys it; a
/// link to a key that is destroyed or not there; a key that cannot be read. Empty: no faults. Fails
/// as storage::Database::open does.
base::Result<std::vector<std::string>> check_keys_at_rest(const std::filesystem::path& folder,
                                                          std::string_view secret);

/// An erasure that was begun and is not finished.
struct BegunErasure {
    PersonTag person;
    std::vector<std::string> decisions;  // ids
    bool operator==(const BegunErasure&) const = default;
};

/// What a register's folder says.
struct RegisterAtRest {
    std::vector<BegunErasure> begun;  // by person
    bool sealed_log = false;          // no decision may lie in the log unsealed
};

/// Reads a register. Fails as storage::Database::open does; data_loss "bad_register".
base::Result<RegisterAtRest> read_register(const std::filesystem::path& folder);

}  // namespace rampart::privacy
