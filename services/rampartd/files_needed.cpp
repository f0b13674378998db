#include "services/rampartd/files_needed.hpp"

#include "services/decision_service/files_needed.hpp"

namespace rampart::rampartd {

size_t databases_of(const Settings& settings) {
    // registry, protected attributes, person keys, register of holds
    size_t count = settings.log.own.size() + 4;
    if (settings.log.roles.join) count += settings.log.held().size();
    if (settings.trains) ++count;                                     // training runs
    if (settings.log.broker == LogSettings::Broker::kLocal) ++count;  // the log
    return count;
}

base::Status reserve_files(const Settings& settings) {
    constexpr uint64_t kKafka = 256;  // three clients, with a socket and a pipe for each broker
    std::vector<runtime::FilesNeeded> others;
    if (settings.log.broker == LogSettings::Broker::kKafka) others.push_back({"Kafka", kKafka});
    return decision_service::reserve_files(databases_of(settings), settings.http,
                                           std::move(others));
}

}  // namespace rampart::rampartd
