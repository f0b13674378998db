#include "rampart/joiner/catch_up.hpp"

#include "rampart/joiner/reasons.hpp"

namespace rampart::joiner {

base::Result<CaughtUp> catch_up(joiner::OutcomeJoiner& joiner,
                                const std::function<bool()>& stopping) {
    constexpr size_t kBatch = 5000;
    CaughtUp all;
    joiner::Ends ends;
    while (true) {
        RAMPART_TRY(auto report, joiner.poll(kBatch, &ends));
        all.records += report.records;
        if (stopping && stopping())
            return base::make_error(Reason::kReadingInterrupted,
                                    "reading the log was interrupted after {} records",
                                    all.records);
        if (report.records > 0) continue;
        all.stopped = std::move(report.stopped);
        return all;
    }
}

base::Status nothing_stopped(const std::vector<joiner::StoppedPartition>& stopped) {
    if (stopped.empty()) return base::ok();
    const auto& first = stopped.front();
    const std::string more =
        stopped.size() == 1 ? "" : fmt::format(" (and {} more sources)", stopped.size() - 1);
    const std::string which =
        first.partition.value() < 0 ? "" : fmt::format("partition {} of ", first.partition);
    return base::Error{
        first.error.code, first.error.reason,
        fmt::format("{}topic '{}' is stopped: {}{}; no model is trained until it goes on, "
                    "see ops/runbooks/partitions.md",
                    which, first.topic, first.error.message, more)};
}

}  // namespace rampart::joiner
