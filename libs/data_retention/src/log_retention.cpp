#include "rampart/data_retention/log_retention.hpp"

#include "rampart/base/log.hpp"

namespace rampart::data_retention {

using base::Result;
using base::Status;
using streaming::Offset;
using streaming::PartitionId;

namespace {

constexpr base::Logger kLog("data_retention");

}  // namespace

Status LogRetention::apply(base::TimePoint now) {
    const std::lock_guard lock(mutex_);
    const auto started = std::chrono::steady_clock::now();
    const auto period = std::chrono::microseconds(period_.micros());
    if (applied_at_ && started - *applied_at_ < period) return base::ok();
    applied_at_ = started;
    const auto needed = [this](std::string_view topic,
                               PartitionId partition) -> Result<std::optional<Offset>> {
        if (topic != deps_.applications_topic) return std::optional<Offset>();
        RAMPART_TRY(const auto settled, deps_.settled(partition));
        return std::optional(settled);
    };
    RAMPART_TRY(const uint64_t dropped, deps_.drop(now, needed));
    if (dropped > 0) kLog.info("msg=\"retention applied\" records={}", dropped);
    return base::ok();
}

Status note_sealing(privacy::Register& list, const streaming::Reader& log,
                    std::string_view decisions_topic, int32_t partitions, bool shared, bool seals) {
    if (!seals) return list.note_clear_log();
    if (shared) return base::ok();
    for (int32_t p = 0; p < partitions; ++p) {
        RAMPART_TRY(const auto end, log.end_offset(decisions_topic, PartitionId(p)));
        if (end.value() > 0) return base::ok();
    }
    return list.note_sealed_log();
}

}  // namespace rampart::data_retention
