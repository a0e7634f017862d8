/// The fewest changes from one text to another by line. Time and memory are quadratic, so the lines have a limit.
struct LineDifference {
  private let before: [ArraySlice<UInt8>]
  private let after: [ArraySlice<UInt8>]
  /// The number of equal lines at the beginning, and the ends of the parts that differ.
  private let start: Int
  private let (oldEnd, newEnd): (Int, Int)

  init(_ before: [ArraySlice<UInt8>], _ after: [ArraySlice<UInt8>]) {
    (self.before, self.after) = (before, after)
    start = zip(before, after).prefix { $0 == $1 }.count
    let tail = zip(before[start...].reversed(), after[start...].reversed()).prefix { $0 == $1 }
      .count
    (oldEnd, newEnd) = (before.count - tail, after.count - tail)
  }

  var first: ValueDifference.Change {
    let (before, after) = (before.dropFirst(start).first, after.dropFirst(start).first)
    return ValueDifference.Change(
      kind: before == nil ? .added : after == nil ? .removed : .changed, place: "line \(start + 1)",
      before: before.map(Self.text), after: after.map(Self.text))
  }

  /// The changes by line, at each line removals before insertions; nil if more than `most` lines may differ.
  func changes(most: Int) -> [ValueDifference.Change]? {
    guard oldEnd + newEnd - 2 * start <= most else { return nil }
    let edits = after[start..<newEnd].difference(from: before[start..<oldEnd])
    func place(_ offset: Int) -> String { "line \(start + offset + 1)" }
    let changes = edits.map {
      edit -> (line: Int, isInsertion: Int, change: ValueDifference.Change) in
      switch edit {
      case .remove(let offset, let line, _):
        (offset, 0, .init(kind: .removed, place: place(offset), before: Self.text(line)))
      case .insert(let offset, let line, _):
        (offset, 1, .init(kind: .added, place: place(offset), after: Self.text(line)))
      }
    }
    return changes.sorted { ($0.line, $0.isInsertion) < ($1.line, $1.isInsertion) }.map(\.change)
  }

  private static func text(_ line: ArraySlice<UInt8>) -> String {
    String(decoding: line, as: UTF8.self)
  }
}
