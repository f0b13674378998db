#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/ope/logged_feedback.hpp"

namespace rampart::certification {

/// Pseudonym: 16 bytes of HMAC-SHA-256 under a secret key. The same id has the same pseudonym.
using Pseudonym = std::array<uint8_t, 16>;

/// Returns the pseudonym of `id`; `kind`, "unit" or "record", separates equal ids of both kinds.
Pseudonym pseudonym(std::string_view key, std::string_view kind, std::string_view id);

/// Logged decision of the vault without ids and features.
struct VaultRecord {
    Pseudonym unit{}, id{};
    double p = 0;          // P(approve | x) of the policy that decided it
    double candidate = 0;  // pi(1|x)
    double reference = 0;  // s(1|x)
    double anchor = 0;     // probability by the anchor policy, where the run has one
    double impact = std::numeric_limits<double>::quiet_NaN();  // in feedback, where has_impact
    std::optional<ope::ControlVariates>
        control_variates{};  // its own, with ControlVariateKind::kRegression
    double label = std::numeric_limits<double>::quiet_NaN();  // in feedback, where has_label
    uint64_t conditions = 0;  // bits as ope::LoggedDecisions::conditions
    uint64_t groups = 0;      // bit g: in group g (base::limits::kMaxGroups bits)
    uint32_t logger = 0;      // index into VaultNames::loggers
    bool approved = false;    // drawn
    bool has_impact = false;  // a matured impact is on record
    bool has_label = false;   // a matured label is on record
    bool overridden = false;  // people did the other action
    /// Decided in the second half of the vault's period: it may change as the period grows.
    bool second_half = false;
    /// P(refer | x) of the policy that decided, candidate, reference and anchor; 1: by rule.
    double p_refer = 0, candidate_refer = 0, reference_refer = 0, anchor_refer = 0;
    ope::Referral referral = ope::Referral::kNone;

    bool granted() const {
        if (referral != ope::Referral::kNone) return referral == ope::Referral::kApproved;
        return approved != overridden;
    }
    bool unanswered() const { return referral == ope::Referral::kUnanswered; }
    /// Returns whether a referral was drawn or possible, for any policy.
    bool refers() const {
        return referral != ope::Referral::kNone || p_refer != 0 || candidate_refer != 0 ||
               reference_refer != 0 || anchor_refer != 0;
    }
};

/// Returns whether a decision was made after the middle of the vault's period.
bool in_second_half(base::TimePoint decided, base::TimePoint from, base::TimePoint to);

struct VaultNames {
    std::vector<std::string> loggers, groups;
    /// Records of the vault that are set aside, such as those of erased persons. They are in no
    /// block; the gate counts them where ranges are fixed beforehand.
    ope::ErasedCounts erased{};
};

/// Source of the vault's records in ascending order of (unit, id), so that all records of a person
/// are neighbours and every sum has one order. It can be read repeatedly, a block at a time, always
/// with the same records: a run reads it twice, however large it is, and keeps nothing.
class VaultSource {
  public:
    /// Receives a block; an error that it returns ends the reading, which returns it.
    using See = std::function<base::Status(std::span<const VaultRecord>)>;
    virtual ~VaultSource() = default;
    virtual const VaultNames& names() const = 0;
    virtual base::Status read(const See& see) const = 0;
};

/// A vault in memory.
class MemoryVault final : public VaultSource {
  public:
    /// Gives the records pseudonyms and sorts by them. Errors: ope::validate's.
    static base::Result<MemoryVault> from(const ope::LoggedDecisions& decisions,
                                          std::string_view pseudonym_key);
    MemoryVault(VaultNames names, std::vector<VaultRecord> records)
        : names_(std::move(names)), records_(std::move(records)) {}

    const VaultNames& names() const override { return names_; }
    base::Status read(const See& see) const override { return see(records_); }
    const std::vector<VaultRecord>& records() const { return records_; }

    /// Returns the same records with their outcomes, which are indexed like the decisions that it
    /// was made from; labels where constraints ask for them. Errors: invalid_argument "bad_shape".
    base::Result<MemoryVault> with_impacts(std::span<const double> impact,
                                           std::span<const double> label = {}) const;

  private:
    VaultNames names_;
    std::vector<VaultRecord> records_;
    std::vector<uint32_t> source_;  // position in the decisions of each record
};

}  // namespace rampart::certification
