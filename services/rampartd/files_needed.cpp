#include "services/rampartd/files_needed.hpp"

#include "services/decision_service/files_needed.hpp"

namespace rampart::rampartd {

size_t databases_of(const Settings& settings) {
    // registry, protected attributes, person keys, register of holds
    size_t count = settings.log.held().size() + settings.log.own.size() + 4;
    if (settings.trains) ++count;                                     // training runs
    if (settings.log.broker == LogSettings::Broker::kLocal) ++count;  // the log
    return count;
}

std::vector<runtime::FilesNeeded> files_needed(const Settings& settings) {
    constexpr uint64_t kKafka = 256;  // three clients, with a socket and a pipe for each broker
    auto needs = decision_service::files_needed(databases_of(settings), settings.http);
    if (settings.log.broker == LogSettings::Broker::kKafka) needs.push_back({"Kafka", kKafka});
    return needs;
}

}  // namespace rampart::rampartd
