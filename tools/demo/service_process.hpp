#pragma once

#include <sys/types.h>

#include <filesystem>

#include "rampart/base/result.hpp"

namespace rampart::demo {

/// A `rampart serve` as a child process, with its standard error in a file. The destructor ends it.
class ServiceProcess {
  public:
    /// Starts it and waits until the endpoint file exists, which means that it serves.
    static base::Result<ServiceProcess> start(const std::filesystem::path& program,
                                              const std::filesystem::path& config,
                                              const std::filesystem::path& endpoint_file,
                                              const std::filesystem::path& log);
    ServiceProcess(ServiceProcess&& other) noexcept;
    ServiceProcess& operator=(ServiceProcess&& other) noexcept;
    ~ServiceProcess();

    /// Sends SIGTERM and waits. Fails if the exit code is not 0 (the message names the log).
    base::Status stop();
    /// Sends SIGKILL and waits.
    void kill();
    /// Leaves it running when this object is destroyed.
    pid_t release();
    pid_t pid() const { return pid_; }

  private:
    ServiceProcess(pid_t pid, std::filesystem::path log) : pid_(pid), log_(std::move(log)) {}
    pid_t pid_ = -1;
    std::filesystem::path log_;
};

}  // namespace rampart::demo
