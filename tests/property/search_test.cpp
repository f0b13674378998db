#include "rampart/tuning/search.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "rampart/base/digest.hpp"
#include "rampart/base/reasons.hpp"

/// Laws of a search, for any ranges, budget, folds and values of trials.
namespace rampart::tuning {
namespace {

Plan any_plan() {
    Plan plan{.method = *rc::gen::element(Method::kRandom, Method::kHalving),
              .trials = *rc::gen::inRange(1, 40),
              .folds = *rc::gen::inRange(2, 6)};
    const auto ranges = *rc::gen::inRange(1, 4);
    for (int i = 0; i < ranges; ++i) {
        Range range{.option = fmt::format("o{}", i)};
        range.from = *rc::gen::inRange(1, 50);
        range.to = range.from + *rc::gen::inRange(1, 1000);
        range.log = *rc::gen::arbitrary<bool>();
        range.whole = *rc::gen::arbitrary<bool>();
        if (*rc::gen::inRange(0, 4) == 0) range.choices = {std::string("a"), std::string("b")};
        plan.ranges.push_back(range);
    }
    return plan;
}

Setting own_of(const Plan& plan) {
    Setting out;
    for (const auto& range : plan.ranges)
        if (!range.choices.empty())
            out.push_back(range.choices.front());
        else if (range.whole)
            out.emplace_back(static_cast<int64_t>(range.from));
        else
            out.emplace_back(range.from);
    return out;
}

/// A value by hash: any order of settings, some of which fail or miss a constraint.
Problem any_problem(const Plan& plan, uint64_t seed) {
    return {.value = [&plan, seed](const Setting& s, double share,
                                   size_t fold) -> base::Result<FoldValue> {
        const auto key = fmt::format("{} {} {}", seed, text_of(plan, s), share);
        if (base::keyed_uniform(key, "fails") < 0.15)
            return base::make_error(base::Reason::kBadUsage, "fails");
        const double miss = base::keyed_uniform(key, "misses") - 0.6;
        return FoldValue{.loss = base::keyed_uniform(key, std::to_string(fold)),
                         .weight = 1,
                         .excess = std::max(0.0, miss)};
    }};
}

const base::Digest kOf = base::sha256("search");

RC_GTEST_PROP(SearchLaws, EverySettingLiesInItsRangesAndIsTriedOnceAShare, ()) {
    const auto plan = any_plan();
    const auto seed = *rc::gen::arbitrary<uint64_t>();
    const auto all = settings_of(plan, own_of(plan), seed);
    RC_ASSERT(!all.empty());
    RC_ASSERT(all.size() <= static_cast<size_t>(plan.trials));
    for (size_t i = 0; i < all.size(); ++i) {
        for (size_t k = 0; k < plan.ranges.size(); ++k)
            RC_ASSERT(plan.ranges[k].contains(all[i][k]));
        for (size_t j = 0; j < i; ++j) RC_ASSERT(all[i] != all[j]);
    }
}

RC_GTEST_PROP(SearchLaws, EachRungKeepsAThirdAndCostsNoMoreThanTheFirst, ()) {
    const auto n = static_cast<size_t>(*rc::gen::inRange(1, 1000));
    const auto rungs = rungs_of(Method::kHalving, n);
    RC_ASSERT(rungs.front().settings == n);
    RC_ASSERT(rungs.back().share == 1);
    RC_ASSERT(rungs.back().settings >= 1U && rungs.back().settings < 3U);
    const double first = rungs.front().share * static_cast<double>(n);
    for (size_t i = 0; i < rungs.size(); ++i) {
        RC_ASSERT(rungs[i].share * static_cast<double>(rungs[i].settings) <= first * (1 + 1e-12));
        if (i == 0) continue;
        RC_ASSERT(rungs[i].settings == rungs[i - 1].settings / 3);
        RC_ASSERT(std::abs(rungs[i].share / rungs[i - 1].share - 3) < 1e-12);
    }
}

RC_GTEST_PROP(SearchLaws, WhatIsTakenIsBeatenByNothingOfItsShare, ()) {
    const auto plan = any_plan();
    const auto seed = *rc::gen::arbitrary<uint64_t>();
    const auto problem = any_problem(plan, seed);
    const auto found = search(plan, own_of(plan), seed, problem, {});
    if (!found) {
        RC_ASSERT(found.error().reason == "no_trial");
        return;
    }
    RC_ASSERT(found->best.failed.empty());
    double most = 0;
    for (const auto& one : found->trials) most = std::max(most, one.share);
    RC_ASSERT(found->best.share == most);
    for (const auto& one : found->trials)
        RC_ASSERT(one.share < most || !is_better(one, found->best));
}

RC_GTEST_PROP(SearchLaws, WhereverItIsCutAndWithAnyThreadsItEndsTheSame, ()) {
    const auto plan = any_plan();
    const auto seed = *rc::gen::arbitrary<uint64_t>();
    const auto problem = any_problem(plan, seed);
    const auto whole = search(plan, own_of(plan), seed, problem, {});
    if (!whole) return;
    const auto cut =
        static_cast<size_t>(*rc::gen::inRange(0, static_cast<int>(whole->trials.size()) + 1));
    const auto text = encode(kOf, std::span(whole->trials).first(cut));
    base::ThreadPool pool(static_cast<size_t>(*rc::gen::inRange(1, 4)));
    const auto again = search(plan, own_of(plan), seed, problem,
                              {.pool = &pool, .kept = decode(kOf, text).value()});
    RC_ASSERT(static_cast<bool>(again));
    RC_ASSERT(encode(kOf, again->trials) == encode(kOf, whole->trials));
    RC_ASSERT(again->setting == whole->setting);
}

}  // namespace
}  // namespace rampart::tuning
