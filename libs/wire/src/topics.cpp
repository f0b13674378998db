#include "rampart/wire/topics.hpp"

#include "rampart/base/limits.hpp"

namespace rampart::wire {

using streaming::TopicSpec;

Topics Topics::with_prefix(std::string_view prefix) {
    const auto named = [&](std::string_view name) {
        return std::string(prefix) + std::string(name);
    };
    return {named("applications"), named("decisions"),
            named("outcomes"),     named("protected-attributes"),
            named("policies"),     named("quarantine"),
            named("leases"),       named("person-keys")};
}

std::vector<TopicSpec> Topics::specs(int32_t partitions, std::optional<base::Duration> kept) const {
    using enum TopicSpec::Cleanup;
    constexpr auto kRecord = static_cast<uint32_t>(base::limits::kMaxRecordBytes + (64u << 10));
    constexpr uint32_t kPolicy = 64u << 20;
    const auto days = [](int64_t n) { return std::optional(base::Duration::days(n)); };
    // a week: all nodes that decide a partition may be down for so long
    return {{applications, partitions, kDelete, days(30), kRecord, {}, false, days(7)},
            // the joined state is rebuilt from both
            {decisions, partitions, kDelete, kept, kRecord, {}, true, kept},
            {outcomes, partitions, kDelete, kept, kRecord, {}, true, kept},
            {protected_attributes, 1, kCompact, {}, kRecord, days(1)},
            {policies, 1, kCompact, {}, kPolicy},
            {quarantine, 1, kDelete, days(365), kRecord},
            {leases, 1, kCompact, {}, kRecord, days(1)},  // read from its beginning at a start
            {person_keys, 1, kCompact, {}, kRecord, days(1)}};
}

}  // namespace rampart::wire
