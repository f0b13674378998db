// ops/kafka as an operator calls it.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/kafka_broker.hpp"
#include "support/places.hpp"

namespace rampart::test_support {
namespace {

namespace fs = std::filesystem;

const std::string kPins = source_dir() + "/ops/kafka.d/";

std::string quoted(const fs::path& path) { return "'" + path.string() + "'"; }

std::string last_line(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.substr(text.rfind('\n') + 1);
}

/// A folder for each test, and the script run with it.
class KafkaScript : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "/rampart-kafka-script.XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override {
        if (fs::exists(broker() / "pid")) kafka("down --dir " + quoted(broker()));
        fs::remove_all(folder_);
    }

    fs::path broker() const { return folder_ / "broker"; }
    Ran kafka(const std::string& arguments, const std::string& environment = "") const {
        return run_program(environment + " " + kafka_detail::kScript + " " + arguments);
    }
    /// Replaces Maven for the script by these commands: argument 5 is the project file, and 7 the
    /// option with the folder for the jars.
    std::string maven(const std::string& script) const {
        fs::create_directories(folder_ / "bin");
        std::ofstream(folder_ / "bin/mvn") << "#!/bin/sh\n" << script << "\n";
        fs::permissions(folder_ / "bin/mvn", fs::perms::owner_all);
        return "PATH=" + quoted(folder_ / "bin") + ":$PATH";
    }
    /// Returns the paths in the pin file of 3.9.2, whose lines are "sha256  path".
    static std::vector<fs::path> pinned_paths() {
        std::ifstream pins(kPins + "3.9.2.sha256");
        std::vector<fs::path> paths;
        for (std::string sum, path; pins >> sum >> path;) paths.emplace_back(path);
        return paths;
    }

    fs::path folder_;
};

TEST_F(KafkaScript, StartsAnswersStopsAndKeepsItsClusterIdAndPort) {
    RAMPART_NEEDS_KAFKA();
    const std::string up =
        "up --offline --version " + kafka_version() + " --dir " + quoted(broker());
    const std::string status = "status --dir " + quoted(broker());
    EXPECT_EQ(kafka(status).exit_code, 1);

    const auto first = kafka(up + " --port 0");
    ASSERT_EQ(first.exit_code, 0) << first.output;
    const auto address = last_line(first.output);
    const auto cluster = kafka_detail::first_line(broker() / "cluster.id");
    EXPECT_EQ(address, kafka_detail::first_line(broker() / "bootstrap"));
    EXPECT_EQ(address.substr(0, 10), "127.0.0.1:");
    EXPECT_EQ(kafka(status).exit_code, 0);
    EXPECT_EQ(last_line(kafka(status).output), address);

    const auto pid = kafka_detail::first_line(broker() / "pid");
    const auto second = kafka(up);
    EXPECT_EQ(second.exit_code, 0) << second.output;
    EXPECT_EQ(last_line(second.output), address);
    EXPECT_EQ(kafka_detail::first_line(broker() / "pid"), pid) << "up twice is one broker";
    EXPECT_EQ(kafka(up + " --port 9999").exit_code, 1);
    EXPECT_NE(kafka("logs --dir " + quoted(broker())).output.find("started"), std::string::npos);

    EXPECT_EQ(kafka("down --dir " + quoted(broker())).exit_code, 0);
    EXPECT_EQ(kafka(status).exit_code, 1);
    EXPECT_TRUE(kafka_detail::process_ended(std::stoi(pid)));
    EXPECT_EQ(kafka("down --dir " + quoted(broker())).exit_code, 0) << "down twice is harmless";

    const auto third = kafka(up);
    EXPECT_EQ(last_line(third.output), address) << third.output;
    EXPECT_EQ(kafka_detail::first_line(broker() / "cluster.id"), cluster);
    EXPECT_EQ(kafka("down --wipe --dir " + quoted(broker())).exit_code, 0);
    EXPECT_FALSE(fs::exists(broker()));
}

TEST_F(KafkaScript, ACachedJarThatWasChangedIsRefusedByName) {
    RAMPART_NEEDS_KAFKA();
    const std::string version = " --offline --version " + kafka_version();
    const auto real = fs::path(last_line(kafka("fetch" + version).output));
    const auto copy = folder_ / "cache" / real.filename();
    fs::create_directories(copy);
    for (const auto& jar : fs::directory_iterator(real)) {
        if (jar.path().extension() == ".jar")
            fs::create_symlink(jar.path(), copy / jar.path().filename());
    }
    const auto victim = copy / "slf4j-api-1.7.36.jar";
    const auto bytes = kafka_detail::read_text(victim);
    ASSERT_GT(bytes.size(), 1000u);
    fs::remove(victim);
    std::ofstream(victim, std::ios::binary) << bytes << '\n';

    const auto ran = kafka("up" + version + " --port 0 --dir " + quoted(broker()),
                           "RAMPART_KAFKA_CACHE=" + quoted(folder_ / "cache"));
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_NE(ran.output.find("slf4j-api-1.7.36.jar: FAILED"), std::string::npos) << ran.output;
    EXPECT_NE(ran.output.find("refused"), std::string::npos) << ran.output;
    EXPECT_FALSE(fs::exists(broker() / "data"));
}

