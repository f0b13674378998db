#include "rampart/training/left_out.hpp"

namespace rampart::training {

using training_set::Omission;

LeftOutCounts::Count& LeftOutCounts::count_of(Omission why) {
    Count& count = counts_[why];
    count.of_group.resize(group_names_.size());
    return count;
}

void LeftOutCounts::add(Omission why, std::span<const uint32_t> groups) {
    Count& count = count_of(why);
    ++count.all;
    count.unknown += groups.empty() ? 1 : 0;
    for (const uint32_t group : groups) ++count.of_group[group];
}

void LeftOutCounts::add(Omission why, const ope::ErasedCounts& counts) {
    if (counts.records == 0) return;
    Count& count = count_of(why);
    count.all += counts.records;
    for (size_t g = 0; g < count.of_group.size(); ++g) count.of_group[g] += counts.in_group(g);
}

std::vector<certification::LeftOut> LeftOutCounts::list() const {
    std::vector<certification::LeftOut> out;
    for (const auto& [why, count] : counts_) {
        const std::string reason(to_string(why));
        out.push_back({reason, "", count.all});
        for (size_t g = 0; g < count.of_group.size(); ++g) {
            if (count.of_group[g] > 0) out.push_back({reason, group_names_[g], count.of_group[g]});
        }
        if (count.unknown > 0)
            out.push_back({reason, std::string(certification::kUnknownGroup), count.unknown});
    }
    return out;
}

}  // namespace rampart::training
