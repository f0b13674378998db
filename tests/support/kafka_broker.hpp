#pragma once

// A real Kafka broker for tests, run by ops/kafka. There are two kinds:
//
//  - shared_kafka(): one broker for all tests that need any broker. `rampart_test(... KAFKA)` makes
//    ctest start it before the first of them and stop it after the last (fixture kafka_broker). A
//    test program that is run by hand starts its own. It listens in clear, with TLS and with SASL.
//    Topics outlive a test: name them with unique_topic().
//  - KafkaBroker: a broker for one test, to be killed, stopped and started again.
//
// Tests share a broker because a new one costs 3.0 s of processor time until it answers (1.6 s in
// the broker, the rest for checks and formats) and 180 MB, and a restart on the same data 2.2 s.
// With two busy cores it takes about 4 s on the clock, and 3 s more after SIGKILL.
//
//     class MyTest : public testing::Test {
//         void SetUp() override { RAMPART_NEEDS_KAFKA(); }   // skips, with the reason
//     };
//     TEST_F(MyTest, ...) { settings.bootstrap_servers = shared_kafka().bootstrap; ... }
//     TEST_F(MyTest, ...) { KafkaBroker broker; broker.kill(); broker.start(); ... }
//
// Failures of a broker are thrown as std::runtime_error, which fails the test.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/places.hpp"
#include "support/program.hpp"

namespace rampart::test_support {

/// The addresses of a broker: host:port of each listener, and what it requires of clients.
struct KafkaAddress {
    std::string bootstrap;  // in clear, for any client
    // Empty without `secure`.
    std::string ssl_bootstrap;       // TLS; requires client_certificate
    std::string sasl_ssl_bootstrap;  // TLS; requires user and password, by SCRAM-SHA-512 or PLAIN
    std::string sasl_plaintext_bootstrap;  // no TLS; requires user and password, by SCRAM-SHA-512
    std::filesystem::path ca, client_certificate, client_key;  // PEM
    std::string user, password;
    std::filesystem::path password_file;  // the password again; only its owner may read it
    std::string version;                  // "3.9.2"

