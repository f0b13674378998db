#pragma once

#include <optional>
#include <string>

#include "rampart/champion_monitor/champion_monitor.hpp"

namespace rampart::champion_monitor {

/// End of the certificate by which the champion decides.
struct CertificateEnd {
    std::optional<base::TimePoint> at;  // event time; nullopt: none
    bool expired = false;               // the champion decides on all the same
};

/// Returns the answer to GET /v1/monitor: settings, the end of the champion's certificate, and the
/// look if there is one. Missing bounds are null. `why_not`: reason why nothing is watched here;
/// empty: it is.
std::string to_json(const MonitorSettings& settings, const std::optional<Look>& look,
                    const CertificateEnd& certificate, const std::string& why_not = {});

}  // namespace rampart::champion_monitor
