#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/base/signing.hpp"

namespace rampart::registry {

/// Notice of the node that trains to the others: the features that its schema file declares, and on
/// what terms, so that no other decides by other terms.
struct SchemaNotice {
    uint64_t epoch = 0;    // that of the trainer's lease
    std::string features;  // as dataset::write_features() has them
    bool operator==(const SchemaNotice&) const = default;
};

/// Stored form, signed: schemas/keys.md. decode: data_loss "bad_notice"; permission_denied
/// "bad_signature": not by this key.
std::string encode(const SchemaNotice& notice, const base::SigningKey& key);
base::Result<SchemaNotice> decode_schema_notice(std::string_view bytes,
                                                const base::VerifyingKey& key);

/// Returns the key of a notice in the topic of policies. Each epoch has one of its own, as the
/// notices of champions do.
std::string schema_notice_key(uint64_t epoch);
/// Returns whether the key is one of these, or looks like one.
bool is_schema_notice(std::string_view key);
/// Returns the epoch that the key names; nullopt: it names none.
std::optional<uint64_t> epoch_of_schema_notice(std::string_view key);

}  // namespace rampart::registry
