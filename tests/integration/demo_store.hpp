#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "rampart/base/file.hpp"
#include "support/places.hpp"
#include "support/program.hpp"

namespace rampart::test_support {

/// The store of a demo of 6,000 simulated applications in `OUT/a`, made once for a test suite, with
/// its configuration (rampartd.toml) and that of an auditor (audit.toml).
class DemoStore {
  public:
    /// Runs the demo with further options, by the configuration of a folder like ops/config. Fails
    /// the test that calls it where the demo fails.
    static void make(const std::string& name, const std::string& options = "",
                     const std::string& config = source_dir() + "/ops/config") {
        out_ = std::filesystem::path(testing::TempDir()) / fmt::format("{}.{}", name, ::getpid());
        const auto ran =
            run_program(fmt::format("{}-demo --data simulated --rows 6000 --seed 1 --program {} "
                                    "--config-dir {} --out {} {}",
                                    kRampart, kRampart, config, (out_ / "a").string(), options));
        ASSERT_EQ(ran.exit_code, 0) << ran.output;
        ASSERT_TRUE(base::write_file_atomically(
            out_ / "a" / "audit.toml",
            fmt::format("{}\n[audit]\nenabled = true\n", read(out_ / "a" / "rampartd.toml"))));
    }
    static void remove() { std::filesystem::remove_all(out_); }

    static const std::filesystem::path& out() { return out_; }
    static std::filesystem::path key_file() { return out_ / "a" / "certificates" / "gate.pub.pem"; }
    static std::string read(const std::filesystem::path& path) {
        return base::read_file(path, size_t{1} << 30).value();
    }
    /// Runs a command of `rampart` in OUT.
    static Ran rampart(const std::string& arguments) {
        return run_program(fmt::format("cd '{}' && {} {}", out_.string(), kRampart, arguments));
    }

    static inline const std::string kRampart = bin_dir() + "/rampart";

  private:
    static inline std::filesystem::path out_;
};

}  // namespace rampart::test_support
