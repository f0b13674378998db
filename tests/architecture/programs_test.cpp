// What compiler and linker made of the programs, and the list of what is in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <set>

#include "source_tree.hpp"
#include "support/places.hpp"
#include "support/program.hpp"

namespace rampart::architecture {
namespace {

namespace json = boost::json;
using test_support::run_program;

#if defined(RAMPART_UNOPTIMISED)
constexpr size_t kProperties = 4;  // what the linker does
#elif defined(__x86_64__)
constexpr size_t kProperties = 7;
#else
constexpr size_t kProperties = 6;
#endif
constexpr const char* kPrograms[] = {"rampart", "rampartd",         "outcome_joiner",
                                     "trainer", "decision_service", "rampart-demo"};

/// Returns what a program lacks of what compiler and linker can do against the use of a memory
/// fault.
std::vector<std::string> missing_in(const fs::path& program) {
    const auto ran = run_program("readelf -W -h -l -d --dyn-syms '" + program.string() + "'");
    EXPECT_EQ(ran.exit_code, 0) << ran.output;
    bool pie = false, relro = false, now = false, stack = false, guard = false, fortified = false;
    for (const auto& line : lines_of(ran.output)) {
        const auto has = [&](const char* text) { return line.find(text) != std::string::npos; };
        pie |= has("Type:") && has("DYN");
        relro |= has("GNU_RELRO");
        now |= has("(BIND_NOW)") || (has("(FLAGS") && has("NOW"));
        stack |= has("GNU_STACK") && !has("RWE");
        guard |= has("__stack_chk_fail");
        fortified |= has("_chk@GLIBC");
    }
    std::vector<std::string> missing;
    if (!pie) missing.push_back("position-independent");
    if (!relro) missing.push_back("read-only relocations");
    if (!now) missing.push_back("symbols bound at the start");
    if (!stack) missing.push_back("no executable stack");
#ifndef RAMPART_UNOPTIMISED  // what the release is compiled with
    if (!guard) missing.push_back("stack protector");
    if (!fortified) missing.push_back("_FORTIFY_SOURCE");
#ifdef __x86_64__
    const auto code = run_program("objdump -d --disassemble=main '" + program.string() + "'");
    if (code.output.find("endbr64") == std::string::npos) missing.push_back("marked jump targets");
#endif
#endif
    return missing;
}

TEST(Programs, AreHardened) {
    for (const char* name : kPrograms)
        EXPECT_THAT(missing_in(fs::path(test_support::bin_dir()) / name), testing::IsEmpty())
            << name;
}

TEST(Programs, APlantedProgramWithoutAnyOfItIsFound) {
    const auto planted =
        fs::path(testing::TempDir()) / ("planted_program." + std::to_string(::getpid()));
    const auto made = run_program("echo 'int main() { return 0; }' | " RAMPART_COMPILER
                                  " -x c++ -fno-pie -no-pie -Wl,-z,lazy -Wl,-z,norelro "
                                  "-Wl,-z,execstack -o '" +
                                  planted.string() + "' -");
    ASSERT_EQ(made.exit_code, 0) << made.output;
    EXPECT_EQ(missing_in(planted).size(), kProperties);
    fs::remove(planted);
}

/// The bill of materials of this build, made once.
class Sbom : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        out_ = fs::path(testing::TempDir()) / ("sbom." + std::to_string(::getpid()));
        fs::create_directories(out_);
        const auto ran =
            run_program("'" + test_support::source_dir() + "/ops/sbom' --build '" +
                        test_support::bin_dir() + "/..' --out '" + out_.string() + "'");
        ASSERT_EQ(ran.exit_code, 0) << ran.output;
        document_ = json::parse(read_text(out_ / "sbom.cdx.json"));
    }
    static void TearDownTestSuite() { fs::remove_all(out_); }

    static std::string text(const json::value& object, const char* member) {
        const auto* found = object.as_object().if_contains(member);
        return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
    }
    static const json::array& components() { return document_.at("components").as_array(); }
    static std::set<std::string> required() {
        std::set<std::string> names;
        for (const auto& one : components())
            if (text(one, "scope") == "required") names.insert(text(one, "name"));
        return names;
    }

