#include "rampart/joiner/state_hash.hpp"

namespace rampart::joiner {

void StateHash::add(const base::Digest& member) {
    unsigned carry = 0;
    for (size_t i = value_.bytes.size(); i-- > 0;) {
        const unsigned sum = value_.bytes[i] + member.bytes[i] + carry;
        value_.bytes[i] = static_cast<uint8_t>(sum & 0xff);
        carry = sum >> 8;
    }
}

void StateHash::remove(const base::Digest& member) {
    int borrow = 0;
    for (size_t i = value_.bytes.size(); i-- > 0;) {
        const int difference = value_.bytes[i] - member.bytes[i] - borrow;
        value_.bytes[i] = static_cast<uint8_t>(difference & 0xff);
        borrow = difference < 0 ? 1 : 0;
    }
}

StateHash StateHash::from(const base::Digest& value) {
    StateHash hash;
    hash.value_ = value;
    return hash;
}

base::Digest state_digest(std::string_view id, const JoinState& state) {
    return state_digest(id, state, state.dated ? encode(state) : std::string());
}

base::Digest state_digest(std::string_view id, const JoinState& state, std::string_view encoded) {
    if (state.dated) {
        base::Sha256 hash;
        hash.update_field(id);
        hash.update_field(encoded);
        return hash.finish();
    }
    JoinState settled{state.decision, {}, state.reports, {}, state.taken, state.erased};
    for (auto& taken : settled.taken) taken.known_at = {};
    for (const auto& version : state.versions) {
        if (&version != latest(state, version.measure)) continue;
        settled.versions.push_back(version);
        settled.versions.back().version = 0;
        settled.versions.back().known_at = {};
    }
    base::Sha256 hash;
    hash.update_field(id);
    hash.update_field(encode(settled));
    return hash.finish();
}

}  // namespace rampart::joiner
