/// A field of a reply, typed so that every output mode can write it its own way.
package enum Cell: Sendable, Hashable {
  /// Bytes from a store, such as a key: quoted in a table, `..._base64` in JSON if not UTF-8.
  case bytes([UInt8])
  /// Bytes that JSON and CSV are to hold as base64, be they UTF-8 or not.
  case base64([UInt8])
  /// A word of the shell or a name.
  case text(String)
  /// Words that explain, which a narrow table wraps instead of cutting.
  case prose(String)
  case number(Int)
  /// A number of bytes.
  case size(Int)
  /// A moment gone by.
  case time(UnixTime)
  /// When something expires; nil is never.
  case expiry(UnixTime?)
  /// The same, with the time on the clock for a person.
  case deadline(UnixTime?)
  /// The expiry of an entry that may still be served stale.
  case stale(UnixTime)
  /// A length of time in milliseconds; seconds as data, and negative if it is over.
  case span(Int64)
  case bool(Bool)
  /// A part of a whole, 0 to 1, as a percentage.
  case share(Double)
  /// The same, drawn.
  case bar(Double)
  /// A reference to an entry, such as an owner.
  case entry(namespace: String, key: [UInt8])
  case list([Cell])
  /// A value of an expression: text for a person and for lines, JSON for programs.
  case value(text: String, json: JSON, isNumber: Bool)
  /// A value with a structure of its own.
  case json(JSON)
  /// Unknown or without meaning here.
  case null
  /// Nothing at all, in the last row of a table.
  case blank
}

/// A column of a reply, or a field of an object.
package struct Column: Sendable, Hashable, ExpressibleByStringLiteral {
  /// Where a column appears.
  package struct Visibility: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let table = Visibility(rawValue: 1)
    /// `plain` as it is without `--long`, and `raw`.
    package static let plain = Visibility(rawValue: 2)
    /// `json`, `jsonl`, `csv`, and `plain` with `--long`.
    package static let data = Visibility(rawValue: 4)
    /// A table with `--long`.
    package static let long = Visibility(rawValue: 8)
    package static let everywhere: Visibility = [.table, .plain, .data]
  }

  /// The name of the field in JSON and CSV.
  package let name: String
  /// The header in a table.
  package let title: String
  package let visibility: Visibility
  /// It may hold bytes that are not UTF-8.
  package let holdsBytes: Bool
  /// In JSON the column is a field of an object of this name.
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

  /// It holds keys, namespaces or tags, which are typed back.
  package var isName: Bool { ["key", "namespace", "prefix", "tags", "old", "new"].contains(name) }

  /// The same column, hidden in some forms.
  package init(all column: Column, except hidden: Visibility) {
    self.init(
      column.name, in: .everywhere.subtracting(hidden), holdsBytes: column.holdsBytes)
  }
}
