#pragma once

#include <string>

/// Where the source tree and what was built from it lie. Functions, not macros of each test: so the
/// objects of a test are the same in every clone, and the compiler's cache serves all of them.
namespace rampart::test_support {

/// Returns the root of the source tree.
std::string source_dir();
/// Returns the folder of this build.
std::string build_dir();
/// Returns the folder of the programs.
std::string bin_dir();
/// Returns the folder of the broker that tests share.
std::string kafka_dir();
/// Returns the version of Kafka that tests run against: "3.9".
std::string kafka_version();

}  // namespace rampart::test_support
