#pragma once

#include <cstdint>

namespace rampart::peer_gbdt {

/// Time that went by and time that this process' threads worked, in seconds, since some beginning.
struct Moment {
    double wall = 0;
    double cpu = 0;
    static Moment now();
    Moment operator-(const Moment& other) const { return {wall - other.wall, cpu - other.cpu}; }
};

/// Of this process, in KiB; 0 where the system does not say.
uint64_t resident_kib();
uint64_t peak_resident_kib();
/// Lets the peak start again from what is resident now. Nothing happens where the system cannot.
void reset_peak();

}  // namespace rampart::peer_gbdt
