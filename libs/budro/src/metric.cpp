#include "rampart/budro/metric.hpp"

#include <fmt/ranges.h>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "attribute_direction.hpp"
#include "compared_pairs.hpp"
#include "metric_columns.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/budro/reasons.hpp"
#include "rampart/dataset/category_limit.hpp"
#include "rampart/dataset/reasons.hpp"

namespace rampart::budro {
namespace {

namespace limits = base::limits;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kDependent = 1e-9;  // columns less apart are one

Eigen::Map<const RowMatrix> matrix_of(const std::vector<double>& values, size_t columns) {
    return {values.data(), eigen_size(columns > 0 ? values.size() / columns : 0),
            eigen_size(columns)};
}

std::vector<double> values_of(const RowMatrix& m) { return {m.data(), m.data() + m.size()}; }

/// Orthonormal columns with the same span; none if all are 0.
MatrixXd span_of(const MatrixXd& vectors) {
    if (vectors.cols() == 0 || vectors.isZero(0)) return MatrixXd(vectors.rows(), 0);
    Eigen::ColPivHouseholderQR<MatrixXd> qr(vectors);
    qr.setThreshold(kDependent);
    return MatrixXd(qr.householderQ()).leftCols(qr.rank());
}

base::Status check_l2(std::string_view name, double l2) {
    if (l2 >= 1e-9 && l2 <= 1e6) return base::ok();
    return base::make_error(Reason::kBadL2, "{} is {}; allowed are 1e-9 to 1e6", name, l2);
}

}  // namespace

class MetricLearner {
  public:
    MetricLearner(const dataset::Dataset& data, const FairMetricSpec& spec)
        : data_(data), spec_(spec) {
        if (spec.scale == FairMetricSpec::Scale::kRobust) clipped_ = clipped(data);
    }

    base::Result<FairMetric> learn() {
        RAMPART_RETURN_IF_ERROR(dataset::check_columns(data_));
        if (data_.rows() == 0)
            return base::make_error(base::Reason::kNoRows, "the metric's training set has no rows");
        RAMPART_RETURN_IF_ERROR(check_l2("l2", spec_.l2));
        RAMPART_RETURN_IF_ERROR(check_l2("l2_of_pairs", spec_.l2_of_pairs));
        for (const double l2 : spec_.l2_of_numbers)
            RAMPART_RETURN_IF_ERROR(check_l2("l2_of_numbers", l2));
        RAMPART_RETURN_IF_ERROR(make_columns());
        for (const auto& name : spec_.protected_features)
            RAMPART_RETURN_IF_ERROR(add_protected_feature(name));
        for (const auto& attribute : spec_.attributes)
            RAMPART_RETURN_IF_ERROR(add_attribute(attribute));
        for (const auto& name : spec_.indicators) {
            RAMPART_TRY(const size_t feature, feature_of(name));
            add_indicators(feature);
        }
        for (const auto& direction : spec_.directions)
            RAMPART_RETURN_IF_ERROR(add_direction(direction));
        make_embedding();
        if (!spec_.pairs.empty()) RAMPART_RETURN_IF_ERROR(weigh_by_pairs());
        RAMPART_RETURN_IF_ERROR(metric_.check());
        return std::move(metric_);
    }

  private:
    size_t width() const { return metric_.columns_.size(); }
    /// Returns the rows that units and regressions are found on.
    const dataset::Dataset& scaled_by() const { return clipped_ ? *clipped_ : data_; }

    base::Result<size_t> feature_of(std::string_view name) const {
        const auto found = data_.schema.find(name);
        if (!found)
            return base::make_error(Reason::kUnknownFeature,
                                    "the fair metric names the feature '{}', which is not in the "
                                    "schema",
                                    name);
        return *found;
    }

    base::Status make_columns() {
        std::vector<double> weights(data_.schema.size(), 1);
        for (const auto& [name, weight] : spec_.weights) {
            RAMPART_TRY(const size_t feature, feature_of(name));
            if (!(weight >= 0 && weight <= 1e6))
                return base::make_error(Reason::kBadWeight,
                                        "the fair metric's weight of '{}' is {}; allowed are 0 "
                                        "to 1e6",
                                        name, weight);
            weights[feature] = weight;
        }
        metric_.schema_ = data_.schema;
        metric_.columns_ = describe_columns(scaled_by(), weights);
        if (width() == 0)
            return base::make_error(Reason::kNoColumns, "the fair metric leaves all features out");
        if (width() > FairMetric::kMaxColumns)
            return base::make_error(dataset::Reason::kTooManyColumns,
                                    "the features make {} columns, one a category; a fair metric "
                                    "takes {}: give those with most categories the weight 0",
                                    width(), FairMetric::kMaxColumns);
        ranges_ = ranges_of(metric_.columns_, data_.schema.size());
        return base::ok();
    }

