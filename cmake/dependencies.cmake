# Everything that the project stands on, all of it from Debian 12's packages (scripts/setup installs them).

set(CMAKE_THREAD_PREFER_PTHREAD TRUE)
find_package(Threads REQUIRED)
find_package(Boost 1.81 EXACT REQUIRED COMPONENTS url filesystem)
find_package(nlohmann_json REQUIRED)
find_path(RAPIDJSON_INCLUDE_DIR rapidjson/writer.h REQUIRED)
find_package(doctest REQUIRED)
find_package(CLI11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED COMPONENTS core)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(LibArchive REQUIRED)
find_package(LibXml2 REQUIRED)
find_package(ZLIB REQUIRED)

find_package(PkgConfig REQUIRED)
pkg_check_modules(XAPIAN REQUIRED IMPORTED_TARGET xapian-core)
pkg_check_modules(CBOR REQUIRED IMPORTED_TARGET libcbor)

# Micro-benchmarks: timed by the one, counted by the other, which is told by its header what to count.
find_package(benchmark REQUIRED)
find_path(VALGRIND_INCLUDE_DIR valgrind/callgrind.h REQUIRED)

# Chart.js, which reports hold within them.
find_file(CHART_JS_FILE chart.min.js PATHS /usr/share/javascript/chart.js NO_DEFAULT_PATH REQUIRED)

# Asio and Beast are compiled once, inside wire/, and only declared elsewhere.
add_library(hedgerow_asio INTERFACE)
target_compile_definitions(hedgerow_asio INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED)
target_link_libraries(hedgerow_asio INTERFACE Boost::headers Threads::Threads)
