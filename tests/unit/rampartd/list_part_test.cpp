#include "services/rampartd/api/list_part.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rampart::rampartd {
namespace {

TEST(ListPart, PartsOfEveryLengthAreTheWholeListOnce) {
    for (const size_t size : {0u, 1u, 7u, 1000u, 2500u}) {
        for (const size_t limit : {1u, 3u, 1000u}) {
            std::map<std::string, std::string> query{{"limit", std::to_string(limit)}};
            size_t rest = size;
            while (true) {
                const auto part = read_list_part(query, size).value();
                ASSERT_EQ(part.end, rest);
                ASSERT_LE(part.end - part.begin, limit);
                rest = part.begin;
                if (part.next_cursor().text() == "null") break;
                ASSERT_LT(part.begin, part.end);
                query["cursor"] = part.next_cursor().text();
            }
            EXPECT_EQ(rest, 0u);
        }
    }
    EXPECT_EQ(read_list_part({}, 2500)->begin, 1500u) << "the last ones, without a limit";
}

TEST(ListPart, EndsWhereItDidAlsoWhenTheListHasGrown) {
    const auto part = read_list_part({{"cursor", "5"}, {"limit", "2"}}, 100).value();
    EXPECT_EQ(part.begin, 3u);
    EXPECT_EQ(part.end, 5u);
    const auto beyond = read_list_part({{"cursor", "500"}}, 10).value();
    EXPECT_EQ(beyond.end, 10u);
}

TEST(ListPart, NamesWhatIsWrong) {
    for (const auto& [name, text] :
         std::vector<std::pair<std::string, std::string>>{{"limit", "0"},
                                                          {"limit", "1001"},
                                                          {"limit", ""},
                                                          {"cursor", "-1"},
                                                          {"cursor", ""},
                                                          {"cursor", "x"},
                                                          {"page", "1"}}) {
        const auto part = read_list_part({{name, text}}, 3);
        ASSERT_FALSE(part) << name << "=" << text;
        EXPECT_NE(part.error().message.find("$." + name), std::string::npos)
            << part.error().message;
    }
}

}  // namespace
}  // namespace rampart::rampartd
