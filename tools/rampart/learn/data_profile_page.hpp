#pragma once

#include <string>
#include <vector>

#include "rampart/data_profile/profile.hpp"
#include "rampart/report/text_table.hpp"

namespace rampart::cli {

/// What the profile's texts say of the table.
struct ProfileWords {
    std::string title;  // the file
    std::string label;  // "favourable %", or "mean of LABEL"
    bool numeric = false;
    std::vector<std::string> notes;  // what reading has changed
};

/// Returns a label share as a percentage, or a mean as it is; "-" if it is NaN.
std::string label_text(const ProfileWords& words, double label);

/// Returns tables for terminal and page: a row for each group; for each feature.
report::Table group_table(const ProfileWords& words, const data_profile::Profile& profile);
report::Table feature_table(const data_profile::Profile& profile);

/// Returns the page.
std::string data_profile_page(const ProfileWords& words, const data_profile::Profile& profile);

}  // namespace rampart::cli
