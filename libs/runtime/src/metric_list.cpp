#include "rampart/runtime/metric_list.hpp"

namespace rampart::runtime::metric {

std::span<const MetricInfo> all() {
#define RAMPART_METRIC_NAME(constant, type, name, labels, help) constant,
    static constexpr MetricInfo kAll[] = {RAMPART_METRICS(RAMPART_METRIC_NAME)};
#undef RAMPART_METRIC_NAME
    return kAll;
}

}  // namespace rampart::runtime::metric
