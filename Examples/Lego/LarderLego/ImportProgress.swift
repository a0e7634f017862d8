import ExampleProgram
import LegoCache

/// How far an import is, of all kinds together.
struct ImportProgress {
  /// About how many entities of each kind will come; 0 where that is not known.
  let estimates: [EntityKind: Int]
  let line: ProgressLine
  private var done: [EntityKind: Int] = [:]

  init(_ line: ProgressLine, estimates: [EntityKind: Int]) {
    self.line = line
    self.estimates = estimates
  }

  mutating func advance(_ progress: LegoImport.Progress) {
    done[progress.kind] = progress.done
    let all = estimates.values.reduce(0, +)
    line.advance(
      progress.kind.word, count: done.values.reduce(0, +), passed: passed(before: progress.kind),
      of: all > 0 ? all : nil)
  }

  /// A kind that is behind counts as what was expected of it, which may have been too much.
  private func passed(before kind: EntityKind) -> Int {
    let behind = EntityKind.allCases.prefix { $0 != kind }.reduce(0) { $0 + (estimates[$1] ?? 0) }
    return behind + min(done[kind] ?? 0, estimates[kind] ?? 0)
  }
}