    base::Status add(std::string name, VectorXd vector) {
        const double length = vector.norm();
        if (!(length > 0) || !std::isfinite(length))
            return base::make_error(Reason::kUnpredictable,
                                    "the direction '{}' has the length {}: no feature "
                                    "predicts it; leave it out",
                                    name, length);
        vector /= length;
        metric_.directions_.push_back(
            {std::move(name), {vector.data(), vector.data() + vector.size()}});
        return base::ok();
    }

    void add_indicators(size_t feature) {
        for (size_t k = 0; k < ranges_[feature].count; ++k) {
            const size_t c = ranges_[feature].first + k;
            FairMetric::Direction unit{metric_.column_name(c), std::vector<double>(width())};
            unit.coefficients[c] = 1;
            metric_.directions_.push_back(std::move(unit));
        }
    }

    base::Result<RegressionColumns> table_without(const std::vector<std::string>& without) const {
        RegressionColumns table{&scaled_by(), &metric_.columns_, std::vector<bool>(width(), true)};
        for (const auto& name : without) {
            RAMPART_TRY(const size_t feature, feature_of(name));
            for (size_t k = 0; k < ranges_[feature].count; ++k)
                table.used[ranges_[feature].first + k] = false;
        }
        return table;
    }

    base::Status add_protected_feature(const std::string& name) {
        RAMPART_TRY(const size_t feature, feature_of(name));
        const auto& spec = data_.schema.features()[feature];
        ProtectedAttribute attribute{.name = name, .without = {name}};
        for (const float value : data_.columns[feature]) {
            if (spec.kind == dataset::FeatureKind::kNumeric)
                attribute.number.push_back(static_cast<double>(value));
            else
                attribute.group.push_back(std::isnan(value) ? -1 : static_cast<int32_t>(value));
        }
        attribute.groups = spec.categories.size();
        attribute.group_names = spec.categories;
        add_indicators(feature);
        return add_attribute(attribute);
    }

    base::Status add_attribute(const ProtectedAttribute& attribute) {
        const bool grouped = !attribute.group.empty();
        const size_t given = grouped ? attribute.group.size() : attribute.number.size();
        if (given != data_.rows() || (grouped && !attribute.number.empty()))
            return base::make_error(Reason::kWrongSize,
                                    "the protected attribute '{}' has {} groups and {} "
                                    "numbers for {} rows; wanted is one of each row",
                                    attribute.name, attribute.group.size(), attribute.number.size(),
                                    data_.rows());
        RAMPART_TRY(const auto table, table_without(attribute.without));
        return grouped ? add_groups(attribute, table) : add_number(attribute, table);
    }

    base::Status add_number(const ProtectedAttribute& attribute, const RegressionColumns& table) {
        size_t known = 0;
        for (const double value : attribute.number) {
            if (std::isinf(value))
                return base::make_error(base::Reason::kNotFinite,
                                        "the protected attribute '{}' holds a number that "
                                        "is not finite",
                                        attribute.name);
            known += !std::isnan(value);
        }
        if (known < 2)
            return base::make_error(Reason::kNothingKnown,
                                    "the protected attribute '{}' is known of {} rows",
                                    attribute.name, known);
        const std::vector<double> one{spec_.l2};
        RAMPART_TRY(auto vector,
                    ridge_direction(table, attribute.number,
                                    spec_.l2_of_numbers.empty() ? one : spec_.l2_of_numbers));
        return add(fmt::format("predictor of {}", attribute.name), std::move(vector));
    }