TEST_F(KafkaScript, JarsAreAskedOfMavenByCoordinatesAndOneThatDiffersFromItsPinIsNotKept) {
    for (const auto& path : pinned_paths()) {
        fs::create_directories(folder_ / "fetched");
        std::ofstream(folder_ / "fetched" / path.filename()) << "not the jar";
    }
    const auto cache = folder_ / "cache";
    const auto script =
        "cp " + quoted(folder_ / "fetched") + "/* \"${7#*=}\"; cp \"$5\" " + quoted(folder_);
    const auto ran =
        kafka("fetch --version 3.9", maven(script) + " RAMPART_KAFKA_CACHE=" + quoted(cache));
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_NE(ran.output.find("differs from the pinned checksum"), std::string::npos) << ran.output;
    EXPECT_TRUE(fs::is_empty(cache / "3.9.2"));

    const auto asked = kafka_detail::read_text(folder_ / "pom.xml");
    EXPECT_NE(asked.find("<groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId>\n"
                         "<version>3.9.2</version>"),
              std::string::npos)
        << asked;
    EXPECT_EQ(asked.find("repositor"), std::string::npos) << "where from is Maven's to know";
}

TEST_F(KafkaScript, JarsThatCannotBeHadAreSaidSoPlainly) {
    const auto cache = "RAMPART_KAFKA_CACHE=" + quoted(folder_ / "cache");
    const auto offline = kafka("fetch --offline", cache);
    EXPECT_EQ(offline.exit_code, 3);
    EXPECT_NE(offline.output.find("57 jars of Kafka 3.9.2 are not in"), std::string::npos)
        << offline.output;

    const auto nowhere =
        kafka("fetch", maven("echo '[ERROR] no route to it'; exit 1") + " " + cache);
    EXPECT_EQ(nowhere.exit_code, 3);
    EXPECT_NE(nowhere.output.find("Maven cannot fetch at/yawk/lz4"), std::string::npos)
        << nowhere.output;
    EXPECT_NE(nowhere.output.find("no route to it"), std::string::npos) << nowhere.output;
    EXPECT_NE(nowhere.output.find("Remedy: a network"), std::string::npos) << nowhere.output;
}

TEST_F(KafkaScript, NoJavaIsSaidSoWithTheRemedy) {
    const auto ran = kafka("up --port 0 --dir " + quoted(broker()), "JAVA_HOME=/nowhere");
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_NE(ran.output.find("apt-get install openjdk-17-jre-headless"), std::string::npos)
        << ran.output;
}

TEST_F(KafkaScript, APortThatIsTakenIsNamed) {
    RAMPART_NEEDS_KAFKA();
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(socket, 4), 0);
    socklen_t size = sizeof address;
    ASSERT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), 0);
    const auto port = std::to_string(ntohs(address.sin_port));

    const auto ran = kafka("up --offline --version " + kafka_version() + " --port " + port +
                           " --dir " + quoted(broker()));
    ::close(socket);
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_NE(ran.output.find("port " + port + " is taken"), std::string::npos) << ran.output;
}

TEST_F(KafkaScript, MisuseIsToldFromFailure) {
    const std::vector<std::string> misuses{"",
                                           "sideways",
                                           "up down",
                                           "up --version 2.8",
                                           "up --port 65532",
                                           "up --port http",
                                           "up --heap lots",
                                           "up --jit half",
                                           "up --timeout 0",
                                           "up --override log.dirs=/tmp",
                                           "up --override nonsense",
                                           "up --acl",
                                           "up --user anna",
                                           "up --secure --user rampart",
                                           "up --secure --user 'a b'",
                                           "up --dir"};
    for (const auto& misuse : misuses) {
        const auto ran = kafka(misuse);
        EXPECT_EQ(ran.exit_code, 2) << misuse << ": " << ran.output;
    }
    EXPECT_EQ(kafka("--help").exit_code, 0);
}

TEST_F(KafkaScript, WipeKeepsAFolderThatIsNotItsOwn) {
    fs::create_directories(folder_ / "mine");
    std::ofstream(folder_ / "mine/letter") << "dear";
    EXPECT_EQ(kafka("down --wipe --dir " + quoted(folder_ / "mine")).exit_code, 2);
    EXPECT_TRUE(fs::exists(folder_ / "mine/letter"));
}

}  // namespace
}  // namespace rampart::test_support
