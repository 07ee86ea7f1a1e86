// A report that is one HTML file: text, tables and charts, with everything in it. Pure.
//
// It opens from a disk without a network (a content security policy in it forbids all loading), follows the reader's
// light or dark scheme, prints, and is read by screen readers: every chart has its caption and a table of its values, and
// series are hidden and shown with buttons. Charts are drawn by Chart.js, which is in the file; without scripts the same
// chart is there as SVG.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lab/report/chart.hpp"

namespace hedgerow::lab::report {

// Text is plain everywhere: what looks like mark-up is shown as it stands.
struct Heading {
  std::string text;
};
struct Paragraph {
  std::string text;
};
// Something to be copied: a command.
struct Code {
  std::string text;
};
// "p99.9" to "74 ms"; shown as a row of figures when large.
struct Facts {
  std::vector<std::pair<std::string, std::string>> facts;
  bool large = false;
};
struct Table {
  struct Column {
    std::string title;
    bool number = false;  // aligned by its last digit
  };
  std::string caption;
  std::vector<Column> columns;
  // Each as long as columns. What follows a line's end in a cell is a remark, and shown smaller below.
  std::vector<std::vector<std::string>> rows;
};
// A line that stands out: agreement, or what speaks against trusting the numbers.
struct Verdict {
  enum class Kind { good, bad, note };
  Kind kind = Kind::note;
  std::string text;
};
using Part = std::variant<Heading, Paragraph, Code, Facts, Table, Verdict, Chart>;

struct Page {
  std::string title;
  std::string lead;  // a sentence or two below the title
  std::vector<Part> parts;
  std::string foot;  // how and when it was made
};

std::string to_html(const Page& page);

}  // namespace hedgerow::lab::report
