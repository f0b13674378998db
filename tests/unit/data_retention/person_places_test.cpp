#include "rampart/data_retention/person_places.hpp"

#include <gtest/gtest.h>

#include <set>

namespace rampart::data_retention {
namespace {

TEST(PersonPlaces, EachIsListedOnceAndHasANameOfItsOwn) {
    std::set<PersonPlace> places;
    std::set<std::string_view> names;
    for (const auto place : kPersonPlaces) {
        places.insert(place);
        names.insert(to_string(place));
    }
    EXPECT_EQ(places.size(), kPersonPlaces.size());
    EXPECT_EQ(names.size(), kPersonPlaces.size());
    EXPECT_FALSE(names.contains(""));
    // an export's own entry is to be the last that it shows
    EXPECT_EQ(kPersonPlaces.back(), PersonPlace::kAudit);
}

}  // namespace
}  // namespace rampart::data_retention
