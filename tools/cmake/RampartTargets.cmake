# States, for ccache, what the target's precompiled header follows from beside its options: the text
# of all that it includes, which comes from packages and stands in the compiler's own folders.
function(rampart_precompiled_sum target)
    get_target_property(dir ${target} BINARY_DIR)
    get_target_property(headers ${target} PRECOMPILE_HEADERS)
    list(TRANSFORM headers REPLACE "^(.+)$" "#include \\1\n")
    list(JOIN headers "" text)
    set(source ${dir}/CMakeFiles/${target}.dir/precompiled.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "${text}")
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -E -P -dD ${source}
        OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    string(SHA256 sum "${CMAKE_CXX_COMPILER_VERSION} ${text}")
    file(CONFIGURE OUTPUT ${dir}/CMakeFiles/${target}.dir/cmake_pch.hxx.gch.sum
        CONTENT "${sum}\n")
endfunction()

# What nearly every source file of the product includes, parsed once: a fifth of the time that one
# takes to compile. That a header compiles alone is seen where nothing is precompiled
# (tests/architecture). The compiler takes it only with the options with which it was made: a target
# with other options sets DISABLE_PRECOMPILE_HEADERS, a file SKIP_PRECOMPILE_HEADERS.
function(rampart_precompiled_headers target)
    if(NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
        return()
    endif()
    if(NOT TARGET rampart_headers)
        file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/headers.cpp CONTENT "")
        add_library(rampart_headers OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/headers.cpp)
        target_precompile_headers(rampart_headers PRIVATE <algorithm> <array> <atomic> <chrono>
            <cmath> <condition_variable> <cstdint> <filesystem> <functional> <limits> <map> <memory>
            <mutex> <numeric> <optional> <set> <span> <sstream> <string> <string_view> <thread>
            <unordered_map> <utility> <variant> <vector> <fmt/format.h> <tl/expected.hpp>)
        target_link_libraries(rampart_headers PRIVATE fmt::fmt tl::expected)
        rampart_precompiled_sum(rampart_headers)
    endif()
    target_precompile_headers(${target} REUSE_FROM rampart_headers)
endfunction()