    base::Status add_groups(const ProtectedAttribute& attribute, const RegressionColumns& table) {
        if (!attribute.group_names.empty() && attribute.group_names.size() != attribute.groups)
            return base::make_error(Reason::kWrongSize,
                                    "the protected attribute '{}' has {} names of {} groups",
                                    attribute.name, attribute.group_names.size(), attribute.groups);
        if (attribute.groups > std::max(limits::kMaxGroups, dataset::kMostCategories))
            return base::make_error(base::Reason::kTooManyGroups,
                                    "the protected attribute '{}' has {} groups", attribute.name,
                                    attribute.groups);
        std::vector<size_t> rows(attribute.groups);
        for (size_t i = 0; i < attribute.group.size(); ++i) {
            const int32_t k = attribute.group[i];
            if (k < -1 || k >= static_cast<int32_t>(attribute.groups))
                return base::make_error(base::Reason::kBadGroup,
                                        "row {} has the group {} of the protected attribute '{}', "
                                        "which has {} groups",
                                        i, k, attribute.name, attribute.groups);
            if (k >= 0) ++rows[static_cast<size_t>(k)];
        }
        const auto present =
            std::count_if(rows.begin(), rows.end(), [](size_t n) { return n > 0; });
        if (present < 2)
            return base::make_error(Reason::kOneGroup,
                                    "the protected attribute '{}' has {} group in the "
                                    "training rows; two are needed to learn its direction",
                                    attribute.name, present);
        // one direction less than groups: the last group is predicted by the absence of the others
        const auto largest =
            static_cast<size_t>(std::max_element(rows.begin(), rows.end()) - rows.begin());
        for (size_t k = 0; k < attribute.groups; ++k) {
            if (rows[k] == 0 || k == largest) continue;
            std::vector<int8_t> target;
            for (const int32_t g : attribute.group)
                target.push_back(g < 0 ? int8_t{-1}
                                       : static_cast<int8_t>(g == static_cast<int32_t>(k)));
            RAMPART_TRY(auto vector, logistic_direction(table, target, spec_.l2));
            const auto name = present == 2 ? fmt::format("predictor of {}", attribute.name)
                                           : fmt::format("predictor of {}={}", attribute.name,
                                                         attribute.group_names.empty()
                                                             ? std::to_string(k)
                                                             : attribute.group_names[k]);
            RAMPART_RETURN_IF_ERROR(add(name, std::move(vector)));
        }
        return base::ok();
    }

    base::Status add_direction(const ProtectedDirection& direction) {
        VectorXd vector = VectorXd::Zero(eigen_size(width()));
        for (const auto& [name, coefficient] : direction.coefficients) {
            size_t c = 0;
            while (c < width() && metric_.column_name(c) != name) ++c;
            if (c == width())
                return base::make_error(Reason::kUnknownColumn,
                                        "the direction '{}' names the column '{}': write a numeric "
                                        "feature's name, or FEATURE=CATEGORY",
                                        direction.name, name);
            vector[eigen_size(c)] = coefficient;
        }
        return add(direction.name, std::move(vector));
    }

    void make_embedding() {
        const auto d = eigen_size(width());
        MatrixXd found(d, eigen_size(metric_.directions_.size()));
        for (size_t k = 0; k < metric_.directions_.size(); ++k)
            found.col(eigen_size(k)) =
                Eigen::Map<const VectorXd>(metric_.directions_[k].coefficients.data(), d);
        const MatrixXd sensitive = span_of(found);
        metric_.basis_ = values_of(sensitive.transpose());
        // categories of a feature always add up to the same: no two rows differ along that
        MatrixXd kept = MatrixXd::Identity(d, d);
        for (size_t j = 0; j < ranges_.size(); ++j) {
            const auto [first, count] = ranges_[j];
            if (data_.schema.features()[j].kind == dataset::FeatureKind::kCategorical && count > 0)
                kept.block(eigen_size(first), eigen_size(first), eigen_size(count),
                           eigen_size(count))
                    .array() -= 1 / static_cast<double>(count);
        }
        const MatrixXd fair = MatrixXd::Identity(d, d) - sensitive * sensitive.transpose();
        const MatrixXd axes = span_of(fair * kept);
        set_embedding(axes.transpose() * fair);
        if (axes.cols() > 0) rotate_to_principal_axes();
    }

    void set_embedding(const RowMatrix& m) {
        metric_.embedding_ = m.rows() > 0 ? values_of(m) : std::vector<double>(width());
    }

