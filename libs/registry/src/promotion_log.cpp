#include "rampart/registry/promotion_log.hpp"

#include <algorithm>

#include "rampart/base/bytes.hpp"
#include "rampart/registry/reasons.hpp"

namespace rampart::registry {
namespace {

constexpr uint8_t kFormat = 1;

base::Error broken(uint64_t sequence, std::string_view what) {
    return base::make_error(Reason::kPromotionLog,
                            "promotion log, entry {}: {}; restore the registry from a copy",
                            sequence, what);
}

void append_optional(std::string& out, const std::optional<std::string>& value) {
    base::append_u8(out, value.has_value());
    if (value) base::append_field(out, *value);
}

base::Result<std::optional<std::string>> take_optional(base::ByteReader& reader) {
    RAMPART_TRY(const auto present, reader.u8());
    if (present > 1)
        return base::make_error(Reason::kPromotionFormat, "promotion: a flag is {}", present);
    if (present == 0) return std::optional<std::string>();
    RAMPART_TRY(const auto value, reader.field());
    return std::optional<std::string>(value);
}

}  // namespace

std::string_view to_string(PromotionKind kind) {
    switch (kind) {
        case PromotionKind::kBootstrap:
            return "bootstrap";
        case PromotionKind::kPromotion:
            return "promotion";
        case PromotionKind::kRollback:
            return "rollback";
    }
    return "unknown";
}

base::Status PromotionLog::add(Promotion promotion) {
    const Promotion* last = current();
    if (promotion.sequence != entries_.size() + 1)
        return broken(promotion.sequence, "out of sequence");
    if ((last == nullptr) != (promotion.kind == PromotionKind::kBootstrap)) {
        return broken(promotion.sequence, "a bootstrap must be the first entry, and only that");
    }
    if (promotion.replaced != (last ? std::optional(last->policy) : std::nullopt)) {
        return broken(promotion.sequence, "it replaces another policy than the current one");
    }
    if (promotion.kind != PromotionKind::kRollback &&
        promotion.certified() != (promotion.kind == PromotionKind::kPromotion)) {
        return broken(promotion.sequence, "a promotion has a certificate and a bootstrap has none");
    }
    if (last != nullptr && promotion.at < last->at) {
        return base::make_error(
            Reason::kTimeGoesBack,
            "the promotion is dated {}, before the last one at {}: correct the clock",
            base::to_iso8601(promotion.at), base::to_iso8601(last->at));
    }
    if (promotion.kind == PromotionKind::kRollback) {
        const Promotion* target = rollback_target();
        if (target == nullptr || target->policy != promotion.policy ||
            target->certificate != promotion.certificate) {
            return broken(promotion.sequence,
                          "it rolls back to another policy than the one before");
        }
        standing_.pop_back();
    } else {
        standing_.push_back(entries_.size());
    }
    entries_.push_back(std::move(promotion));
    return base::ok();
}

const Promotion* PromotionLog::live_at(base::TimePoint time) const {
    const auto after = std::upper_bound(
        entries_.begin(), entries_.end(), time,
        [](base::TimePoint t, const Promotion& promotion) { return t < promotion.at; });
    return after == entries_.begin() ? nullptr : &*(after - 1);
}

const Promotion* PromotionLog::rollback_target() const {
    return standing_.size() < 2 ? nullptr : &entries_[standing_[standing_.size() - 2]];
}

const Promotion* PromotionLog::used(const base::Digest& certificate) const {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const Promotion& promotion) {
            return promotion.kind == PromotionKind::kPromotion &&
                   promotion.certificate == certificate;
        });
    return found == entries_.end() ? nullptr : &*found;
}

std::string encode(const Promotion& promotion) {
    std::string out;
    base::append_u8(out, kFormat);
    base::append_u64(out, promotion.sequence);
    base::append_u8(out, static_cast<uint8_t>(promotion.kind));
    base::append_field(out, promotion.policy.value());
    append_optional(out,
                    promotion.replaced ? std::optional(promotion.replaced->value()) : std::nullopt);
    append_optional(
        out, promotion.certificate ? std::optional(promotion.certificate->hex()) : std::nullopt);
    base::append_i64(out, promotion.at.micros());
    base::append_field(out, promotion.actor);
    base::append_field(out, promotion.reason);
    return out;
}

base::Result<Promotion> decode_promotion(std::string_view bytes) {
    base::ByteReader reader(bytes);
    Promotion promotion;
    RAMPART_TRY(const auto format, reader.u8());
    if (format != kFormat) {
        return base::make_error(Reason::kPromotionFormat,
                                "promotion has format {}, this version reads {}", format, kFormat);
    }
    RAMPART_TRY(promotion.sequence, reader.u64());
    RAMPART_TRY(const auto kind, reader.u8());
    if (kind > static_cast<uint8_t>(PromotionKind::kRollback)) {
        return base::make_error(Reason::kPromotionFormat, "promotion {} is of unknown kind {}",
                                promotion.sequence, kind);
    }
    promotion.kind = static_cast<PromotionKind>(kind);
    RAMPART_TRY(const auto policy, reader.field());
    promotion.policy = domain::PolicyId(std::string(policy));
    RAMPART_TRY(const auto replaced, take_optional(reader));
    if (replaced) promotion.replaced = domain::PolicyId(*replaced);
    RAMPART_TRY(const auto certificate, take_optional(reader));
    if (certificate) {
        RAMPART_TRY(promotion.certificate, base::Digest::from_hex(*certificate));
    }
    RAMPART_TRY(const auto at, reader.i64());
    promotion.at = base::TimePoint::from_micros(at);
    RAMPART_TRY(promotion.actor, reader.field());
    RAMPART_TRY(promotion.reason, reader.field());
    if (!reader.empty()) {
        return base::make_error(Reason::kPromotionFormat, "promotion {}: {} bytes too many",
                                promotion.sequence, reader.rest().size());
    }
    return promotion;
}

}  // namespace rampart::registry
