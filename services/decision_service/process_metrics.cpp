#include "services/decision_service/process_metrics.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "rampart/runtime/metric_list.hpp"

namespace rampart::decision_service {

namespace metric = runtime::metric;

namespace {

/// Returns the fields of /proc/self/stat behind the name: [0] is the third of proc(5), the state.
std::vector<std::string> stat_fields() {
    std::ifstream file("/proc/self/stat");
    std::string line;
    std::getline(file, line);
    const size_t name_end = line.rfind(')');
    std::vector<std::string> fields;
    if (name_end == std::string::npos) return fields;
    std::istringstream rest(line.substr(name_end + 1));
    for (std::string field; rest >> field;) fields.push_back(field);
    return fields;
}

/// Seconds since the epoch at which the machine started; 0: not known.
double boot_time() {
    std::ifstream file("/proc/stat");
    for (std::string name; file >> name;) {
        double value = 0;
        if (name == "btime" && file >> value) return value;
        std::getline(file, name);
    }
    return 0;
}

}  // namespace

void write_process(runtime::Samples& out) {
    const auto fields = stat_fields();
    // by their numbers in proc(5)
    const auto field = [&](size_t number) { return std::stod(fields[number - 3]); };
    const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
    constexpr size_t kUser = 14, kSystem = 15, kThreads = 20, kStart = 22, kVirtual = 23, kRss = 24;
    if (fields.size() > kRss - 3) {
        out.add(metric::kCpuSeconds, (field(kUser) + field(kSystem)) / ticks);
        out.add(metric::kThreads, field(kThreads));
        out.add(metric::kVirtual, field(kVirtual));
        out.add(metric::kResident, field(kRss) * static_cast<double>(::sysconf(_SC_PAGESIZE)));
        if (const double boot = boot_time(); boot > 0) {
            out.add(metric::kStartTime, boot + field(kStart) / ticks);
        }
    }
    std::error_code failure;
    size_t open = 0;
    std::filesystem::directory_iterator files("/proc/self/fd", failure);
    for (const std::filesystem::directory_iterator end; !failure && files != end;
         files.increment(failure)) {
        ++open;
    }
    if (!failure && open > 0) out.add(metric::kOpenFds, static_cast<double>(open - 1));  // its own
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        out.add(metric::kMaxFds, static_cast<double>(limit.rlim_cur));
    }
}

void write_traffic(const http::Traffic& traffic, runtime::Samples& out) {
    const auto connections = traffic.connections();
    out.add(metric::kConnections, static_cast<double>(connections.accepted));
    out.add(metric::kConnectionsOpen, static_cast<double>(connections.open));
    out.add(metric::kConnectionsRefused, static_cast<double>(connections.refused));
    out.add(metric::kConnectionsMadeRoom, static_cast<double>(connections.made_room));
    if (const auto ends = traffic.certificate_ends()) {
        out.add(metric::kTlsCertificateEnd, static_cast<double>(ends->micros()) / 1e6);
        out.add(metric::kTlsCertificateLoaded, traffic.certificate_loaded() ? 1 : 0);
    }
    for (size_t i = 0; i < http::kHandshakeFailures.size(); ++i) {
        const auto why = static_cast<http::HandshakeFailure>(i);
        out.add(metric::kHandshakeFailures, static_cast<double>(traffic.handshake_failures(why)),
                {{"reason", std::string(http::kHandshakeFailures[i])}});
    }
    out.add(metric::kAcceptFailures, static_cast<double>(connections.accept_failures));
    out.add(metric::kWaitRefusals, static_cast<double>(traffic.wait_refusals()));
    out.add(metric::kRequestsWaiting, static_cast<double>(traffic.waiting()));
    traffic.visit([&](std::string_view route, std::string_view method, const auto& requests) {
        const runtime::Labels labels{{"route", std::string(route)},
                                     {"method", std::string(method)}};
        for (const auto& [status, count] : requests.by_status) {
            auto with_status = labels;
            with_status.emplace_back("status", fmt::format("{}", status));
            out.add(metric::kRequests, static_cast<double>(count), with_status);
        }
        out.add(metric::kRequestBytes, static_cast<double>(requests.request_bytes), labels);
        out.add(metric::kResponseBytes, static_cast<double>(requests.response_bytes), labels);
        out.add(metric::kRequestSeconds, *requests.seconds, labels);
    });
}

}  // namespace rampart::decision_service
