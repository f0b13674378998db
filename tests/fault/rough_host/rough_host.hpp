#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>

namespace rampart::rough_host {

/// What is wrong with the host of one process: a file that the test and the process both map.
struct Faults {
    std::atomic<int64_t> wall_micros{0};   // the wall clock is ahead by so much; negative: behind
    std::atomic<int64_t> sync_micros{0};   // each fsync and fdatasync takes so much longer
    std::atomic<uint64_t> slow_syncs{0};   // so many took longer
    std::atomic<int32_t> port_asked{0};    // connections to this port of the loopback
    std::atomic<int32_t> port_reached{0};  // reach this one instead; 0: no other
};
static_assert(std::atomic<int64_t>::is_always_lock_free);

/// The variable that names the file.
inline constexpr const char* kVariable = "RAMPART_ROUGH_HOST";

/// The test's hold on the host of one process, also of its next ones. Its functions may be called
/// by any thread.
class RoughHost {
  public:
    /// Makes the file: a host without faults. Throws std::runtime_error.
    explicit RoughHost(std::filesystem::path file);
    ~RoughHost();
    RoughHost(const RoughHost&) = delete;
    RoughHost& operator=(const RoughHost&) = delete;

    /// "RAMPART_ROUGH_HOST=…", for the environment of the process.
    std::string variable() const { return std::string(kVariable) + "=" + file_.string(); }
    Faults& faults() { return *faults_; }

  private:
    const std::filesystem::path file_;
    Faults* faults_ = nullptr;
};

}  // namespace rampart::rough_host
