import LarderSystem

/// The differences of two values: JSON by field, text by line, other bytes by the first offset.
package struct ValueDifference {
  package struct Change: Equatable {
    package enum Kind: String { case added, changed, removed }

    package let kind: Kind
    /// A path, a line number or an offset.
    package let place: String
    package var before: String?
    package var after: String?

    package var mark: String {
      switch kind {
      case .added: "+"
      case .changed: "~"
      case .removed: "-"
      }
    }
  }

  package let changes: [Change]

  package init(_ before: [UInt8], _ after: [UInt8]) {
    if before == after {
      changes = []
    } else if let a = Self.fields(before), let b = Self.fields(after) {
      changes = Self.changes(a, b)
    } else if let a = Self.lines(before), let b = Self.lines(after) {
      changes = Self.changes(a, b)
    } else {
      let offset = zip(before, after).prefix { $0 == $1 }.count
      changes = [
        Change(
          kind: .changed, place: "byte \(offset)", before: Self.hex(before, offset),
          after: Self.hex(after, offset))
      ]
    }
  }

  // MARK: JSON

  /// The scalars of a JSON object or array by path, in order; nil for other values.
  private static func fields(_ bytes: [UInt8]) -> [(path: String, value: String)]? {
    do throws(JSONText.ParseError) {
      let text = try JSONText(bytes)
      guard text.isStructured else { return nil }
      var fields: [(path: String, value: String)] = []
      var open: [(name: String, isArray: Bool, count: Int)] = []
      var name: String?
      for token in text.tokens {
        let word = String(decoding: text.text(token), as: UTF8.self)
        switch token.kind {
        case .name:
          let plain = String(word.dropFirst().dropLast())
          let isPlain = plain.utf8.allSatisfy {
            $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_")
          }
          name = "." + (isPlain && !plain.isEmpty ? plain : word)
        case .value, .open:
          let part: String
          if let last = open.indices.last, open[last].isArray {
            part = "[\(open[last].count)]"
            open[last].count += 1
          } else {
            part = name ?? ""
          }
          name = nil
          let path = open.map(\.name).joined() + part
          if token.kind == .open {
            open.append((part, word == "[", 0))
          } else {
            fields.append((path, word))
          }
        case .close:
          // An empty container is a value itself.
          let last = open.removeLast()
          let path = open.map(\.name).joined() + last.name
          if !fields.contains(where: { $0.path.hasPrefix(path) && !path.isEmpty }) {
            fields.append((path.isEmpty ? "." : path, last.isArray ? "[]" : "{}"))
          }
        }
      }
      return fields
    } catch {
      return nil
    }
  }

  private static func changes(
    _ before: [(path: String, value: String)], _ after: [(path: String, value: String)]
  ) -> [Change] {
    let old = Dictionary(before.map { ($0.path, $0.value) }) { $1 }
    let new = Dictionary(after.map { ($0.path, $0.value) }) { $1 }
    var changes = before.compactMap { path, value -> Change? in
      guard let now = new[path] else {
        return Change(kind: .removed, place: path, before: value)
      }
      return now == value
        ? nil : Change(kind: .changed, place: path, before: value, after: now)
    }
    changes += after.filter { old[$0.path] == nil }.map {
      Change(kind: .added, place: $0.path, after: $0.value)
    }
    return changes
  }

  // MARK: Text and bytes

  private static func lines(_ bytes: [UInt8]) -> [String]? {
    guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
      return nil
    }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  private static func changes(_ before: [String], _ after: [String]) -> [Change] {
    after.difference(from: before).sorted { $0.order < $1.order }.map { change in
      switch change {
      case .insert(let offset, let line, _):
        Change(kind: .added, place: "line \(offset + 1)", after: line)
      case .remove(let offset, let line, _):
        Change(kind: .removed, place: "line \(offset + 1)", before: line)
      }
    }
  }

  private static func hex(_ bytes: [UInt8], _ offset: Int) -> String {
    let shown = bytes.dropFirst(offset).prefix(8).map { byte in
      (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
    }
    return shown.isEmpty ? "end" : shown.joined(separator: " ")
  }
}

extension CollectionDifference<String>.Change {
  /// Removals come before insertions at the same line.
  fileprivate var order: (Int, Int) {
    switch self {
    case .remove(let offset, _, _): (offset, 0)
    case .insert(let offset, _, _): (offset, 1)
    }
  }
}
