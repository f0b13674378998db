#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "rampart/base/file.hpp"
#include "rampart/base/random.hpp"
#include "rampart/gate_log/run_log.hpp"

namespace rampart::gate_log::test {

inline constexpr std::string_view kHeader =
    "record,person,time,side,logger,p_approve,action,candidate,reference,impact,sex\n";

inline constexpr std::string_view kToml =
    "[gate]\nmin_power = 0.0\n[impact]\nminimum = -1.0\nmaximum = 1.0\ndeclined = 0.0\n"
    "[groups]\ncolumns = [\"sex\"]\n";

/// Decisions of n persons, six of ten on the development side, from P(approve) = 0.5. Who is good
/// gains 1 by an approval, who is not loses 1; the candidate approves with 0.5 + step those who are
/// likely to be good, and with 0.5 - step the others.
/// `month`: of 2026, in which they were; `first`: number of the first record and person.
inline std::string made_up_lines(size_t n, double step, uint64_t seed, int month = 1,
                                 size_t first = 0) {
    std::string csv;
    base::Random random(seed);
    for (size_t i = 0; i < n; ++i) {
        const bool likely = random.bernoulli(0.5);
        const bool good = random.bernoulli(likely ? 0.9 : 0.1);
        const bool approved = random.bernoulli(0.5);
        csv +=
            fmt::format("r{},p{},2026-{:02}-{:02}T{:02}:{:02}:00Z,{},logger,0.5,{},{},0.5,{},{}\n",
                        first + i, first + i, month, 1 + i / 1440 % 28, i / 60 % 24, i % 60,
                        i % 10 < 6 ? "development" : "vault", approved ? "approve" : "decline",
                        likely ? 0.5 + step : 0.5 - step,
                        !approved ? ""
                        : good    ? "1"
                                  : "-1",
                        i % 2 == 0 ? "F" : "M");
    }
    return csv;
}

/// A folder of the test's own, which goes with it.
class LogFolder {
  public:
    LogFolder()
        : path_(std::filesystem::path(::testing::TempDir()) /
                fmt::format("rampart_gate_log_{}", ::getpid())) {
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(path_);
    }
    ~LogFolder() { std::filesystem::remove_all(path_); }
    LogFolder(const LogFolder&) = delete;
    LogFolder& operator=(const LogFolder&) = delete;

    LogSettings settings(std::string_view toml = kToml) const {
        return read_settings(config::parse(toml, "gate.toml").value()).value();
    }
    base::Result<DecisionFile> read(const std::string& csv, const LogSettings& settings,
                                    const std::optional<std::string>& split_key = {},
                                    std::optional<base::TimePoint> read_until = {}) const {
        const auto file = path_ / "log.csv";
        if (const auto written = base::write_file_atomically(file, csv); !written)
            return written.error();
        return read_decisions(file, settings,
                              certification::ConstraintSet::compile(settings.gate.config).value(),
                              split_key, read_until);
    }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace rampart::gate_log::test
