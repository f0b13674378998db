#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/base/signing.hpp"
#include "rampart/domain/assignment.hpp"

namespace rampart::registry {

/// Notice of the node that trains to the others: which policies decide beside the champion of one
/// promotion, in the topic of policies. Under another champion it says nothing.
struct AssignmentNotice {
    uint64_t epoch = 0;     // that of the trainer's lease; not 0
    uint64_t champion = 0;  // sequence of the promotion
    uint64_t change = 0;    // how often an assignment began or ended until then; not 0
    std::string arm_key;    // id of the key of arms by which the node that trains decides
    std::optional<domain::Assignment> assignment;  // nullopt: the champion alone decides
    bool operator==(const AssignmentNotice&) const = default;
};

/// Stored form, signed: schemas/keys.md. decode: data_loss "bad_notice"; permission_denied
/// "bad_signature": not by this key; those of wire::decode_assignment.
std::string encode(const AssignmentNotice& notice, const base::SigningKey& key);
base::Result<AssignmentNotice> decode_assignment_notice(std::string_view bytes,
                                                        const base::VerifyingKey& key);

/// Returns the key of the record, `assignment/<epoch>`: each epoch has its own, as notices of
/// champions have.
std::string assignment_notice_key(uint64_t epoch);
bool is_assignment_notice(std::string_view key);

}  // namespace rampart::registry