    /// The coordinates in which rows differ most come first; distances stay.
    void rotate_to_principal_axes() {
        const auto a = matrix_of(metric_.embedding_, width());
        VectorXd mean = VectorXd::Zero(a.rows());
        MatrixXd second = MatrixXd::Zero(a.rows(), a.rows());
        for_blocks(data_, metric_.columns_, [&](const auto& block, size_t) {
            const MatrixXd u = block * a.transpose();
            mean += u.colwise().sum().transpose();
            second.template selfadjointView<Eigen::Lower>().rankUpdate(u.transpose());
        });
        mean /= static_cast<double>(data_.rows());
        second /= static_cast<double>(data_.rows());
        second.selfadjointView<Eigen::Lower>().rankUpdate(mean, -1.0);
        const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(second);
        if (solver.info() != Eigen::Success) return;  // as good without
        const RowMatrix turned = solver.eigenvectors().rowwise().reverse().transpose() * a;
        set_embedding(turned);
    }

    base::Status weigh_by_pairs() {
        if (spec_.pairs.size() > FairMetric::kMaxPairs)
            return base::make_error(Reason::kTooManyPairs, "{} pairs; allowed are {}",
                                    spec_.pairs.size(), FairMetric::kMaxPairs);
        RAMPART_TRY(const auto points, metric_.embed(data_));
        const auto r = points.dimensions;
        const Eigen::Map<const RowMatrix> u(points.values.data(), eigen_size(points.rows),
                                            eigen_size(r));
        MatrixXd difference(eigen_size(spec_.pairs.size()), eigen_size(r));
        std::vector<bool> comparable;
        for (size_t k = 0; k < spec_.pairs.size(); ++k) {
            const auto& pair = spec_.pairs[k];
            if (pair.first >= points.rows || pair.second >= points.rows)
                return base::make_error(Reason::kBadPair, "pair {} names the rows {} and {} of {}",
                                        k, pair.first, pair.second, points.rows);
            difference.row(eigen_size(k)) =
                u.row(eigen_size(pair.first)) - u.row(eigen_size(pair.second));
            if (!pair.comparable && difference.row(eigen_size(k)).squaredNorm() < 1e-18)
                return base::make_error(Reason::kBadPair,
                                        "pair {}, rows {} and {}, is incomparable but differs "
                                        "in nothing that counts: leave it out",
                                        k, pair.first, pair.second);
            comparable.push_back(pair.comparable);
        }
        const auto alike = std::count(comparable.begin(), comparable.end(), true);
        if (alike == 0 || static_cast<size_t>(alike) == comparable.size())
            return base::make_error(Reason::kOneKindOfPairs,
                                    "{} of {} pairs are comparable: the metric needs both "
                                    "kinds",
                                    alike, comparable.size());
        RAMPART_TRY(const auto s, explore(difference, comparable, spec_.l2_of_pairs));
        const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(s);
        Eigen::Index rank = 0;
        const auto& values = solver.eigenvalues();  // rising
        while (rank < values.size() &&
               values[values.size() - 1 - rank] > kDependent * values[values.size() - 1])
            ++rank;
        const RowMatrix roots = values.tail(rank).cwiseSqrt().asDiagonal() *
                                solver.eigenvectors().rightCols(rank).transpose() *
                                matrix_of(metric_.embedding_, width());
        set_embedding(roots.colwise().reverse());
        return base::ok();
    }

