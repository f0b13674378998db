#include "services/outcome_joiner/joiner_service.hpp"

namespace rampart::outcome_joiner {

base::Result<size_t> catch_up(joiner::OutcomeJoiner& joiner) {
    constexpr size_t kBatch = 5000;
    size_t total = 0;
    while (true) {
        RAMPART_TRY(const auto report, joiner.poll(kBatch));
        if (!report.stopped.empty()) {
            const auto& stopped = report.stopped.front();
            return base::failed_precondition("partition_stopped", "partition {} of topic '{}' stopped: {}",
                                             stopped.partition, stopped.topic, stopped.error.message);
        }
        if (report.records == 0) return total;
        total += report.records;
    }
}

}  // namespace rampart::outcome_joiner
