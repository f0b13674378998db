#include "tools/peers/gbdt/libraries.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "tools/peers/reasons.hpp"

namespace rampart::peer_gbdt {
namespace {

using base::Result;

/// Looks up functions one by one; remembers the first that is missing.
class Library {
  public:
    explicit Library(const std::string& path)
        : path_(path), handle_(dlopen(path.c_str(), RTLD_NOW)) {
        if (handle_ == nullptr)
            error_ = base::make_error(peers::Reason::kNoLibrary, "{}", dlerror());
    }
    template <class Function>
    void find(Function*& function, const char* name) {
        if (handle_ == nullptr) return;
        function = reinterpret_cast<Function*>(dlsym(handle_, name));
        if (function == nullptr && !error_)
            error_ = base::make_error(peers::Reason::kNoFunction, "'{}' has no {}", path_, name);
    }
    const std::optional<base::Error>& error() const { return error_; }

  private:
    std::string path_;
    void* handle_;
    std::optional<base::Error> error_;
};

// constants of LightGBM's c_api.h and of XGBoost's prediction options
constexpr int kFloat32 = 0, kRawScore = 1, kAllTrees = -1, kRowMajor = 1;

}  // namespace

struct LightGbm::Functions {
    const char* (*last_error)();
    int (*load)(const char* path, int* iterations, void** booster);
    int (*prepare_one)(void* booster, int what, int first, int count, int type, int32_t features,
                       const char* parameters, void** fast);
    int (*predict_one)(void* fast, const void* row, int64_t* length, double* out);
    int (*predict)(void* booster, const void* values, int type, int32_t rows, int32_t features,
                   int row_major, int what, int first, int count, const char* parameters,
                   int64_t* length, double* out);
};

LightGbm::LightGbm(std::shared_ptr<const Functions> functions) : functions_(std::move(functions)) {}

Result<LightGbm> LightGbm::open(const std::string& library, const std::string& model,
                                size_t features) {
    Library found(library);
    Functions call{};
    found.find(call.last_error, "LGBM_GetLastError");
    found.find(call.load, "LGBM_BoosterCreateFromModelfile");
    found.find(call.prepare_one, "LGBM_BoosterPredictForMatSingleRowFastInit");
    found.find(call.predict_one, "LGBM_BoosterPredictForMatSingleRowFast");
    found.find(call.predict, "LGBM_BoosterPredictForMat");
    if (found.error()) return *found.error();
    LightGbm out(std::make_shared<Functions>(call));
    out.features_ = features;
    int iterations = 0;
    if (call.load(model.c_str(), &iterations, &out.booster_) != 0 ||
        call.prepare_one(out.booster_, kRawScore, 0, kAllTrees, kFloat32,
                         static_cast<int32_t>(features), "num_threads=1", &out.fast_) != 0) {
        return base::make_error(peers::Reason::kPeerRefusedInput, "LightGBM: {}",
                                call.last_error());
    }
    return out;
}

Result<double> LightGbm::predict_one(const float* row) const {
    int64_t length = 0;
    double out = 0;
    if (functions_->predict_one(fast_, row, &length, &out) == 0) return out;
    return base::make_error(peers::Reason::kPeerRefused, "LightGBM: {}", functions_->last_error());
}

base::Status LightGbm::predict(std::span<const float> values, size_t threads,
                               std::span<double> out) const {
    const std::string parameters = fmt::format("num_threads={}", threads);
    int64_t length = 0;
    if (functions_->predict(booster_, values.data(), kFloat32, static_cast<int32_t>(out.size()),
                            static_cast<int32_t>(features_), kRowMajor, kRawScore, 0, kAllTrees,
                            parameters.c_str(), &length, out.data()) == 0) {
        return base::ok();
    }
    return base::make_error(peers::Reason::kPeerRefused, "LightGBM: {}", functions_->last_error());
}

struct XgBoost::Functions {
    const char* (*last_error)();
    int (*create)(void* const* tables, uint64_t count, void** booster);
    int (*load)(void* booster, const char* path);
    int (*set)(void* booster, const char* name, const char* value);
    int (*predict)(void* booster, const char* values, const char* options, void* about,
                   const uint64_t** shape, uint64_t* dimensions, const float** out);
};

XgBoost::XgBoost(std::shared_ptr<const Functions> functions) : functions_(std::move(functions)) {}

Result<XgBoost> XgBoost::open(const std::string& library, const std::string& model,
                              size_t features) {
    Library found(library);
    Functions call{};
    found.find(call.last_error, "XGBGetLastError");
    found.find(call.create, "XGBoosterCreate");
    found.find(call.load, "XGBoosterLoadModel");
    found.find(call.set, "XGBoosterSetParam");
    found.find(call.predict, "XGBoosterPredictFromDense");
    if (found.error()) return *found.error();
    XgBoost out(std::make_shared<Functions>(call));
    out.features_ = features;
    if (call.create(nullptr, 0, &out.booster_) != 0 ||
        call.load(out.booster_, model.c_str()) != 0) {
        return base::make_error(peers::Reason::kPeerRefusedInput, "XGBoost: {}", call.last_error());
    }
    return out;
}

base::Status XgBoost::predict(std::span<const float> values, size_t threads,
                              std::span<double> out) const {
    const std::string table =
        fmt::format(R"({{"data": [{}, true], "shape": [{}, {}], "typestr": "<f4", "version": 3}})",
                    reinterpret_cast<uintptr_t>(values.data()), out.size(), features_);
    const char* const options =
        R"({"type": 1, "training": false, "iteration_begin": 0, "iteration_end": 0,
            "strict_shape": false, "missing": NaN})";
    const uint64_t* shape = nullptr;
    uint64_t dimensions = 0;
    const float* scores = nullptr;
    if (functions_->set(booster_, "nthread", fmt::format("{}", threads).c_str()) != 0 ||
        functions_->predict(booster_, table.c_str(), options, nullptr, &shape, &dimensions,
                            &scores) != 0) {
        return base::make_error(peers::Reason::kPeerRefused, "XGBoost: {}",
                                functions_->last_error());
    }
    std::copy_n(scores, out.size(), out.data());
    return base::ok();
}

}  // namespace rampart::peer_gbdt
