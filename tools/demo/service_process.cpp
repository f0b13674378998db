#include "tools/demo/service_process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "rampart/base/file.hpp"
#include "tools/demo/reasons.hpp"

namespace rampart::demo {
namespace {

using base::Result;
using base::Status;

constexpr auto kStartLimit = std::chrono::seconds(60);

[[noreturn]] void run_child(const std::filesystem::path& program,
                            const std::filesystem::path& config, int log) {
    ::dup2(log, STDERR_FILENO);
    ::dup2(log, STDOUT_FILENO);
    const std::string argument = config.string();
    ::execl(program.c_str(), program.c_str(), "serve", "--config", argument.c_str(), nullptr);
    ::_exit(127);
}

std::string tail_of(const std::filesystem::path& log) {
    const auto text = base::read_file(log, 64 << 20);
    if (!text) return "";
    return text->substr(text->size() > 1500 ? text->size() - 1500 : 0);
}

/// Says how a process ended, by the status that waitpid gave.
std::string end_of(int status) {
    if (WIFEXITED(status)) return fmt::format("exit code {}", WEXITSTATUS(status));
    return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
}

}  // namespace

Result<ServiceProcess> ServiceProcess::start(const std::filesystem::path& program,
                                             const std::filesystem::path& config,
                                             const std::filesystem::path& endpoint_file,
                                             const std::filesystem::path& log) {
    std::error_code ignored;
    std::filesystem::remove(endpoint_file, ignored);
    const int log_fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log_fd < 0) return base::make_error(Reason::kNoLog, "cannot write '{}'", log.string());
    const pid_t pid = ::fork();
    if (pid == 0) run_child(program, config, log_fd);
    ::close(log_fd);
    if (pid < 0) return base::make_error(Reason::kNoProcess, "cannot start '{}'", program.string());
    ServiceProcess process(pid, log);
    const auto start = std::chrono::steady_clock::now();
    while (!std::filesystem::exists(endpoint_file)) {
        int status = 0;
        if (::waitpid(pid, &status, WNOHANG) == pid) {
            process.pid_ = -1;
            return base::make_error(Reason::kServiceEnded,
                                    "'{} serve' ended at once, with {}; its log '{}' says:\n{}",
                                    program.string(), end_of(status), log.string(), tail_of(log));
        }
        if (std::chrono::steady_clock::now() - start > kStartLimit) {
            return base::make_error(Reason::kServiceSlow,
                                    "'{} serve' did not start in a minute; its log is '{}'",
                                    program.string(), log.string());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return process;
}

ServiceProcess::ServiceProcess(ServiceProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), log_(std::move(other.log_)) {}

ServiceProcess& ServiceProcess::operator=(ServiceProcess&& other) noexcept {
    if (this == &other) return *this;
    kill();
    pid_ = std::exchange(other.pid_, -1);
    log_ = std::move(other.log_);
    return *this;
}

ServiceProcess::~ServiceProcess() { kill(); }

Status ServiceProcess::stop() {
    if (pid_ < 0) return base::ok();
    ::kill(pid_, SIGTERM);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return base::ok();
    return base::make_error(Reason::kServiceFailed,
                            "the service ended with {}; its log '{}' says:\n{}", end_of(status),
                            log_.string(), tail_of(log_));
}

void ServiceProcess::kill() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
}

pid_t ServiceProcess::release() { return std::exchange(pid_, -1); }

}  // namespace rampart::demo