    const dataset::Dataset& data_;
    std::optional<dataset::Dataset> clipped_;  // where the scale is robust
    const FairMetricSpec& spec_;
    FairMetric metric_;
    std::vector<ColumnRange> ranges_;
};

base::Result<FairMetric> FairMetric::learn(const dataset::Dataset& data,
                                           const FairMetricSpec& spec) {
    return MetricLearner(data, spec).learn();
}

std::string FairMetric::column_name(size_t column) const {
    const auto& c = columns_[column];
    const auto& feature = schema_.features()[c.feature];
    switch (c.kind) {
        case Kind::kNumber:
            return feature.name;
        case Kind::kMissing:
            return feature.name + " is missing";
        case Kind::kCategory:
            return feature.name + "=" + feature.categories[c.code];
    }
    return {};
}

namespace {

base::Status check_schema(const FairMetric& metric, const dataset::Dataset& data) {
    if (data.schema == metric.schema()) return dataset::check_columns(data);
    return base::make_error(dataset::Reason::kOtherSchema,
                            "the fair metric is of {} features ({} …), the rows have {} "
                            "others: take the metric learnt for this schema",
                            metric.schema().size(), metric.schema().features()[0].name,
                            data.schema.size());
}

}  // namespace

base::Result<Points> FairMetric::embed(const dataset::Dataset& data) const {
    RAMPART_RETURN_IF_ERROR(check_schema(*this, data));
    Points points;
    points.rows = data.rows();
    points.dimensions = dimensions();
    points.values.resize(points.rows * points.dimensions);
    const auto a = matrix_of(embedding_, columns_.size());
    for_blocks(data, columns_, [&](const auto& block, size_t from) {
        Eigen::Map<RowMatrix>(points.values.data() + from * points.dimensions, block.rows(),
                              a.rows())
            .noalias() = block * a.transpose();
    });
    return points;
}

namespace {

VectorXd column_differences(const FairMetric& metric, std::span<const float> a,
                            std::span<const float> b) {
    const auto& columns = metric.columns();
    VectorXd difference(eigen_size(columns.size()));
    for (size_t c = 0; c < columns.size(); ++c) {
        const size_t j = columns[c].feature;
        const size_t categories = metric.schema().features()[j].categories.size();
        difference[eigen_size(c)] =
            column_entry(columns[c], categories, a[j]) - column_entry(columns[c], categories, b[j]);
    }
    return difference;
}

}  // namespace

double FairMetric::squared_distance(std::span<const float> a, std::span<const float> b) const {
    return (matrix_of(embedding_, columns_.size()) * column_differences(*this, a, b)).squaredNorm();
}

std::vector<double> FairMetric::feature_differences(std::span<const float> a,
                                                    std::span<const float> b) const {
    std::vector<double> out(schema_.size());
    const VectorXd difference = column_differences(*this, a, b);
    for (size_t c = 0; c < columns_.size(); ++c)
        out[columns_[c].feature] += difference[eigen_size(c)] * difference[eigen_size(c)];
    return out;
}

namespace {

/// I - basis' basis. What rounding leaves of a column in the subspace is 0 here, so that rows which
/// differ in such columns alone come out the same to the last bit.
MatrixXd projector_of(const std::vector<double>& basis, size_t columns) {
    const auto rows = matrix_of(basis, columns);
    const auto d = eigen_size(columns);
    const MatrixXd all = MatrixXd::Identity(d, d) - rows.transpose() * rows;
    return (all.array().abs() < 1e-12).select(0.0, all);
}

/// Sums in one fixed order: a row is the same when it is learnt from and when it is scored.
std::vector<float> kept_of(const VectorXd& entries, const MatrixXd& projector) {
    std::vector<float> out;
    for (Eigen::Index c = 0; c < projector.cols(); ++c) {
        double sum = 0;
        for (Eigen::Index from = 0; from < entries.size(); ++from)
            sum += entries[from] * projector(from, c);
        out.push_back(static_cast<float>(sum));
    }
    return out;
}

}  // namespace

base::Result<dataset::Dataset> FairMetric::project(const dataset::Dataset& data) const {
    RAMPART_RETURN_IF_ERROR(check_schema(*this, data));
    dataset::Dataset out{.schema = {},
                         .columns = {},
                         .label = data.label,
                         .weight = data.weight,
                         .group = data.group,
                         .group_names = data.group_names};
    std::vector<dataset::FeatureSpec> features;
    for (size_t c = 0; c < columns_.size(); ++c)
        features.push_back({"fair:" + column_name(c), dataset::FeatureKind::kNumeric, {}});
    RAMPART_TRY(out.schema, dataset::FeatureSchema::create(std::move(features)));
    out.columns.assign(columns_.size(), std::vector<float>(data.rows()));
    const MatrixXd projector = projector_of(basis_, columns_.size());
    for_blocks(data, columns_, [&](const auto& block, size_t from) {
        for (Eigen::Index i = 0; i < block.rows(); ++i) {
            const auto kept = kept_of(block.row(i).transpose(), projector);
            for (size_t c = 0; c < kept.size(); ++c)
                out.columns[c][from + static_cast<size_t>(i)] = kept[c];
        }
    });
    return out;
}

std::vector<float> FairMetric::project_row(std::span<const float> row) const {
    VectorXd entries(eigen_size(columns_.size()));
    for (size_t c = 0; c < columns_.size(); ++c)
        entries[eigen_size(c)] =
            column_entry(columns_[c], schema_.features()[columns_[c].feature].categories.size(),
                         row[columns_[c].feature]);
    return kept_of(entries, projector_of(basis_, columns_.size()));
}

}  // namespace rampart::budro
