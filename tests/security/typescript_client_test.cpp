// The TypeScript client that tools/clients/typescript writes: the compiler takes it and refuses
// what the document does not have, and it is used against a served node.
#include <regex>

#include "security/served_node.hpp"

namespace rampart::security {
namespace {

namespace fs = std::filesystem;
using test_support::run_program;

const std::string kRoot = test_support::source_dir();
const std::string kGenerator = kRoot + "/tools/clients/typescript";
const std::string kCompiler = kRoot + "/build/typescript/package/lib/tsc.js";

class TypeScriptClient : public test_support::ServedNode {
  protected:
    void SetUp() override {
        if (!is_installed("node")) GTEST_SKIP() << "there is no node (Debian: nodejs)";
        if (!fs::exists(kCompiler))
            GTEST_SKIP() << "there is no " << kCompiler << "; ops/setup --tests fetches it";
        ServedNode::SetUp();
        fs::create_directories(work());
        ASSERT_TRUE(base::write_file_atomically(work() / "package.json", R"({"type": "module"})"));
        fs::copy_file(kRoot + "/tests/security/use_client.ts", work() / "use.ts");
    }
    fs::path work() const { return folder_ / "typescript"; }
    test_support::Ran compile(const std::string& more) const {
        return run_program(fmt::format(
            "node {} --strict --noUncheckedIndexedAccess --exactOptionalPropertyTypes --target "
            "es2022 --lib es2023,dom,dom.iterable --module nodenext {} {}/use.ts",
            kCompiler, more, work().string()));
    }
};

/// Returns the matches of the first group.
std::vector<std::string> all_of(const std::string& text, const char* pattern) {
    const std::regex expression(pattern, std::regex::multiline);
    std::vector<std::string> found;
    for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
        found.push_back((*at)[1]);
    return found;
}

TEST_F(TypeScriptClient, DecidesReportsReadsAndIsRefused) {
    const auto written =
        run_program(fmt::format("{} --out {}/rampart.ts", kGenerator, work().string()));
    ASSERT_EQ(written.exit_code, 0) << written.output;
    const auto checked = compile("--noEmit");
    ASSERT_EQ(checked.exit_code, 0) << checked.output;
    const auto compiled = compile("--outDir " + (work() / "js").string());
    ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
    ASSERT_TRUE(base::write_file_atomically(work() / "js/package.json", R"({"type": "module"})"));
    serve("");
    const auto used = run_program(fmt::format("node {}/js/use.js http://{} {} {} '{}'",
                                              work().string(), endpoint(), workspace_.token,
                                              token_of("reader", "read"), application_));
    EXPECT_EQ(used.exit_code, 0) << used.output;
    EXPECT_TRUE(process_->stop());
}

TEST_F(TypeScriptClient, HasAFunctionForEachOperationAndATypeForEachSchema) {
    const auto out = work() / "rampart.ts";
    ASSERT_EQ(run_program(kGenerator + " --out " + out.string()).exit_code, 0);
    const auto client = base::read_file(out, 1 << 20).value();
    const auto document = base::read_file(kRoot + "/schemas/http/openapi.yaml", 1 << 20).value();
    const auto operations = all_of(document, R"(^      operationId: (\w+)$)");
    EXPECT_GT(operations.size(), 30u);
    EXPECT_EQ(all_of(client, R"(^export async function (\w+)\()"), operations);
    const auto schemas = document.substr(document.find("\n  schemas:\n"),
                                         document.find("\npaths:") - document.find("\n  schemas:"));
    const auto names = all_of(schemas, R"(^    (\w+):)");
    EXPECT_GT(names.size(), 60u);
    EXPECT_EQ(all_of(client, R"(^export type (\w+) =)"), names);
}

TEST_F(TypeScriptClient, IsNotWrittenFromWhatTheGeneratorDoesNotKnow) {
    const auto document = base::read_file(kRoot + "/schemas/http/openapi.yaml", 1 << 20).value();
    const auto refusal = [&](const std::string& before, const std::string& after) {
        auto text = document;
        const size_t at = text.find(before);
        EXPECT_NE(at, std::string::npos) << before;
        text.replace(at, before.size(), after);
        EXPECT_TRUE(base::write_file_atomically(work() / "document.yaml", text));
        const auto ran = run_program(fmt::format("{} --document {}/document.yaml --out {}/other.ts",
                                                 kGenerator, work().string(), work().string()));
        EXPECT_FALSE(fs::exists(work() / "other.ts")) << after;
        return ran.exit_code == 0 ? "" : ran.output;
    };
    const std::string member = "properties: {dropped: {type: boolean}}";
    EXPECT_NE(refusal(member, "properties: {dropped: {type: boolean}}\n      anyOf: []")
                  .find("Dropped: does not know anyOf"),
              std::string::npos);
    EXPECT_NE(refusal(member, "properties: {dropped: {type: uuid}}")
                  .find("Dropped.dropped: has the type uuid"),
              std::string::npos);
    EXPECT_NE(refusal(member, "properties: {drop: {type: boolean}}").find("requires ['dropped']"),
              std::string::npos);
    EXPECT_NE(refusal("operationId: getStatus", "operationId: get-status").find("get-status"),
              std::string::npos);
}

}  // namespace
}  // namespace rampart::security
