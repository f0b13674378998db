#include "rampart/model/batch_engine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include "batch_layout.hpp"
#include "rampart/base/check.hpp"

namespace rampart::model {
namespace {

constexpr size_t kBlocksOfTask = 64;

}  // namespace

TableView TableView::row_major(std::span<const float> values, size_t features) {
    RAMPART_CHECK(features > 0 && values.size() % features == 0, "{} values in rows of {}",
                  values.size(), features);
    TableView view;
    view.rows_ = values.size() / features;
    view.features_ = features;
    view.values_ = values;
    return view;
}

TableView TableView::column_major(const std::vector<std::vector<float>>& columns) {
    TableView view;
    view.rows_ = columns.empty() ? 0 : columns.front().size();
    view.features_ = columns.size();
    view.columns_ = &columns;
    for (const auto& column : columns)
        RAMPART_CHECK(column.size() == view.rows_, "columns of {} and {} rows", view.rows_,
                      column.size());
    return view;
}

void TableView::copy(size_t feature, size_t first, std::span<float> out) const {
    if (columns_ != nullptr) {
        std::copy_n((*columns_)[feature].data() + first, out.size(), out.data());
        return;
    }
    const float* from = values_.data() + first * features_ + feature;
    for (size_t i = 0; i < out.size(); ++i) out[i] = from[i * features_];
}

namespace {

/// Scores one block after the other; owns the arena.
class BlockScorer {
  public:
    BlockScorer(const BatchEngine::Layout& layout, const TableView& table, std::span<double> out)
        : layout_(layout), table_(table), out_(out), arena_(layout.arena_size) {
        for (size_t leaf = 0; leaf < layout.leaf_numbers; ++leaf)
            std::fill_n(arena_.data() + leaf * kBlock, kBlock, static_cast<uint8_t>(leaf));
    }

    void score(size_t first) {
        first_ = first;
        count_ = std::min(kBlock, table_.rows() - first);
        make_columns();
        sums_.fill(layout_.base_score);
        for (const TreeGroup& group : layout_.groups) {
            layout_.kernels.members(layout_.tests.data() + group.tests, group.test_count,
                                    arena_.data());
            layout_.kernels.select(layout_.nodes.data() + group.nodes, group.node_count,
                                   arena_.data(), layout_.slots_at);
            add(group);
        }
        std::copy_n(sums_.data(), count_, out_.data() + first);
    }

  private:
    void make_columns() {
        const auto& columns = layout_.cuts.columns();
        const CutColumn* previous = nullptr;
        for (size_t c = 0; c < columns.size(); ++c) {
            if (previous == nullptr || previous->feature != columns[c].feature)
                fetch(columns[c].feature);
            previous = &columns[c];
            uint8_t* right = arena_.data() + layout_.columns_at + 2 * c * kBlock;
            layout_.kernels.bin(layout_.cuts, columns[c], values_.data(), right, right + kBlock);
        }
        for (size_t c = 0; c < layout_.chunks.size(); ++c) {
            const CodeChunk& chunk = layout_.chunks[c];
            if (chunk.first == 0) make_codes(chunk);
            uint8_t* index = arena_.data() + layout_.chunks_at + 2 * c * kBlock;
            uint8_t* bit = index + kBlock;
            for (size_t i = 0; i < kBlock; ++i) {
                const uint32_t code = codes_[i] - chunk.first;  // wraps to a large number if before
                                                                // the chunk
                index[i] = static_cast<uint8_t>(code < 128 ? code / 8 : 0x80);
                bit[i] = static_cast<uint8_t>(1u << code % 8);
            }
        }
    }

    void fetch(size_t feature) { table_.copy(feature, first_, std::span(values_).first(count_)); }

    /// Converts codes to numbers: missing after the last, invalid codes out of every set's range.
    void make_codes(const CodeChunk& chunk) {
        fetch(chunk.feature);
        constexpr uint32_t kNowhere = 1u << 30;
        for (size_t i = 0; i < kBlock; ++i) {
            const float x = values_[i];
            const bool code = x >= 0 && x < static_cast<float>(chunk.codes);
            codes_[i] = std::isnan(x) ? chunk.codes : code ? static_cast<uint32_t>(x) : kNowhere;
        }
    }

    double value(const TreeRoot& root, size_t row) const {
        size_t leaf = arena_[root.low + row];
        if (root.wide) leaf += size_t{256} * arena_[root.high + row];
        return layout_.values[root.values + leaf];
    }

    void add(const TreeGroup& group) {
        const auto roots = std::span(layout_.roots).subspan(group.first_tree, group.tree_count);
        if (roots.size() < BatchEngine::Layout::kTreesAtOnce) {
            for (const TreeRoot& root : roots)
                for (size_t i = 0; i < kBlock; ++i) sums_[i] += value(root, i);
            return;
        }
        const double* values = layout_.values.data();
        const uint8_t* arena = arena_.data();
        for (size_t i = 0; i < kBlock; ++i) {
            double sum = sums_[i];
            for (size_t t = 0; t < BatchEngine::Layout::kTreesAtOnce; ++t)
                sum += values[roots[t].values + arena[roots[t].low + i]];
            sums_[i] = sum;
        }
    }

    const BatchEngine::Layout& layout_;
    const TableView& table_;
    std::span<double> out_;
    std::vector<uint8_t> arena_;
    std::array<float, kBlock> values_{};
    std::array<uint32_t, kBlock> codes_{};
    std::array<double, kBlock> sums_{};
    size_t first_ = 0, count_ = 0;
};

void score_table(const BatchEngine::Layout& layout, const TableView& table, std::span<double> out,
                 base::ThreadPool* pool) {
    RAMPART_CHECK(table.rows() == 0 || table.features() >= layout.features,
                  "a table of {} features; the ensemble reads {}", table.features(),
                  layout.features);
    constexpr size_t kRowsOfTask = kBlocksOfTask * kBlock;
    const auto work = [&](size_t task) {
        BlockScorer scorer(layout, table, out);
        const size_t end = std::min(table.rows(), (task + 1) * kRowsOfTask);
        for (size_t row = task * kRowsOfTask; row < end; row += kBlock) scorer.score(row);
    };
    const size_t tasks = (table.rows() + kRowsOfTask - 1) / kRowsOfTask;
    if (pool != nullptr) {
        pool->run(tasks, work);
    } else {
        for (size_t task = 0; task < tasks; ++task) work(task);
    }
}

}  // namespace

BatchEngine::BatchEngine(const Ensemble& ensemble, InstructionSet set)
    : layout_(std::make_shared<const Layout>(ensemble, set)) {}

size_t BatchEngine::features() const { return layout_->features; }

void BatchEngine::predict_raw(const TableView& table, std::span<double> out,
                              base::ThreadPool* pool) const {
    RAMPART_CHECK(out.size() == table.rows(), "room for {} scores; there are {}", out.size(),
                  table.rows());
    score_table(*layout_, table, out, pool);
}

}  // namespace rampart::model
