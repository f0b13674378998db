// Writes what tools/peers/service/run needs: a store's configuration on the system clock, batches
// of applications with the outcomes of those approved, and templates of further applications.
#include "tools/demo/workspace.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <optional>

#include "rampart/base/check.hpp"
#include "rampart/base/file.hpp"
#include "rampart/loan_stream/stream.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/outcome_json.hpp"
#include "services/rampartd/settings.hpp"

namespace {

using namespace rampart;
constexpr size_t kBatch = 200, kTemplates = 500;

base::Status replace(const std::filesystem::path& file, const std::string& before,
                     const std::string& after) {
    RAMPART_TRY(auto text, base::read_file(file, 1 << 20));
    const size_t at = text.find(before);
    RAMPART_CHECK(at != std::string::npos, "'{}' is not in {}", before, file.string());
    text.replace(at, before.size(), after);
    return base::write_file_atomically(file, text);
}

struct Wanted {
    std::filesystem::path folder;
    std::string config_dir, kafka;
    size_t rows = 3000;
    int partitions = 4;
};

std::optional<demo::KafkaBroker> broker_of(const Wanted& wanted) {
    if (wanted.kafka.empty()) return std::nullopt;
    return demo::KafkaBroker{wanted.kafka, "service-"};
}

base::Status write(const Wanted& wanted) {
    const auto& [folder, config_dir, kafka, rows, partitions] = wanted;
    RAMPART_TRY(auto stream,
                loan_stream::load({.name = "simulated", .data_dir = {}, .rows = rows}));
    RAMPART_TRY(const auto workspace,
                demo::prepare_workspace(folder / "a", config_dir, stream, 1, broker_of(wanted)));
    RAMPART_TRY(const auto settings, rampartd::load_settings(workspace.config));
    RAMPART_RETURN_IF_ERROR(replace(workspace.config, "mode = \"event\"",
                                    "mode = \"system\"\nmax_downtime_hours = 24"));
    RAMPART_RETURN_IF_ERROR(
        replace(workspace.config, "every_months = 2", "every_months = 0\nevery_matured = EVERY"));
    if (!kafka.empty()) {
        RAMPART_RETURN_IF_ERROR(replace(workspace.config, "partitions = 4",
                                        fmt::format("partitions = {}", partitions)));
    }
    std::ofstream(folder / "token") << workspace.token;
    std::ofstream batches(folder / "batches.jsonl"), outcomes(folder / "outcomes.jsonl"),
        bodies(folder / "bodies.jsonl");
    std::vector<domain::Application> batch;
    for (size_t i = 0; i < stream.applicants.size(); ++i) {
        const auto& applicant = stream.applicants[i];
        batch.push_back(applicant.application);
        for (const auto& report : applicant.reports) {
            outcomes << wire::to_json(
                            domain::Outcome{domain::decision_id_of(applicant.application.id),
                                            settings.product.label.name, report.revision,
                                            report.value, report.observed_at})
                     << "\n";
        }
        if (batch.size() == kBatch || i + 1 == stream.applicants.size()) {
            batches << wire::to_json(std::span<const domain::Application>(batch)) << "\n";
            batch.clear();
        }
        if (i >= kTemplates) continue;
        auto any = applicant.application;
        any.id = domain::ApplicationId("@");
        any.person = domain::PersonId("@");
        any.event_time = runtime::SystemClock().now();  // as it is in use: none of them matures
        bodies << wire::to_json(any) << "\n";
    }
    return base::ok();
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Writes the input of tools/peers/service/run.");
    Wanted wanted;
    app.add_option("--out", wanted.folder)->required();
    app.add_option("--config-dir", wanted.config_dir, "a folder like ops/config")->required();
    app.add_option("--rows", wanted.rows)->check(CLI::Range(1000, 100000));
    app.add_option("--kafka", wanted.kafka, "host:port of a broker; default: the embedded log");
    app.add_option("--partitions", wanted.partitions, "of the topics of Kafka")
        ->check(CLI::Range(1, 256));
    CLI11_PARSE(app, argc, argv);
    const auto status = write(wanted);
    if (status) return 0;
    std::fprintf(stderr, "peer_service_workspace: %s\n", status.error().message.c_str());
    return 1;
}
