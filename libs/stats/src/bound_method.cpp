#include "rampart/stats/bound_method.hpp"

#include "rampart/base/check.hpp"

namespace rampart::stats {

std::string_view to_string(BoundMethod method) {
    switch (method) {
        case BoundMethod::kBetting:
            return "betting";
        case BoundMethod::kStudentT:
            return "student_t";
        case BoundMethod::kHoeffding:
            return "hoeffding";
        case BoundMethod::kMaurerPontil:
            return "maurer_pontil";
    }
    RAMPART_CHECK(false, "bound method {}", static_cast<int>(method));
}

}  // namespace rampart::stats
