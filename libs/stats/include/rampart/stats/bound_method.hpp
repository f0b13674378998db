#pragma once

#include <string_view>

namespace rampart::stats {

/// The lower confidence bound of a mean that decides.
enum class BoundMethod {
    kBetting,    // holds for every distribution within the declared range
    kStudentT,   // approximate: certifies falsely when harm is rare and severe
    kHoeffding,  // hold for every distribution too, and need far more records: for comparison
    kMaurerPontil,
};
/// Returns "betting", "student_t", "hoeffding" or "maurer_pontil".
std::string_view to_string(BoundMethod method);

}  // namespace rampart::stats
