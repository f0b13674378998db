#include "rampart/training/recipe.hpp"

#include <algorithm>

#include "rampart/base/check.hpp"

namespace rampart::training {
namespace {

template <class E, size_t n>
std::string_view text_of(const std::array<Named<E>, n>& names, E value) {
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const Named<E>& name) { return name.value == value; });
    RAMPART_CHECK(found != names.end(), "value {} has no text", static_cast<int>(value));
    return found->text;
}

}  // namespace

std::string_view to_string(Learner learner) { return text_of(kLearners, learner); }
std::string_view to_string(Criterion criterion) { return text_of(kCriteria, criterion); }
std::string_view to_string(Selection selection) { return text_of(kSelections, selection); }

}  // namespace rampart::training
