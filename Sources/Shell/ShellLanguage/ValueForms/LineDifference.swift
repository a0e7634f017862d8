/// The lines in which two texts differ, by the algorithm of Myers: the fewest removals and insertions.
///
/// Lines are the same if their bytes are: two spellings of a letter in Unicode differ. The algorithm keeps the reach of every number of edits, so that
/// its memory grows with the square of the edits, which a bound limits.
struct LineDifference {
  private let before: [ArraySlice<UInt8>]
  private let after: [ArraySlice<UInt8>]
  /// The same lines have the same number, so that a comparison is quick.
  private let old: [Int]
  private let new: [Int]
  /// The number of lines at the beginning that are the same, and the ends of the parts that differ.
  private let start: Int
  private let (oldEnd, newEnd): (Int, Int)

  private static let workBetweenPauses = 1 << 18

  init(_ before: [ArraySlice<UInt8>], _ after: [ArraySlice<UInt8>]) {
    self.before = before
    self.after = after
    var numbers: [ArraySlice<UInt8>: Int] = [:]
    func number(_ line: ArraySlice<UInt8>) -> Int {
      if let known = numbers[line] { return known }
      numbers[line] = numbers.count
      return numbers.count - 1
    }
    let (old, new) = (before.map(number), after.map(number))
    let start = zip(old, new).prefix { $0 == $1 }.count
    let tail = zip(old[start...].reversed(), new[start...].reversed()).prefix { $0 == $1 }.count
    (self.old, self.new, self.start) = (old, new, start)
    (oldEnd, newEnd) = (old.count - tail, new.count - tail)
  }

  /// The first line that differs.
  var first: ValueDifference.Change {
    let (before, after) = (before.dropFirst(start).first, after.dropFirst(start).first)
    let kind: ValueDifference.Change.Kind =
      before == nil ? .added : after == nil ? .removed : .changed
    return ValueDifference.Change(
      kind: kind, place: "line \(start + 1)", before: before.map(Self.text),
      after: after.map(Self.text))
  }

  /// The changes by line, removals before insertions; nil if there are more than `most`.
  func changes(
    most: Int, pause: () throws -> Void
  ) rethrows -> [ValueDifference.Change]? {
    guard let edits = try edits(most: most, pause: pause) else { return nil }
    let changes = edits.map { edit -> (line: Int, change: ValueDifference.Change) in
      let place = "line \(edit.line + 1)"
      return edit.isInsertion
        ? (edit.line, .init(kind: .added, place: place, after: Self.text(after[edit.line])))
        : (edit.line, .init(kind: .removed, place: place, before: Self.text(before[edit.line])))
    }
    return changes.sorted { left, right in
      (left.line, left.change.before == nil ? 1 : 0) < (
        right.line, right.change.before == nil ? 1 : 0
      )
    }.map(\.change)
  }

  private static func text(_ line: ArraySlice<UInt8>) -> String {
    String(decoding: line, as: UTF8.self)
  }

  private typealias Edit = (isInsertion: Bool, line: Int)

  /// The edits of a shortest way, the last first.
  private func edits(most: Int, pause: () throws -> Void) rethrows -> [Edit]? {
    let (height, width) = (oldEnd - start, newEnd - start)
    guard abs(height - width) <= most else { return nil }
    // How many lines of the old text the furthest way of each number of edits has behind it on each diagonal.
    var reaches: [[Int]] = []
    var work = 0
    for count in 0...most {
      var reach = [Int](repeating: -1, count: count + 1)
      for index in 0...count {
        let diagonal = 2 * index - count
        var x = Self.step(reaches.last, index).x
        guard (0...height).contains(x), x - diagonal <= width else {
          reach[index] = .min / 2
          continue
        }
        while x < height, x - diagonal < width, old[start + x] == new[start + x - diagonal] {
          x += 1
          work += 1
        }
        reach[index] = x
        if x == height, x - diagonal == width { return way(back: reaches, from: diagonal, count) }
      }
      reaches.append(reach)
      work += count
      if work > Self.workBetweenPauses {
        work = 0
        try pause()
      }
    }
    return nil
  }

  /// The furthest place on a diagonal by one more edit, and whether that is an insertion.
  ///
  /// The diagonals of a number of edits differ by two: number `index` of one more edit lies between the numbers `index - 1`,
  /// from which a removal leads, and `index`, from which an insertion does.
  private static func step(_ last: [Int]?, _ index: Int) -> (x: Int, isInsertion: Bool) {
    guard let last else { return (0, false) }
    let removal = index > 0 ? last[index - 1] + 1 : .min / 2
    let insertion = index < last.count ? last[index] : .min / 2
    return insertion > removal ? (insertion, true) : (removal, false)
  }

  private func way(back reaches: [[Int]], from diagonal: Int, _ count: Int) -> [Edit] {
    var edits: [Edit] = []
    var index = (diagonal + count) / 2
    for count in stride(from: count, to: 0, by: -1) {
      let (x, isInsertion) = Self.step(reaches[count - 1], index)
      let y = x - (2 * index - count)
      edits.append(isInsertion ? (true, start + y - 1) : (false, start + x - 1))
      if !isInsertion { index -= 1 }
    }
    return edits
  }
}
