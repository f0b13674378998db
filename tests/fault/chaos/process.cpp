#include "fault/chaos/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace rampart::chaos {
namespace {

constexpr rlim_t kFirstFiles = 16;

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

std::string read_text(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// Returns the state of a process, as the kernel names it: 'T' stopped, 'S' asleep, …
char state_of(pid_t pid) {
    const auto stat = read_text("/proc/" + std::to_string(pid) + "/stat");
    const auto name_end = stat.rfind(')');
    return name_end == std::string::npos || name_end + 2 >= stat.size() ? '\0' : stat[name_end + 2];
}

}  // namespace

Process::Process(const std::vector<std::string>& words, const std::filesystem::path& log) {
    std::vector<std::string> all{"setpriv", "--pdeathsig", "KILL"};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> arguments;
    for (auto& word : all) arguments.push_back(word.data());
    arguments.push_back(nullptr);

    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::posix_spawn_file_actions_adddup2(&files, 1, 2);
    ::posix_spawn_file_actions_addclosefrom_np(&files, 3);
    const int error = ::posix_spawnp(&pid_, "setpriv", &files, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    if (error != 0) {
        throw std::runtime_error("cannot run setpriv: " + std::string(std::strerror(error)));
    }
}

std::optional<int> Process::ended() {
    if (pid_ < 0) return exit_code_;
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
    pid_ = -1;
    exit_code_ = code_of(status);
    return exit_code_;
}

std::optional<int> Process::wait(std::chrono::milliseconds limit) {
    wait_until(limit, [&] { return ended().has_value(); });
    return ended();
}

void Process::kill() {
    if (ended()) return;
    ::kill(pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    exit_code_ = code_of(status);
}

int Process::terminate(std::chrono::milliseconds limit) {
    if (!ended()) ::kill(pid_, SIGTERM);
    if (!wait(limit)) kill();
    return exit_code_;
}

void Process::stop() const {
    if (pid_ <= 0) throw std::runtime_error("the process has ended");
    ::kill(pid_, SIGSTOP);
    const bool stopped =
        wait_until(std::chrono::seconds(10), [&] { return state_of(pid_) == 'T'; });
    if (!stopped) throw std::runtime_error("process " + std::to_string(pid_) + " did not stop");
}

void Process::cont() const {
    if (pid_ > 0) ::kill(pid_, SIGCONT);
}

void Process::freeze_files(bool frozen) const {
    if (pid_ <= 0) return;
    rlimit limit{};
    if (::prlimit(pid_, RLIMIT_FSIZE, nullptr, &limit) == 0) {
        limit.rlim_cur = frozen ? 0 : limit.rlim_max;
        if (::prlimit(pid_, RLIMIT_FSIZE, &limit, nullptr) == 0) return;
    }
    throw std::runtime_error("cannot limit the files of process " + std::to_string(pid_) + ": " +
                             std::strerror(errno));
}

void Process::deny_files(bool denied) {
    if (pid_ <= 0) return;
    const auto open = std::filesystem::path("/proc") / std::to_string(pid_) / "fd";
    rlimit limit{};
    if (::prlimit(pid_, RLIMIT_NOFILE, nullptr, &limit) == 0) {
        if (denied) usual_files_ = std::exchange(limit.rlim_cur, 0);
        if (!denied) limit.rlim_cur = usual_files_;
        // numbers of files that it has had since its start: none of them becomes free
        std::error_code ignored;
        while (denied && limit.rlim_cur < kFirstFiles &&
               std::filesystem::exists(
                   std::filesystem::symlink_status(open / std::to_string(limit.rlim_cur), ignored)))
            ++limit.rlim_cur;
        if (::prlimit(pid_, RLIMIT_NOFILE, &limit, nullptr) == 0) return;
    }
    throw std::runtime_error("cannot limit the open files of process " + std::to_string(pid_) +
                             ": " + std::strerror(errno));
}

std::string tail_of(const std::filesystem::path& file, size_t bytes) {
    const auto text = read_text(file);
    return text.substr(text.size() > bytes ? text.size() - bytes : 0);
}

void sleep_ms(int64_t milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

}  // namespace rampart::chaos