    /// librdkafka before 2.6.1 sends a nonce in SCRAM that is too long; brokers of 4.x refuse it.
    bool scram_works_with_old_clients() const { return version.starts_with("3."); }
};

namespace kafka_detail {

inline const std::string kScript = source_dir() + "/ops/kafka";

inline std::string read_text(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

inline std::string first_line(const std::filesystem::path& file) {
    const auto text = read_text(file);
    return text.substr(0, text.find('\n'));
}

/// Polls until the condition holds; false if it did not within the time.
inline bool wait_until(const std::function<bool()>& holds, std::chrono::seconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
}

/// Reads the files that ops/kafka wrote into its folder.
inline KafkaAddress address_in(const std::filesystem::path& dir) {
    KafkaAddress address;
    address.bootstrap = first_line(dir / "bootstrap");
    address.version = first_line(dir / "version");
    address.password_file = dir / "password";
    std::istringstream lines(read_text(dir / "secure.properties"));
    for (std::string line; std::getline(lines, line);) {
        const auto equals = line.find('=');
        const auto key = line.substr(0, equals), value = line.substr(equals + 1);
        if (key == "ssl.bootstrap") address.ssl_bootstrap = value;
        if (key == "sasl_ssl.bootstrap") address.sasl_ssl_bootstrap = value;
        if (key == "sasl_plaintext.bootstrap") address.sasl_plaintext_bootstrap = value;
        if (key == "ca") address.ca = value;
        if (key == "client.certificate") address.client_certificate = value;
        if (key == "client.key") address.client_key = value;
        if (key == "user") address.user = value;
        if (key == "password") address.password = value;
    }
    return address;
}

/// Returns 'T' stopped, 'Z' ended but not reaped, …; 0 if there is no such process.
inline char process_state(pid_t pid) {
    const auto stat = read_text("/proc/" + std::to_string(pid) + "/stat");
    const auto name_end = stat.rfind(')');
    return name_end == std::string::npos || name_end + 2 >= stat.size() ? '\0' : stat[name_end + 2];
}

inline bool process_ended(pid_t pid) {
    const char state = process_state(pid);
    return state == '\0' || state == 'Z';
}

}  // namespace kafka_detail

/// Returns why no broker can run here; empty if one can. Looks at Java and the cached jars, and
/// downloads nothing: the fixture of ctest, or `ops/kafka fetch`, has done that.
inline const std::string& kafka_missing() {
    static const std::string why = [] {
        const auto shared = std::filesystem::path(kafka_dir()) / "bootstrap";
        if (std::filesystem::exists(shared)) return std::string();
        const auto ran =
            run_program(kafka_detail::kScript + " fetch --offline --version " + kafka_version());
        return ran.exit_code == 3 ? "no Kafka broker can run here: " + ran.output : std::string();
    }();
    return why;
}

/// In a test or in SetUp(): skips it, with the reason, where no broker can run.
#define RAMPART_NEEDS_KAFKA()                                         \
    do {                                                              \
        const auto& why_not = rampart::test_support::kafka_missing(); \
        if (!why_not.empty()) GTEST_SKIP() << why_not;                \
    } while (false)

struct KafkaOptions {
    std::string version = kafka_version();
    bool secure = false;                   // also TLS and SASL listeners
    bool acl = false;                      // with an authorizer; needs `secure`
    std::vector<std::string> users{};      // further users by PLAIN, with the same password
    std::vector<std::string> overrides{};  // broker settings: "log.segment.bytes=1048576"
};

/// A broker for one test on the loopback, in a temporary folder, on any free port. It ends with
/// this object, and by SIGKILL when the thread that started it ends: start it from a thread that
/// lives as long as the broker is needed (the main thread). Not thread safe.
class KafkaBroker {
  public:
    /// Returns when it answers.
    explicit KafkaBroker(KafkaOptions options = {}) : options_(std::move(options)) {
        std::string name = testing::TempDir() + "/rampart-kafka.XXXXXX";
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create " + name);
        dir_ = name;
        try {
            start();
        } catch (...) {
            remove_folder();
            throw;
        }
    }
    ~KafkaBroker() {
        kill();
        remove_folder();
    }
    KafkaBroker(const KafkaBroker&) = delete;
    KafkaBroker& operator=(const KafkaBroker&) = delete;

    /// Stays the same over kill() and start().
    const std::string& bootstrap() const { return address_.bootstrap; }
    const KafkaAddress& address() const { return address_; }
    /// The folder of ops/kafka: data/, broker.log, server.properties, …
    const std::filesystem::path& dir() const { return dir_; }
    /// The pid of the JVM; -1 when it does not run.
    pid_t pid() const { return jvm_; }
    bool runs() const { return jvm_ > 0; }

    /// Sends SIGSTOP: connections stay open without an answer. Returns once every thread has
    /// stopped.
    void stop() {
        ::kill(running_jvm(), SIGSTOP);
        const pid_t pid = jvm_;
        if (!kafka_detail::wait_until([&] { return kafka_detail::process_state(pid) == 'T'; },
                                      std::chrono::seconds(10)))
            throw std::runtime_error("the broker did not stop");
    }
    /// Sends SIGCONT.
    void cont() { ::kill(running_jvm(), SIGCONT); }

    /// Sends SIGKILL, and waits until it has ended. Unflushed data is in the cache of the kernel,
    /// so it is not lost. The next start() waits 3 s longer: the controller lets the old session
    /// end first.
    void kill() {
        if (script_ <= 0) return;
        if (jvm_ > 0)
            ::kill(jvm_, SIGKILL);
        else
            ::kill(script_, SIGKILL);
        reap();
    }
    /// Sends SIGTERM: the broker closes its log in order and ends.
    void shut_down() {
        ::kill(running_jvm(), SIGCONT);
        ::kill(script_, SIGTERM);
        const int code = reap();
        EXPECT_EQ(code, 0) << output();
    }
    /// Starts it again, with its data and its port. Does nothing when it runs.
    void start() {
        if (script_ > 0) return;
        std::filesystem::remove(dir_ / "bootstrap");
        spawn();
        if (!kafka_detail::wait_until([&] { return answered() || gone(); }, kStartLimit)) kill();
        if (script_ <= 0) throw std::runtime_error("ops/kafka up failed: " + output());
        address_ = kafka_detail::address_in(dir_);
        jvm_ = std::stoi(kafka_detail::first_line(dir_ / "pid"));
    }

