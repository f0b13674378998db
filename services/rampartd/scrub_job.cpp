#include "services/rampartd/scrub_job.hpp"

#include <chrono>
#include <thread>

#include "rampart/base/log.hpp"
#include "rampart/runtime/metric_list.hpp"
#include "rampart/storage/database_figures.hpp"
#include "rampart/storage/scrub.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {
namespace {

constexpr base::Logger kLog("rampartd");
constexpr auto kPause = std::chrono::milliseconds(100);

base::Status found(const storage::ScrubReport& report) {
    if (report.damaged.empty()) return base::ok();
    return base::make_error(Reason::kDamageFound, "{} of {} files are damaged, the first is '{}'",
                            report.damaged.size(), report.files, report.damaged.front().string());
}

}  // namespace

base::Status ScrubJob::run(base::TimePoint now, const std::function<bool()>& stopping) {
    const auto wait = [&](base::Duration duration) {
        using std::chrono::steady_clock;
        const auto until = steady_clock::now() + std::chrono::microseconds(duration.micros());
        while (!stopping() && steady_clock::now() < until) std::this_thread::sleep_for(kPause);
        return !stopping();
    };
    const auto report = storage::scrub({bytes_per_second_, wait});
    if (report.stopped) return base::ok();
    kLog.info("msg=\"databases read through\" files={} bytes={} damaged={}", report.files,
              report.bytes, report.damaged.size());
    namespace metric = runtime::metric;
    metrics_.gauge(metric::kScrubDamaged).set(static_cast<double>(report.damaged.size()));
    if (report.damaged.empty())
        metrics_.gauge(metric::kScrubbed).set(static_cast<double>(now.micros()) / 1e6);
    const std::lock_guard lock(mutex_);
    status_ = found(report);
    return status_;
}

base::Status ScrubJob::status() const {
    {
        const std::lock_guard lock(mutex_);
        if (!status_) return status_;
    }
    const auto met = storage::damage_met();
    if (met) return met;
    return base::make_error(Reason::kDamageFound, "{}", met.error().message);
}

}  // namespace rampart::rampartd
