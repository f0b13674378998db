#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/domain/ids.hpp"

namespace rampart::registry {

enum class PromotionKind : uint8_t {
    kBootstrap = 0,  // the declared first policy, once, without a certificate
    kPromotion = 1,  // by certificate
    kRollback = 2,   // return to the previous champion
};
std::string_view to_string(PromotionKind kind);  // "bootstrap", "promotion", "rollback"

/// An entry: `policy` decides from `at` on.
struct Promotion {
    uint64_t sequence = 0;  // 1, 2, 3, ...
    PromotionKind kind = PromotionKind::kBootstrap;
    domain::PolicyId policy;
    std::optional<domain::PolicyId> replaced;  // the previous champion; nullopt for the bootstrap
    /// Certificate of `policy`; nullopt: uncertified.
    std::optional<base::Digest> certificate;
    base::TimePoint at;
    std::string actor;
    std::string reason;  // reason of a rollback, for people

    bool certified() const { return certificate.has_value(); }
    bool operator==(const Promotion&) const = default;
};

/// Permanent history of champions. Entries are never removed. Not thread safe.
class PromotionLog {
  public:
    /// Appends an entry. Fails with failed_precondition "time_goes_back" (before the last entry's
    /// time), data_loss "promotion_log" (a gap in the sequence, a bootstrap that is not first, a
    /// replaced policy other than the current one).
    base::Status add(Promotion promotion);

    const std::vector<Promotion>& entries() const { return entries_; }
    /// nullptr: empty. Pointers are valid until the next add().
    const Promotion* current() const { return entries_.empty() ? nullptr : &entries_.back(); }
    /// Returns the champion at `time`: the last entry at or before it; nullptr: none yet.
    const Promotion* live_at(base::TimePoint time) const;
    /// Returns the entry to which a rollback returns: the entry below the current
    /// one on the stack, where a promotion pushes and a rollback pops. Two rollbacks
    /// in a row go back two champions and do not alternate. nullptr: the current
    /// champion is the bootstrap.
    const Promotion* rollback_target() const;
    /// Returns the promotion that used a certificate; nullptr: none.
    const Promotion* used(const base::Digest& certificate) const;

  private:
    std::vector<Promotion> entries_;
    /// Stack of positions in entries_; the current champion is the last.
    std::vector<size_t> standing_;
};

std::string encode(const Promotion& promotion);
base::Result<Promotion> decode_promotion(std::string_view bytes);

}  // namespace rampart::registry
