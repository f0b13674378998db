#include "tools/peers/gbdt/process.hpp"

#include <ctime>
#include <fstream>
#include <string>

namespace rampart::peer_gbdt {
namespace {

double seconds(clockid_t clock) {
    timespec at{};
    clock_gettime(clock, &at);
    return static_cast<double>(at.tv_sec) + 1e-9 * static_cast<double>(at.tv_nsec);
}

uint64_t status_of(const std::string& name) {
    std::ifstream in("/proc/self/status");
    for (std::string word; in >> word;) {
        uint64_t value = 0;
        if (word == name && in >> value) return value;
    }
    return 0;
}

}  // namespace

Moment Moment::now() { return {seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID)}; }

uint64_t resident_kib() { return status_of("VmRSS:"); }
uint64_t peak_resident_kib() { return status_of("VmHWM:"); }
void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace rampart::peer_gbdt
