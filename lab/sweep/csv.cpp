#include "lab/sweep/csv.hpp"

#include <optional>

namespace hedgerow::lab::sweep {

std::string csv_line(const CsvRow& row) {
  std::string out;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) out += ',';
    if (row[i].find_first_of(",\"\r\n") == std::string::npos) {
      out += row[i];
      continue;
    }
    out += '"';
    for (const char c : row[i]) {
      if (c == '"') out += '"';
      out += c;
    }
    out += '"';
  }
  return out + "\r\n";
}

result<std::vector<CsvRow>> parse_csv(std::string_view text) {
  std::vector<CsvRow> rows;
  CsvRow row;
  std::string cell;
  enum class State { begin, plain, quoted, closed } state = State::begin;
  std::size_t line = 1;
  const auto end_cell = [&] {
    row.push_back(std::move(cell));
    cell.clear();
    state = State::begin;
  };
  const auto end_row = [&] {
    end_cell();
    rows.push_back(std::move(row));
    row.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (state == State::quoted) {
      if (c != '"') {
        cell += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cell += text[++i];
      } else {
        state = State::closed;
      }
      continue;
    }
    if (c == ',') {
      end_cell();
    } else if (c == '\n') {
      end_row();
    } else if (c == '\r' && (i + 1 == text.size() || text[i + 1] == '\n')) {
      // Part of the line's end.
    } else if (state == State::closed) {
      return Error{Errc::input, "line " + std::to_string(line) + ": text behind a closing quote"};
    } else if (c == '"' && state == State::begin) {
      state = State::quoted;
    } else {
      cell += c;
      state = State::plain;
    }
  }
  if (state == State::quoted) return Error{Errc::input, "line " + std::to_string(line) + ": a quote does not close"};
  if (state != State::begin || !row.empty()) end_row();
  return rows;
}

}  // namespace hedgerow::lab::sweep
