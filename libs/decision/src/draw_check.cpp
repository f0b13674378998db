#include "rampart/decision/draw_check.hpp"

#include <bit>
#include <cstdint>

#include "rampart/base/log.hpp"
#include "rampart/decision/reasons.hpp"

namespace rampart::decision {
namespace {
constexpr base::Logger kLog("decision");
}  // namespace

DrawCheck::DrawCheck(std::span<const DrawKey> keys) {
    for (const auto& key : keys) secrets_[key.id] = key.secret;
}

base::Status DrawCheck::check(const domain::Decision& decision) {
    const auto found = secrets_.find(decision.draw_key_id);
    if (found == secrets_.end()) {
        note_unknown(decision.draw_key_id);
        return base::ok();
    }
    const DrawKey key{found->first, found->second};
    double draw = 0;
    if (const auto& window = decision.draw_window) {
        const auto& person = decision.application.person;
        const CoolOff cool_off{window->product, window->cool_off_days};
        if (draw_window(key, person, cool_off, decision.decided_at) != *window)
            return base::make_error(Reason::kForeignDraw,
                                    "decision {}: its window is not the one that key {} gives",
                                    decision.id, key.id);
        draw = window_draw(key, person, *window);
    } else {
        draw = draw_by_id(key, decision.id);
    }
    if (std::bit_cast<uint64_t>(draw) == std::bit_cast<uint64_t>(decision.draw)) return base::ok();
    // without the key's number: it would say to who can write to the log what to forge
    return base::make_error(Reason::kForeignDraw,
                            "decision {}: its draw is not the one that key {} gives", decision.id,
                            key.id);
}

void DrawCheck::note_unknown(const std::string& key_id) {
    ++unchecked_;
    const std::lock_guard lock(mutex_);
    if (unknown_.size() < kKeysNamed && unknown_.insert(key_id).second)
        kLog.warning(
            "msg=\"the key of draws of another node is not here: its decisions are joined without "
            "a check of their draws\" key={} runbook=ops/runbooks/partitions.md#quarantine",
            key_id);
}

}  // namespace rampart::decision
