import Larder
package import ShellLanguage

/// For the prompt: changes that other processes made after the last command. Reads the counters only after a new commit.
package struct StoreNews {
  private struct Counts {
    /// The count of version numbers that the writes of all namespaces have used. Each write uses one version number.
    var numbers: UInt64 = 0
    var removals: [RemovalReason: UInt64] = [:]

    /// The number of writes between two reads. A recount after damage skips at least 2^40 numbers, which count as 0 writes.
    func writes(since before: Counts) -> Int {
      let given = numbers - min(before.numbers, numbers)
      return given < 1 << 40 ? Int(given) : 0
    }
  }

  private var commit: UInt64?
  private var counts = Counts()

  package init() {}

  /// Records the present counters. An error of the store is ignored here, because the next command reports it.
  package mutating func begin(_ session: Session) {
    do throws(LarderError) {
      commit = session.store.lastCommit
      var counts = Counts()
      for namespace in try session.store.tallies() {
        counts.numbers &+= namespace.numbers
        for reason in RemovalReason.allCases {
          counts.removals[reason, default: 0] += namespace.removals[reason]
        }
      }
      self.counts = counts
    } catch {
      commit = nil
    }
  }

  /// A note such as `(store changed: 14 set, 2 evicted since the last command)`. Nil if no other process has changed the store.
  package mutating func since(_ session: Session) -> SafeText? {
    guard let commit, session.store.lastCommit != commit else { return nil }
    let before = counts
    begin(session)
    func count(_ test: (RemovalReason) -> Bool) -> Int {
      counts.removals.filter { test($0.key) }.reduce(0) { sum, removed in
        let former = before.removals[removed.key, default: 0]
        // A reset of the statistics makes the counters smaller. So a negative difference counts as 0.
        return sum + Int(clamping: removed.value - min(former, removed.value))
      }
    }
    let parts = [
      (counts.writes(since: before), "set"),
      (count { $0 == .expired }, "expired"),
      (count(\.isEviction), "evicted"),
      // A replaced value already counts as set, so it does not count as removed.
      (count { ![.expired, .replaced].contains($0) && !$0.isEviction }, "removed"),
    ]
    let words = parts.filter { $0.0 > 0 }.map { "\(Wording.count($0.0)) \($0.1)" }
    guard !words.isEmpty else { return nil }
    return "(store changed: \(words.joined(separator: ", ")) since the last command)"
  }
}

extension Session {
  /// One line about the store, which the shell prints at its start.
  package func summary() throws -> String {
    try ShellError.translating {
      let namespaces = try livingNamespaces(isQuick: true)
      let all = namespaces.tally
      let limits = try store.limits()
      let limit = limits.effective.bytes.map { " of \(Wording.size($0))" } ?? ""
      // For a store without namespaces, the line also names the disk limit.
      let disk =
        namespaces.isEmpty ? limits.diskWords.map { ", a file of at most \($0)" } ?? "" : ""
      return "\(SafeText(store.path))   "
        + "\(Wording.count(namespaces.count, "namespace", "namespaces")), "
        + "\(all.words)\(limit)\(disk)"
    }
  }
}
