#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

/// Small files in the layouts that the streams read.
namespace rampart::loan_stream {

/// An empty folder of this test's own, gone afterwards.
class Folder {
  public:
    Folder() {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        path_ = std::filesystem::path(testing::TempDir()) /
                (std::string("loan_stream.") + test->test_suite_name() + "." + test->name() + "." +
                 std::to_string(getpid()));
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(path_);
    }
    ~Folder() { std::filesystem::remove_all(path_); }

    const std::filesystem::path& path() const { return path_; }
    void write(std::string_view name, std::string_view content) const {
        std::ofstream(path_ / name, std::ios::binary) << content;
    }

  private:
    std::filesystem::path path_;
};

inline const std::string kCreditHeader =
    "LIMIT_BAL,SEX,EDUCATION,MARRIAGE,AGE,PAY_0,PAY_2,PAY_3,PAY_4,PAY_5,PAY_6,BILL_AMT1,BILL_AMT2,"
    "BILL_AMT3,BILL_AMT4,BILL_AMT5,BILL_AMT6,PAY_AMT1,PAY_AMT2,PAY_AMT3,PAY_AMT4,PAY_AMT5,PAY_AMT6,"
    "default payment\n";

inline std::string credit_row(int sex, int age, int defaulted, int limit = 20000) {
    return std::to_string(limit) + "," + std::to_string(sex) + ",2,1," + std::to_string(age) +
           ",2,2,-1,-1,-2,-2,3913,3102,689,0,0,0,0,689,0,0,0,0," + std::to_string(defaulted) + "\n";
}

inline std::string credit_file(size_t rows) {
    std::string text = kCreditHeader;
    for (size_t i = 0; i < rows; ++i) {
        const int k = static_cast<int>(i);
        text += credit_row(1 + k % 2, 21 + k % 40, k % 5 == 0, 10000 + k);
    }
    return text;
}

inline const std::string kSbaHeader =
    "LoanNr_ChkDgt,City,State,Zip,Bank,BankState,NAICS,ApprovalDate,ApprovalFY,Term,NoEmp,NewExist,"
    "CreateJob,RetainedJob,FranchiseCode,UrbanRural,RevLineCr,LowDoc,ChgOffDate,DisbursementDate,"
    "DisbursementGross,MIS_Status,ChgOffPrinGr,GrAppv,SBA_Appv\n";

struct SbaRow {
    std::string loan = "1000014003", bank_state = "OH", naics = "451120", approved = "2/28/1997";
    std::string new_exist = "2", franchise = "1", area = "0", charged_off = "", status = "P I F";
    std::string amount = "60000";
    std::string text() const {
        return loan + ",EVANSVILLE,IN,47711,FIFTH THIRD BANK," + bank_state + "," + naics + "," +
               approved + ",1997,84,4," + new_exist + ",0,3," + franchise + "," + area + ",N,Y," +
               charged_off + ",2/28/1999,60000," + status + ",0," + amount + ",48000\n";
    }
};

inline const std::string kCardHeader =
    "ID,CODE_GENDER,FLAG_OWN_CAR,FLAG_OWN_REALTY,CNT_CHILDREN,AMT_INCOME_TOTAL,NAME_INCOME_TYPE,"
    "NAME_EDUCATION_TYPE,NAME_FAMILY_STATUS,NAME_HOUSING_TYPE,DAYS_BIRTH,DAYS_EMPLOYED,FLAG_MOBIL,"
    "FLAG_WORK_PHONE,FLAG_PHONE,FLAG_EMAIL,OCCUPATION_TYPE,CNT_FAM_MEMBERS\n";

inline std::string card_row(int id, const std::string& gender = "M", int days_birth = -12005,
                            int days_employed = -4542) {
    return std::to_string(id) + "," + gender +
           ",Y,Y,0,427500.0,Working,Higher education,Civil marriage,Rented apartment," +
           std::to_string(days_birth) + "," + std::to_string(days_employed) + ",1,1,0,0,,2.0\n";
}

/// Monthly rows of an account, newest first as in the file; statuses from the opening month on.
inline std::string card_months(int id, int opened, std::string_view statuses) {
    std::string text;
    for (size_t i = statuses.size(); i-- > 0;) {
        text += std::to_string(id) + "," + std::to_string(opened + static_cast<int>(i)) + "," +
                statuses[i] + "\n";
    }
    return text;
}

}  // namespace rampart::loan_stream
