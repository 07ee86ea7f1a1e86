// Reports as a browser shows them: Chromium takes a picture, without a network, and the marks are looked for in it.
#include <doctest/doctest.h>
#include <png.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "lab/report/page.hpp"

using namespace hedgerow::lab::report;

namespace {

namespace fs = std::filesystem;

std::string chromium() {
  for (const char* path : {"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"}) {
    if (::access(path, X_OK) == 0) return path;
  }
  return "";
}

struct Colour {
  int red, green, blue;
};
Colour colour_of(std::string_view text) {
  const auto part = [&](std::size_t at) { return std::stoi(std::string(text.substr(at, 2)), nullptr, 16); };
  return {part(1), part(3), part(5)};
}

struct Screenshot {
  unsigned width = 0, height = 0;
  std::vector<unsigned char> pixels;  // red, green, blue

  bool is(unsigned x, unsigned y, Colour colour) const {
    const unsigned char* at = &pixels[(static_cast<std::size_t>(y) * width + x) * 3];
    return std::abs(at[0] - colour.red) + std::abs(at[1] - colour.green) + std::abs(at[2] - colour.blue) < 24;
  }
};

Screenshot read_png(const fs::path& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  REQUIRE_MESSAGE(png_image_begin_read_from_file(&image, path.c_str()) != 0, "no picture was taken");
  image.format = PNG_FORMAT_RGB;
  Screenshot picture{image.width, image.height, std::vector<unsigned char>(PNG_IMAGE_SIZE(image))};
  REQUIRE(png_image_finish_read(&image, nullptr, picture.pixels.data(), 0, nullptr) != 0);
  return picture;
}

struct Spot {
  double x = 0, y = 0;
  std::size_t pixels = 0;
};
// What hangs together in this colour and is large enough for a mark, from left to right.
std::vector<Spot> spots(const Screenshot& picture, Colour colour) {
  std::vector<bool> seen(static_cast<std::size_t>(picture.width) * picture.height);
  std::vector<Spot> found;
  for (unsigned y = 0; y < picture.height; ++y) {
    for (unsigned x = 0; x < picture.width; ++x) {
      std::vector<std::pair<unsigned, unsigned>> open{{x, y}};
      Spot spot;
      while (!open.empty()) {
        const auto [at_x, at_y] = open.back();
        open.pop_back();
        if (at_x >= picture.width || at_y >= picture.height) continue;
        const std::size_t place = static_cast<std::size_t>(at_y) * picture.width + at_x;
        if (seen[place] || !picture.is(at_x, at_y, colour)) continue;
        seen[place] = true;
        spot.x += at_x;
        spot.y += at_y;
        ++spot.pixels;
        // Below 0 is beyond the width.
        for (const auto& [next_x, next_y] : {std::pair{at_x + 1, at_y}, {at_x - 1, at_y}, {at_x, at_y + 1}, {at_x, at_y - 1}}) open.emplace_back(next_x, next_y);
      }
      if (spot.pixels < 20) continue;
      spot.x /= static_cast<double>(spot.pixels);
      spot.y /= static_cast<double>(spot.pixels);
      found.push_back(spot);
    }
  }
  std::sort(found.begin(), found.end(), [](const Spot& a, const Spot& b) { return a.x < b.x; });
  return found;
}

class Browser {
 public:
  Browser() {
    std::string name = (fs::temp_directory_path() / "hedgerow-browser-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
  }
  ~Browser() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  void show(const std::string& html) const { std::ofstream(folder_ / "report.html", std::ios::binary) << html; }

  Screenshot picture(const std::string& options) const {
    run(options + " --screenshot='" + (folder_ / "shot.png").string() + "'", "/dev/null");
    return read_png(folder_ / "shot.png");
  }
  // The page's elements, after its scripts have run.
  std::string elements() const {
    run("--dump-dom", (folder_ / "dom.html").string());
    std::ifstream file(folder_ / "dom.html", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

 private:
  void run(const std::string& options, const std::string& output) const {
    // No name is ever resolved, so there is no network; a root's Chromium runs only without its sandbox.
    const std::string command = "timeout 100 " + chromium() + " --headless --no-sandbox --disable-gpu --hide-scrollbars --force-color-profile=srgb" +
                                " --force-device-scale-factor=1 --host-resolver-rules='MAP * ~NOTFOUND' --window-size=1000,900 --user-data-dir='" +
                                (folder_ / "profile").string() + "' " + options + " 'file://" + (folder_ / "report.html").string() + "' >" + output + " 2>/dev/null";
    REQUIRE(std::system(command.c_str()) == 0);
  }
  fs::path folder_;
};

// Equal steps right and up, drawn in a colour that nothing else on the page has.
constexpr unsigned mark_colour = 1;
Page page_of_four_marks() {
  Series marks{.name = "marks", .points = {{1, 10}, {10, 20}, {100, 30}, {1000, 40}}, .mark = Mark::points};
  marks.colour = mark_colour;
  return {.title = "Four marks",
          .lead = "",
          .parts = {Chart{.name = "four", .title = "Marks", .caption = "", .x = {.title = "x", .scale = Scale::logarithmic}, .y = {.title = "y"}, .series = {marks}}},
          .foot = ""};
}

void check_four_marks(const Screenshot& picture, std::string_view colour) {
  const auto marks = spots(picture, colour_of(colour));
  REQUIRE(marks.size() == 4);
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK(marks[i].x - marks[i - 1].x == doctest::Approx((marks[3].x - marks[0].x) / 3).epsilon(0.02));
    CHECK(marks[i].y - marks[i - 1].y == doctest::Approx((marks[3].y - marks[0].y) / 3).epsilon(0.02));
  }
  CHECK(marks[3].x - marks[0].x > 300);
  CHECK(marks[0].y - marks[3].y > 100);
}

}  // namespace

TEST_CASE("a browser draws a report's marks where their values are, light and dark, without a network") {
  if (chromium().empty()) {
    std::puts("SKIPPED: there is no Chromium here");
    return;
  }
  const Browser browser;
  browser.show(to_html(page_of_four_marks()));
  // Drawn by the script, not only as the picture that is there for who has none.
  const std::string elements = browser.elements();
  CHECK(elements.find("data-charts-drawn=\"1\"") != std::string::npos);
  CHECK(elements.find("class=\"chart drawn\"") != std::string::npos);
  const Screenshot light = browser.picture("--blink-settings=preferredColorScheme=1");
  CHECK(light.is(2, 2, colour_of("#f6f7f9")));
  check_four_marks(light, colour_on_light(mark_colour));
  const Screenshot dark = browser.picture("--blink-settings=preferredColorScheme=0");
  CHECK(dark.is(2, 2, colour_of("#0f1115")));
  check_four_marks(dark, colour_on_dark(mark_colour));
}

TEST_CASE("where no script runs the same marks are there") {
  if (chromium().empty()) {
    std::puts("SKIPPED: there is no Chromium here");
    return;
  }
  const Browser browser;
  // Chromium takes no pictures with scripts switched off, so they are made into what is none.
  std::string html = to_html(page_of_four_marks());
  for (auto at = html.find("<script>"); at != std::string::npos; at = html.find("<script>")) html.replace(at, 8, "<script type=\"text/plain\">");
  browser.show(html);
  CHECK(browser.elements().find("data-charts-drawn") == std::string::npos);
  check_four_marks(browser.picture("--blink-settings=preferredColorScheme=1"), colour_on_light(mark_colour));
}
