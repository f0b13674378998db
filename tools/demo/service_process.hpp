#pragma once

#include <sys/types.h>

#include <filesystem>

#include "rampart/base/result.hpp"

namespace rampart::demo {

/// A `rampart serve` as a child process. Its standard error goes to a file. Ended with the object.
class ServiceProcess {
  public:
    /// Starts it and waits until the endpoint file is there, that is: until it serves.
    static base::Result<ServiceProcess> start(const std::filesystem::path& program,
                                              const std::filesystem::path& config,
                                              const std::filesystem::path& endpoint_file,
                                              const std::filesystem::path& log);
    ServiceProcess(ServiceProcess&& other) noexcept;
    ServiceProcess& operator=(ServiceProcess&& other) noexcept;
    ~ServiceProcess();

    /// SIGTERM, then waits. Error: it ended otherwise than with exit code 0 (the log is named).
    base::Status stop();
    /// SIGKILL, then waits.
    void kill();
    /// Leaves it running when this object goes.
    pid_t release();
    pid_t pid() const { return pid_; }

  private:
    ServiceProcess(pid_t pid, std::filesystem::path log) : pid_(pid), log_(std::move(log)) {}
    pid_t pid_ = -1;
    std::filesystem::path log_;
};

}  // namespace rampart::demo
