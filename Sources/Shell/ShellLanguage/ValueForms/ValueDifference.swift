import LarderSystem

/// The differences of two values: JSON by field, text by line. For other bytes, only the place of the first difference.
package struct ValueDifference {
  package struct Change {
    package let place: String
    package var before: String?
    package var after: String?

    package var kind: ChangeKind { before == nil ? .added : after == nil ? .removed : .changed }
  }

  package let changes: [Change]
  /// Whether `changes` holds only the first change, because more than ``mostLines`` lines may differ.
  package private(set) var isCut = false

  package static let mostLines = 4_000

  package init(_ before: [UInt8], _ after: [UInt8]) {
    if before == after {
      changes = []
    } else if let a = Self.fields(before), let b = Self.fields(after) {
      changes = Self.changes(a, b)
    } else if let a = Self.lines(before), let b = Self.lines(after) {
      (changes, isCut) = Self.lineChanges(a, b)
    } else {
      changes = [Self.byteChange(before, after)]
    }
  }

  private typealias Field = (path: String, value: String)

  /// The strings, numbers, words and empty containers of a JSON object or array with their paths, in order; nil for other values.
  private static func fields(_ bytes: [UInt8]) -> [Field]? {
    guard let json = try? JSONText(bytes), json.isStructured else { return nil }
    var fields: [Field] = []
    addFields(of: json, 0, "", to: &fields)
    return fields
  }

  private static func addFields(
    of json: JSONText, _ index: Int, _ path: String, to fields: inout [Field]
  ) {
    func word(_ index: Int) -> String {
      String(decoding: json.text(json.tokens[index]), as: UTF8.self)
    }
    let children = json.children(of: index)
    for (number, child) in children.enumerated() {
      let step = child.name.map { pathStep(word($0)) } ?? "[\(number)]"
      addFields(of: json, child.value, path + step, to: &fields)
    }
    // An empty container counts as a value. The outermost container always counts, to tell an object from an array.
    guard children.isEmpty || path.isEmpty else { return }
    let value = word(index)
    let isContainer = json.tokens[index].kind == .open
    fields.append((path.isEmpty ? "." : path, isContainer ? value == "[" ? "[]" : "{}" : value))
  }

  private static func pathStep(_ word: String) -> String {
    let plain = word.dropFirst().dropLast()
    let isPlain = plain.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
    return "." + (isPlain && !plain.isEmpty ? String(plain) : word)
  }

  private static func changes(_ before: [Field], _ after: [Field]) -> [Change] {
    let old = Set(before.map { ExactString($0.path) })
    let new = Dictionary(after.map { (ExactString($0.path), $0.value) }) { $1 }
    var changes = before.compactMap { path, value -> Change? in
      let now = new[ExactString(path)]
      return value.isExactly(now) ? nil : Change(place: path, before: value, after: now)
    }
    changes += after.filter { !old.contains(ExactString($0.path)) }.map {
      Change(place: $0.path, after: $0.value)
    }
    return changes
  }

  private static func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>]? {
    guard String(validating: bytes, as: UTF8.self) != nil, !bytes.contains(0) else { return nil }
    return bytes.lines
  }

  /// The shortest list of removed and inserted lines, removals first. Time and memory are quadratic, so the lines are limited.
  private static func lineChanges(
    _ before: [ArraySlice<UInt8>], _ after: [ArraySlice<UInt8>]
  ) -> (changes: [Change], isCut: Bool) {
    func text(_ line: ArraySlice<UInt8>) -> String { String(decoding: line, as: UTF8.self) }
    let start = zip(before, after).prefix { $0 == $1 }.count
    func place(_ offset: Int) -> String { "line \(start + offset + 1)" }
    let tail = zip(before[start...].reversed(), after[start...].reversed()).prefix { $0 == $1 }
      .count
    let (old, new) = (before[start..<before.count - tail], after[start..<after.count - tail])
    guard old.count + new.count <= mostLines else {
      let (before, after) = (before.dropFirst(start).first, after.dropFirst(start).first)
      return ([Change(place: place(0), before: before.map(text), after: after.map(text))], true)
    }
    let changes = new.difference(from: old).map {
      edit -> (line: Int, isInsertion: Int, change: Change) in
      switch edit {
      case .remove(let offset, let line, _):
        (offset, 0, Change(place: place(offset), before: text(line)))
      case .insert(let offset, let line, _):
        (offset, 1, Change(place: place(offset), after: text(line)))
      }
    }
    return (
      changes.sorted { ($0.line, $0.isInsertion) < ($1.line, $1.isInsertion) }.map(\.change), false
    )
  }

  private static func byteChange(_ before: [UInt8], _ after: [UInt8]) -> Change {
    let offset = zip(before, after).prefix { $0 == $1 }.count
    return Change(place: "byte \(offset)", before: hex(before, offset), after: hex(after, offset))
  }

  private static func hex(_ bytes: [UInt8], _ offset: Int) -> String {
    let shown = bytes.dropFirst(offset).prefix(8).map { Quoting.hex($0) }
    return shown.isEmpty ? "end" : shown.joined(separator: " ")
  }
}

/// The kind of a difference between two values or two stores. Only an entry of a store can be `expired`.
package enum ChangeKind: String {
  case added, changed, removed, expired

  package var mark: String {
    switch self {
    case .added: "+"
    case .changed: "~"
    case .removed, .expired: "-"
    }
  }
}
