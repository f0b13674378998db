#include "rampart/runtime/version.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "support/places.hpp"

namespace rampart::runtime {
namespace {

TEST(Version, IsTheOneThatCMakeDeclares) {
    std::ostringstream text;
    text << std::ifstream(test_support::source_dir() + "/CMakeLists.txt").rdbuf();
    EXPECT_FALSE(version().empty());
    EXPECT_NE(text.str().find("project(rampart VERSION " + std::string(version()) + " "),
              std::string::npos)
        << version();
}

}  // namespace
}  // namespace rampart::runtime
