#include "rampart/certification/vault.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "rampart/base/digest.hpp"
#include "rampart/ope/reasons.hpp"

namespace rampart::certification {
namespace {

using base::Result;

VaultRecord record_of(const ope::LoggedDecisions& d, size_t i) {
    VaultRecord r;
    r.p = d.p_approve[i];
    r.candidate = d.candidate[i];
    r.reference = d.reference[i];
    if (!d.anchor.empty()) r.anchor = d.anchor[i];
    if (!d.control_variates.empty()) r.control_variates = d.control_variates[i];
    r.logger = d.logger[i];
    r.approved = d.approved[i] != 0;
    r.has_impact = d.has_impact[i] != 0;
    if (!d.has_label.empty()) r.has_label = d.has_label[i] != 0;
    if (!d.conditions.empty()) r.conditions = d.conditions[i];
    if (!d.second_half.empty()) r.second_half = d.second_half[i] != 0;
    if (d.referred.empty()) return r;
    r.p_refer = d.p_refer[i];
    r.candidate_refer = d.candidate_refer[i];
    r.reference_refer = d.reference_refer[i];
    if (!d.anchor_refer.empty()) r.anchor_refer = d.anchor_refer[i];
    r.referral = d.referral(i);
    return r;
}

}  // namespace

Pseudonym pseudonym(std::string_view key, std::string_view kind, std::string_view id) {
    std::string message;
    message.reserve(kind.size() + 1 + id.size());
    message += kind;
    message += '\0';
    message += id;
    const base::Digest digest = base::hmac_sha256(key, message);
    Pseudonym out;
    std::copy_n(digest.bytes.begin(), out.size(), out.begin());
    return out;
}

bool in_second_half(base::TimePoint decided, base::TimePoint from, base::TimePoint to) {
    return (decided - from).micros() > (to - from).micros() / 2;
}

Result<MemoryVault> MemoryVault::from(const ope::LoggedDecisions& d, std::string_view key) {
    RAMPART_RETURN_IF_ERROR(ope::validate(d));
    std::vector<VaultRecord> unsorted(d.size());
    std::unordered_map<std::string_view, Pseudonym> units;  // a person often has several records
    for (size_t i = 0; i < d.size(); ++i) {
        unsorted[i] = record_of(d, i);
        unsorted[i].id = pseudonym(key, "record", d.record_id[i]);
        const auto [unit, fresh] = units.try_emplace(d.unit_id[i]);
        if (fresh) unit->second = pseudonym(key, "unit", d.unit_id[i]);
        unsorted[i].unit = unit->second;
    }
    for (const uint32_t i : d.overridden) unsorted[i].overridden = true;
    VaultNames names{d.logger_ids, {}, d.erased};
    for (size_t g = 0; g < d.groups.size(); ++g) {
        names.groups.push_back(d.groups[g].name);
        for (const uint32_t i : d.groups[g].records) unsorted[i].groups |= uint64_t{1} << g;
    }
    std::vector<uint32_t> order(d.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        return std::tie(unsorted[a].unit, unsorted[a].id) <
               std::tie(unsorted[b].unit, unsorted[b].id);
    });
    std::vector<VaultRecord> records;
    records.reserve(d.size());
    for (const uint32_t i : order) records.push_back(unsorted[i]);
    MemoryVault vault(std::move(names), std::move(records));
    vault.source_ = std::move(order);
    return vault;
}

Result<MemoryVault> MemoryVault::with_impacts(std::span<const double> impact,
                                              std::span<const double> label) const {
    if (impact.size() != source_.size() || (!label.empty() && label.size() != source_.size())) {
        return base::make_error(ope::Reason::kBadShape,
                                "{} impacts and {} labels for {} vault records", impact.size(),
                                label.size(), source_.size());
    }
    MemoryVault out = *this;
    for (size_t i = 0; i < source_.size(); ++i) {
        out.records_[i].impact = impact[source_[i]];
        if (!label.empty()) out.records_[i].label = label[source_[i]];
    }
    return out;
}

}  // namespace rampart::certification