  private:
    static constexpr std::chrono::seconds kStartLimit{150};

    void remove_folder() const {
        std::error_code ignored;
        std::filesystem::remove_all(dir_, ignored);
    }
    std::string output() const {
        return kafka_detail::read_text(dir_ / "up.log") + "(exit code " +
               std::to_string(exit_code_) + ")";
    }
    bool answered() const { return std::filesystem::exists(dir_ / "bootstrap"); }
    /// Whether ops/kafka ended by itself.
    bool gone() {
        int status = 0;
        if (::waitpid(script_, &status, WNOHANG) != script_) return false;
        ended(status);
        return true;
    }
    int reap() {
        int status = 0;
        while (::waitpid(script_, &status, 0) == -1 && errno == EINTR) {
        }
        ended(status);
        return exit_code_;
    }
    void ended(int status) {
        exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        script_ = jvm_ = -1;
    }
    pid_t running_jvm() const {
        if (jvm_ <= 0) throw std::runtime_error("the broker does not run");
        return jvm_;
    }

    /// Runs ops/kafka as a child that ends with this process, and the JVM with it (--foreground).
    void spawn() {
        std::vector<std::string> words{
            "setpriv",    "--pdeathsig",  "KILL",           kafka_detail::kScript,
            "up",         "--foreground", "--offline",      "--timeout",
            "120",        "--version",    options_.version, "--dir",
            dir_.string()};
        if (address_.bootstrap.empty()) words.insert(words.end(), {"--port", "0"});
        if (options_.secure) words.emplace_back("--secure");
        if (options_.acl) words.emplace_back("--acl");
        for (const auto& user : options_.users) words.insert(words.end(), {"--user", user});
        for (const auto& item : options_.overrides) words.insert(words.end(), {"--override", item});
        std::vector<char*> arguments;
        for (auto& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);

        const auto log = (dir_ / "up.log").string();
        posix_spawn_file_actions_t files;
        ::posix_spawn_file_actions_init(&files);
        ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                           0600);
        ::posix_spawn_file_actions_adddup2(&files, 1, 2);
        // the child does not inherit sockets of the test: a port that it closes must be free
        ::posix_spawn_file_actions_addclosefrom_np(&files, 3);
        const int error =
            ::posix_spawnp(&script_, "setpriv", &files, nullptr, arguments.data(), environ);
        ::posix_spawn_file_actions_destroy(&files);
        if (error != 0) {
            script_ = -1;
            throw std::runtime_error("cannot run setpriv: " + std::string(::strerror(error)));
        }
    }

    KafkaOptions options_;
    std::filesystem::path dir_;
    KafkaAddress address_;
    pid_t script_ = -1, jvm_ = -1;
    int exit_code_ = -1;
};

/// Returns the broker that all tests share: that of ctest's fixture if it answers, else one of this
/// program that ends with it. Call it only if kafka_missing() is empty.
inline const KafkaAddress& shared_kafka() {
    static const KafkaAddress address = [] {
        const std::filesystem::path dir = kafka_dir();
        if (run_program(kafka_detail::kScript + " status --dir '" + dir.string() + "'").exit_code ==
            0)
            return kafka_detail::address_in(dir);
        static KafkaBroker own(KafkaOptions{.secure = true});
        return own.address();
    }();
    return address;
}

/// Returns "<prefix>-<digits>": no other test has this name, nor has an earlier run on the same
/// broker.
inline std::string unique_topic(const std::string& prefix) {
    static std::atomic<int> count = 0;
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    return prefix + "-" + std::to_string(now) + "-" + std::to_string(::getpid()) + "-" +
           std::to_string(count++);
}

}  // namespace rampart::test_support
