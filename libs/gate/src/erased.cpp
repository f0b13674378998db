#include "erased.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace rampart::gate {
namespace {

using privacy::ErasedRecords;

bool may_be_of(const ErasedRecords& records, const ErasedFrom& set) {
    if (records.month.empty()) return true;
    if (records.side != set.side || records.month > base::month_of(set.to)) return false;
    // with all earlier records there, a person's later ones are no evidence
    return set.from ? records.month >= base::month_of(*set.from) : !records.later;
}

/// Returns whether a name such as "sex=female,age=under_30" has the part.
bool has_part(std::string_view name, std::string_view part) {
    while (!name.empty()) {
        const size_t end = std::min(name.find(','), name.size());
        if (name.substr(0, end) == part) return true;
        name.remove_prefix(std::min(end + 1, name.size()));
    }
    return false;
}

/// Returns whether people of the cell are in the group.
bool is_in(std::string_view cell, std::string_view group) {
    while (!group.empty()) {
        const size_t end = std::min(group.find(','), group.size());
        if (!has_part(cell, group.substr(0, end))) return false;
        group.remove_prefix(std::min(end + 1, group.size()));
    }
    return true;
}

}  // namespace

ope::ErasedCounts count_erased(std::span<const ErasedRecords> tally, const ErasedFrom& set) {
    ope::ErasedCounts out;
    std::vector<size_t> of_group(set.groups.size(), 0);
    for (const auto& records : tally) {
        if (!may_be_of(records, set)) continue;
        out.records += records.records;
        const bool known =
            std::find(set.cells.begin(), set.cells.end(), records.cell) != set.cells.end();
        for (size_t g = 0; g < of_group.size(); ++g) {
            if (!known || is_in(records.cell, set.groups[g])) of_group[g] += records.records;
        }
    }
    if (out.records > 0) out.of_group = std::move(of_group);
    return out;
}

ope::ErasedCounts share_of(ope::ErasedCounts counts, double share) {
    const auto part = [share](size_t n) {
        return static_cast<size_t>(std::ceil(share * static_cast<double>(n)));
    };
    counts.records = part(counts.records);
    for (size_t& records : counts.of_group) records = part(records);
    return counts;
}

}  // namespace rampart::gate
