#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "rampart/base/file.hpp"
#include "rampart/http/client.hpp"
#include "rampart/wire/application_json.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::test_support {

/// A node that `rampart serve` runs, for tools that come as a stranger would.
class ServedNode : public testing::Test {
  protected:
    void SetUp() override {
        loan_stream::StreamOptions options;
        options.name = "simulated";
        options.rows = 60;
        options.seed = 7;
        const auto stream = loan_stream::load(options).value();
        workspace_ =
            demo::prepare_workspace(folder_, source_dir() + "/ops/config", stream, 7).value();
        application_ = wire::to_json(stream.applicants.front().application);
    }
    void TearDown() override {
        process_.reset();
        std::filesystem::remove_all(folder_);
    }

    /// Starts it with these lines in [http].
    void serve(const std::string& lines) {
        auto text = base::read_file(workspace_.config, 1 << 20).value();
        const std::string before = "\n[http]\n";
        text.replace(text.find(before), before.size(), before + lines);
        ASSERT_TRUE(base::write_file_atomically(workspace_.config, text));
        auto started = demo::ServiceProcess::start(bin_dir() + "/rampart", workspace_.config,
                                                   workspace_.endpoint_file, workspace_.log);
        ASSERT_TRUE(started) << started.error().message;
        process_ = *std::move(started);
    }
    /// Makes another principal by the service, and returns its token.
    std::string token_of(const std::string& name, const std::string& scopes) const {
        http::ClientOptions options;
        options.token = workspace_.token;
        auto client = http::Client::create(endpoint(), options).value();
        const auto made = client.post(
            "/v1/tokens",
            fmt::format(R"({{"name": "{}", "scopes": ["{}"], "expires": null}})", name, scopes));
        return std::string(boost::json::parse(made.value().body).at("token").as_string());
    }
    std::string endpoint() const {
        auto text = base::read_file(workspace_.endpoint_file, 256).value();
        text.pop_back();
        return text;
    }
    static bool is_installed(const std::string& program) {
        return run_program("command -v " + program).exit_code == 0;
    }

    const std::filesystem::path folder_ =
        std::filesystem::path(testing::TempDir()) / ("served_node." + std::to_string(::getpid()));
    demo::Workspace workspace_;
    std::string application_;
    std::optional<demo::ServiceProcess> process_;
};

}  // namespace rampart::test_support
