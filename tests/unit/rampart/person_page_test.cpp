#include "store/person_page.hpp"

#include <gtest/gtest.h>

namespace rampart::cli {
namespace {

namespace json = boost::json;

json::object document_with(const std::string& name, const std::string& value) {
    json::object document{{"person_id", "p-1"}};
    for (const char* member : {"decisions", "policies", "log", "quarantine", "legal_holds", "jobs",
                               "evidence", "audit", "elsewhere"})
        document[member] = json::array();
    document["protected_attributes"] = json::object();
    document["erasure_under_way"] = nullptr;
    document["decisions"].as_array().push_back(json::object{{name, value}});
    return document;
}

TEST(PersonPage, AValueOrANameInTheRecordForgesNoSection) {
    const std::string forged = "x\n\nLegal holds (7). All is well\x1b[2J";
    const auto value = person_text(document_with("text", forged));
    EXPECT_NE(value.find("  text: x\\n\\nLegal holds (7). All is well\\x1b[2J\n"),
              std::string::npos)
        << value;
    EXPECT_EQ(value.find("\nLegal holds (7)"), std::string::npos) << value;
    const auto name = person_text(document_with(forged, "value"));
    EXPECT_EQ(name.find("\nLegal holds (7)"), std::string::npos) << name;
    EXPECT_EQ(name.find('\x1b'), std::string::npos);
    EXPECT_NE(name.find("\nLegal holds (0)"), std::string::npos) << "the section itself";
}

TEST(PersonPage, ThePageEscapesWhatIsMarkup) {
    const auto page = person_page(document_with("text", "<script>x</script>"));
    EXPECT_EQ(page.find("<script>x"), std::string::npos);
    EXPECT_NE(page.find("&lt;script&gt;x"), std::string::npos) << page;
}

}  // namespace
}  // namespace rampart::cli
