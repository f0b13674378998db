#pragma once

#include <cstdint>

namespace rampart::peer_gbdt {

/// Wall time and CPU time of this process' threads, in seconds, since some origin.
struct Moment {
    double wall = 0;
    double cpu = 0;
    static Moment now();
    Moment operator-(const Moment& other) const { return {wall - other.wall, cpu - other.cpu}; }
};

/// Returns this process' resident memory in KiB; 0 if the system does not report it.
uint64_t resident_kib();
uint64_t peak_resident_kib();
/// Resets the peak to the present resident size. Does nothing if the system does not support it.
void reset_peak();

}  // namespace rampart::peer_gbdt
