#include "services/rampartd/quarantine_upkeep.hpp"

#include "rampart/base/log.hpp"
#include "rampart/runtime/metric_list.hpp"

namespace rampart::rampartd {

namespace metric = runtime::metric;

namespace {

constexpr base::Logger kLog("rampartd");

}  // namespace

base::Status QuarantineUpkeep::apply(base::TimePoint now) {
    const std::lock_guard lock(mutex_);
    const auto started = std::chrono::steady_clock::now();
    if (applied_at_ && started - *applied_at_ < std::chrono::microseconds(period_.micros()))
        return base::ok();
    applied_at_ = started;
    RAMPART_TRY(const auto joined,
                data_retention::trim(deps_.joiner, deps_.decisions_topic, limits_, now));
    note("joins", joined);
    deps_.metrics.gauge(metric::kQuarantineUnread).set(static_cast<double>(joined.stays));
    RAMPART_TRY(const auto applications, data_retention::trim(deps_.applications, limits_, now));
    note("applications", applications);
    return base::ok();
}

void QuarantineUpkeep::note(const char* store, const data_retention::QuarantineReport& report) {
    const auto deleted = [&](const char* bound) -> runtime::Counter& {
        return deps_.metrics.counter(metric::kQuarantineDeleted,
                                     {{"store", store}, {"bound", bound}});
    };
    deleted("age").add(report.too_old);
    deleted("bytes").add(report.too_much);
    deps_.metrics.gauge(metric::kQuarantineBytes, {{"store", store}})
        .set(static_cast<double>(report.bytes >> 20 << 20));
    if (report.too_old + report.too_much > 0) {
        kLog.warning(
            "msg=\"records deleted from quarantine by its bounds\" store={} too_old={} "
            "too_many_bytes={} left={}",
            store, report.too_old, report.too_much, report.records);
    }
    if (report.bytes > limits_.max_bytes) {
        kLog.warning(
            "msg=\"quarantine is over its bound with decisions that no bound deletes\" store={} "
            "bytes={} decisions={}",
            store, report.bytes, report.stays);
    }
}

}  // namespace rampart::rampartd
