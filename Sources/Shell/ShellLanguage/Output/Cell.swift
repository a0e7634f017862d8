/// A field of a reply, with a type, so that each output mode can write the field in its own form.
package enum Cell: Sendable, Hashable {
  /// Bytes from a store, such as a key: quoted in a table; in JSON base64 if the bytes are not UTF-8.
  case bytes([UInt8])
  /// Bytes that are base64 in JSON and CSV, even if the bytes are UTF-8.
  case base64([UInt8])
  case text(String)
  /// Words of an explanation. A narrow table wraps these words, but cuts texts of other cells.
  case prose(String)
  case number(Int)
  case size(Int)
  /// A time. A person sees how far the time is from now.
  case time(UnixTime)
  /// The time at which something expires; nil for never.
  case expiry(UnixTime?)
  /// An expiry that a person sees with its time of day; nil for never.
  case deadline(UnixTime?)
  /// The expiry of an entry that has expired but may still be served (stale).
  case stale(UnixTime)
  /// A duration in milliseconds, or in seconds in JSON and CSV. Negative if the end of the duration has passed.
  case span(Int64)
  case bool(Bool)
  /// A part of a whole, 0 to 1, as a percentage.
  case share(Double)
  /// A part of a whole, 0 to 1, drawn as a bar.
  case bar(Double)
  case entry(namespace: String, key: [UInt8])
  case list([Cell])
  /// A value of an expression. `text` is for people and for plain lines, `json` for programs.
  case value(text: String, json: JSON, isNumber: Bool)
  case json(JSON)
  /// A value that is unknown, or that has no meaning in this row.
  case null
  /// An empty cell. A JSON object has no field for a blank cell.
  case blank
}

package struct Column: Sendable, Hashable, ExpressibleByStringLiteral {
  package struct Visibility: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let table = Visibility(rawValue: 1)
    /// `plain` and `raw` show the column even without `--long`.
    package static let plain = Visibility(rawValue: 2)
    /// `json`, `jsonl` and `csv` show the column. With `--long`, `plain` and `raw` also show the column.
    package static let data = Visibility(rawValue: 4)
    /// With `--long`, a table and Markdown show the column.
    package static let long = Visibility(rawValue: 8)
    package static let everywhere: Visibility = [.table, .plain, .data]
  }

  package let name: String
  package let title: String
  package let visibility: Visibility
  package let holdsBytes: Bool
  /// The inner JSON object to which this column belongs. Nil if the column belongs to the object of the row.
  package let group: String?

  package init(
    _ name: String, title: String? = nil, in visibility: Visibility = .everywhere,
    holdsBytes: Bool = false, group: String? = nil
  ) {
    self.group = group
    self.name = name
    self.title = title ?? name
    self.visibility = visibility
    self.holdsBytes = holdsBytes
  }

  package init(stringLiteral name: String) { self.init(name) }

  /// The columns of a table without a header.
  package static func untitled(_ columns: Column...) -> [Column] {
    columns.map {
      Column($0.name, title: "", in: $0.visibility, holdsBytes: $0.holdsBytes, group: $0.group)
    }
  }

  /// Whether `plain` output shows the column, and the column has keys, perhaps with another name.
  package var isPlainKey: Bool {
    holdsBytes && visibility.contains(.plain) && !["value", "context", "file"].contains(name)
  }

  /// Whether the column holds keys, namespaces or tags. A person may type such names back, so quotes are escaped.
  package var isName: Bool { ["key", "namespace", "prefix", "tags", "old", "new"].contains(name) }
}