# rampart_library(name [DEPS rampart libs] [PUBLIC_PACKAGES ...] [PRIVATE_PACKAGES ...])
#
# Declares libs/<name> as the target rampart::<name>. A library may depend only on libraries
# declared before it: an arrow that points down the list in libs/CMakeLists.txt stops the configure
# step.
function(rampart_library name)
    cmake_parse_arguments(ARG "" "" "DEPS;PUBLIC_PACKAGES;PRIVATE_PACKAGES" ${ARGN})
    set(dir ${CMAKE_SOURCE_DIR}/libs/${name})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${dir}/src/*.cpp)
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${dir}/include/*.hpp)
    foreach(dep IN LISTS ARG_DEPS)
        if(NOT TARGET rampart::${dep})
            message(FATAL_ERROR
                "rampart::${name} may not depend on rampart::${dep}: it stands later in "
                "libs/CMakeLists.txt (or does not exist). Arrows only point up that list.")
        endif()
    endforeach()
    list(TRANSFORM ARG_DEPS PREPEND rampart:: OUTPUT_VARIABLE deps)
    if(sources)
        add_library(rampart_${name} STATIC ${sources} ${headers})
        set(scope PUBLIC)
        target_link_libraries(rampart_${name} PRIVATE ${ARG_PRIVATE_PACKAGES})
        target_include_directories(rampart_${name} PRIVATE ${dir}/src)
        rampart_precompiled_headers(rampart_${name})
    else()
        add_library(rampart_${name} INTERFACE)
        set(scope INTERFACE)
    endif()
    target_include_directories(rampart_${name} ${scope} ${dir}/include)
    target_link_libraries(rampart_${name} ${scope} ${deps} ${ARG_PUBLIC_PACKAGES})
    add_library(rampart::${name} ALIAS rampart_${name})
    set_property(GLOBAL APPEND PROPERTY RAMPART_LIBRARIES ${name})
    set_property(GLOBAL PROPERTY RAMPART_DEPS_${name} "${ARG_DEPS}")
endfunction()

# rampart_service(name [DEPS libs or services]) services/<name>: a library of all sources but
# main.cpp, and, where main.cpp is there, the program of that name.
function(rampart_service name)
    cmake_parse_arguments(ARG "" "" "DEPS;PRIVATE_PACKAGES" ${ARGN})
    set(dir ${CMAKE_SOURCE_DIR}/services/${name})
    file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cpp ${dir}/api/*.cpp)
    list(REMOVE_ITEM sources ${dir}/main.cpp)
    list(TRANSFORM ARG_DEPS PREPEND rampart:: OUTPUT_VARIABLE deps)
    add_library(rampart_service_${name} STATIC ${sources})
    target_include_directories(rampart_service_${name} PUBLIC ${CMAKE_SOURCE_DIR})
    target_link_libraries(rampart_service_${name} PUBLIC ${deps} PRIVATE ${ARG_PRIVATE_PACKAGES})
    add_library(rampart::service_${name} ALIAS rampart_service_${name})
    rampart_precompiled_headers(rampart_service_${name})
    if(EXISTS ${dir}/main.cpp)
        add_executable(${name} ${dir}/main.cpp)
        target_link_libraries(${name} PRIVATE rampart_service_${name} ${ARG_PRIVATE_PACKAGES})
        set_property(GLOBAL APPEND PROPERTY RAMPART_PROGRAMS ${name})
    endif()
endfunction()

# What nearly every test includes, parsed once: a third of the time that a test takes to compile.
# The compiler takes it only with the options with which it was made; hence a program, and its
# level.
function(rampart_test_headers)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/tests/headers.cpp CONTENT "int main() {}\n")
    add_executable(rampart_test_headers EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/tests/headers.cpp)
    set_target_properties(rampart_test_headers PROPERTIES RUNTIME_OUTPUT_DIRECTORY
        ${CMAKE_BINARY_DIR}/tests)
    target_compile_options(rampart_test_headers PRIVATE $<$<CONFIG:Release>:-O1>)
    target_precompile_headers(rampart_test_headers PRIVATE <gtest/gtest.h> <gmock/gmock.h>
        <rapidcheck/gtest.h> <fmt/format.h> <algorithm> <chrono> <cmath> <filesystem> <fstream>
        <functional> <map> <memory> <numeric> <optional> <set> <string> <thread> <vector>)
    target_link_libraries(rampart_test_headers PRIVATE GTest::gmock rapidcheck rapidcheck_gtest
        fmt::fmt)
    rampart_precompiled_sum(rampart_test_headers)
endfunction()

# rampart_test(name LABEL label SOURCES files [DEPS libs] [PACKAGES ...] [TIMEOUT seconds] [KAFKA]
#     [WHOLE suites] [ALONE])
# One GoogleTest program; each of its tests becomes a ctest test with the label. KAFKA: ctest starts
# the broker of tests/support/kafka_broker.hpp before the first such test and stops it after the
# last. WHOLE: each of these suites is one ctest test, as its tests share what takes long to set up.
# ALONE: nothing runs beside its tests, which have a broker of their own beside nodes with leases.
# No object but that of rampart_places depends on the folder of the clone.
function(rampart_test name)
    cmake_parse_arguments(ARG "KAFKA;ALONE" "LABEL;TIMEOUT"
        "SOURCES;DEPS;PACKAGES;WHOLE" ${ARGN})
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 120)
    endif()
    list(TRANSFORM ARG_DEPS PREPEND rampart:: OUTPUT_VARIABLE deps)
    add_executable(${name} ${ARG_SOURCES})
    if(NOT TARGET rampart_test_headers)
        rampart_test_headers()
    endif()
    if(NOT ARG_LABEL STREQUAL statistical)  # those compute for minutes
        target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
        target_precompile_headers(${name} REUSE_FROM rampart_test_headers)
    endif()
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(${name} PRIVATE ${deps} ${ARG_PACKAGES} fmt::fmt GTest::gmock
        GTest::gtest_main rampart_places)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    set(fixture)
    if(ARG_KAFKA)
        set(fixture FIXTURES_REQUIRED kafka_broker)
    endif()
    set(properties LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT} ${fixture})
    if(ARG_ALONE)
        list(APPEND properties RUN_SERIAL TRUE)
    endif()
    set(others)
    if(ARG_WHOLE)
        list(TRANSFORM ARG_WHOLE APPEND ".*" OUTPUT_VARIABLE filters)
        list(JOIN filters ":" filters)
        set(others TEST_FILTER "-${filters}")
    endif()
    gtest_discover_tests(${name} TEST_PREFIX "${ARG_LABEL}/" ${others} DISCOVERY_MODE PRE_TEST
        PROPERTIES ${properties})
    foreach(suite IN LISTS ARG_WHOLE)
        add_test(NAME ${ARG_LABEL}/${suite} COMMAND ${name} --gtest_filter=${suite}.*)
        set_tests_properties(${ARG_LABEL}/${suite} PROPERTIES ${properties} TIMEOUT 900)
    endforeach()
endfunction()

# The broker that the tests with KAFKA share: a folder of this build, a free port, gone after the
# run. Where no broker can run, the start counts as skipped and each test says why it skips.
set(RAMPART_KAFKA_VERSION "3.9" CACHE STRING "Kafka that the tests run against: 3.9 or 4")
set(RAMPART_KAFKA_DIR ${CMAKE_BINARY_DIR}/tests/kafka)
function(rampart_kafka_fixture)
    set(script ${CMAKE_SOURCE_DIR}/ops/kafka)
    add_test(NAME kafka/broker_up COMMAND ${script} up
        --dir ${RAMPART_KAFKA_DIR} --port 0 --secure --timeout 150
        --version ${RAMPART_KAFKA_VERSION})
    set_tests_properties(kafka/broker_up PROPERTIES
        FIXTURES_SETUP kafka_broker SKIP_RETURN_CODE 3 TIMEOUT 600)
    add_test(NAME kafka/broker_down COMMAND ${script} down --dir ${RAMPART_KAFKA_DIR} --wipe)
    set_tests_properties(kafka/broker_down PROPERTIES FIXTURES_CLEANUP kafka_broker TIMEOUT 120)
endfunction()
