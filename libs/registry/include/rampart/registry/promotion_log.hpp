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
    kRollback = 2,   // back to the champion before
};
std::string_view to_string(PromotionKind kind);  // "bootstrap", "promotion", "rollback"

/// From `at` on, `policy` decides.
struct Promotion {
    uint64_t sequence = 0;  // 1, 2, 3, ...
    PromotionKind kind = PromotionKind::kBootstrap;
    domain::PolicyId policy;
    std::optional<domain::PolicyId> replaced;  // the champion before; nullopt for the bootstrap
    std::optional<base::Digest>
        certificate;  // that let `policy` become champion; nullopt: uncertified
    base::TimePoint at;
    std::string actor;
    std::string reason;  // of a rollback, for people

    bool certified() const { return certificate.has_value(); }
    bool operator==(const Promotion&) const = default;
};

/// Who decided when, for ever. Nothing is ever taken out. Not thread safe.
class PromotionLog {
  public:
    /// Appends. Errors: failed_precondition "time_goes_back" (before the last entry's time),
    /// data_loss "promotion_log" (a gap in the sequence, a bootstrap that is not first, another
    /// replaced policy than the current one).
    base::Status add(Promotion promotion);

    const std::vector<Promotion>& entries() const { return entries_; }
    /// nullptr: empty. Pointers are valid until the next add().
    const Promotion* current() const { return entries_.empty() ? nullptr : &entries_.back(); }
    /// Who decided at `time`: the last entry at or before it; nullptr: nobody yet.
    const Promotion* live_at(base::TimePoint time) const;
    /// The entry that a rollback returns to: the champion below the current one, where each
    /// promotion stands on the champion that it replaced and a rollback takes one off. Two
    /// rollbacks in a row go two champions back, not to and fro. nullptr: the current one is the
    /// bootstrap.
    const Promotion* rollback_target() const;
    /// The promotion that used a certificate; nullptr: none did.
    const Promotion* used(const base::Digest& certificate) const;

  private:
    std::vector<Promotion> entries_;
    std::vector<size_t>
        standing_;  // positions in entries_ of the current champion and those below it
};

std::string encode(const Promotion& promotion);
base::Result<Promotion> decode_promotion(std::string_view bytes);

}  // namespace rampart::registry