    static inline fs::path out_;
    static inline json::value document_;
};

TEST_F(Sbom, HasTheFormOfCycloneDx) {
    EXPECT_EQ(text(document_, "bomFormat"), "CycloneDX");
    EXPECT_EQ(text(document_, "specVersion"), "1.5");
    EXPECT_THAT(text(document_, "serialNumber"),
                testing::MatchesRegex("urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"));
    EXPECT_EQ(document_.at("version"), 1);
    const std::set<std::string> types{"application", "library", "data"},
        scopes{"required", "optional", "excluded"};
    std::set<std::string> refs{text(document_.at("metadata").at("component"), "bom-ref")};
    for (const auto& one : components()) {
        const auto name = text(one, "name");
        EXPECT_FALSE(name.empty());
        EXPECT_FALSE(text(one, "version").empty()) << name;
        EXPECT_TRUE(types.contains(text(one, "type"))) << name;
        EXPECT_TRUE(scopes.contains(text(one, "scope"))) << name;
        EXPECT_TRUE(refs.insert(text(one, "bom-ref")).second) << name << " is there twice";
        const auto purl = text(one, "purl");
        EXPECT_TRUE(purl.empty() || purl.starts_with("pkg:")) << purl;
        if (const auto* hashes = one.as_object().if_contains("hashes")) {
            for (const auto& hash : hashes->as_array()) {
                const size_t digits = text(hash, "alg") == "SHA-512" ? 128 : 64;
                EXPECT_THAT(text(hash, "content"), testing::MatchesRegex("[0-9a-f]+")) << name;
                EXPECT_EQ(text(hash, "content").size(), digits) << name;
            }
        }
        if (const auto* licences = one.as_object().if_contains("licenses")) {
            for (const auto& licence : licences->as_array())
                EXPECT_NE(text(licence.at("license"), "id").empty(),
                          text(licence.at("license"), "name").empty())
                    << name << ": one of the two";
        }
    }
    for (const auto& one : document_.at("dependencies").as_array()) {
        EXPECT_TRUE(refs.contains(text(one, "ref"))) << text(one, "ref");
        for (const auto& on : one.at("dependsOn").as_array())
            EXPECT_TRUE(refs.contains(std::string(on.as_string()))) << on;
    }
}

TEST_F(Sbom, HasWhatTheLoaderAddsWhatIsCompiledInAndWhatIsFetched) {
    const auto names = required();
    // as the loader names them: what is linked without being listed would be missed here
    for (const char* name : {"libssl3", "librocksdb7.8", "librdkafka1", "libstdc++6", "libc6",
                             "libprotobuf32", "libboost-json1.81.0", "zlib1g"})
        EXPECT_TRUE(names.contains(name)) << name;
    // header-only
    for (const char* name : {"libboost1.81-dev", "libcli11-dev", "libtomlplusplus-dev",
                             "libeigen3-dev", "libexpected-dev"})
        EXPECT_TRUE(names.contains(name)) << name;
    for (const char* name : {"libgtest-dev", "prometheus"})
        EXPECT_FALSE(names.contains(name)) << name << " is in no program";
    size_t jars = 0;
    for (const auto& one : components()) jars += text(one, "purl").starts_with("pkg:maven/");
    EXPECT_GT(jars, 10u);
}

TEST_F(Sbom, EachLinkedOrCompiledInPackageHasALicence) {
    for (const auto& one : components()) {
        if (text(one, "scope") != "required") continue;
        const auto* licences = one.as_object().if_contains("licenses");
        EXPECT_TRUE(licences != nullptr && !licences->as_array().empty()) << text(one, "name");
    }
}

#ifndef RAMPART_UNOPTIMISED  // sanitizers link further libraries
TEST_F(Sbom, TheNoticesAreThoseOfTheBuild) {
    EXPECT_EQ(read_text(out_ / "THIRD_PARTY_NOTICES.md"), read_source("THIRD_PARTY_NOTICES.md"))
        << "run ops/sbom, and keep its THIRD_PARTY_NOTICES.md";
}
#endif

}  // namespace
}  // namespace rampart::architecture
