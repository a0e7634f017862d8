import Larder
package import ShellLanguage

/// For the prompt: changes that other processes made after the last command. Reads the counters only after a new commit.
package struct StoreNews {
  private var commit: UInt64?
  /// The number of changes of each kind, named by the word of the note.
  private var counts: [(word: String, count: UInt64)] = []

  package init() {}

  /// Records the present counters. An error of the store is ignored here, because the next command reports it.
  package mutating func begin(_ session: Session) {
    do throws(LarderError) {
      commit = session.store.lastCommit
      let tallies = try session.store.tallies()
      func count(_ test: (RemovalReason) -> Bool) -> UInt64 {
        let reasons = RemovalReason.allCases.filter(test)
        return tallies.reduce(0) { sum, tally in reasons.reduce(sum) { $0 &+ tally.removals[$1] } }
      }
      counts = [
        // Each write uses one version number.
        ("set", tallies.reduce(0) { $0 &+ $1.numbers }), ("expired", count { $0 == .expired }),
        ("evicted", count(\.isEviction)),
        // A replaced value already counts as set, so it does not count as removed.
        ("removed", count { ![.expired, .replaced].contains($0) && !$0.isEviction }),
      ]
    } catch { commit = nil }
  }

  /// A note such as `(store changed: 14 set, 2 evicted since the last command)`. Nil if no other process has changed the store.
  package mutating func since(_ session: Session) -> SafeText? {
    guard let commit, session.store.lastCommit != commit else { return nil }
    let before = counts
    begin(session)
    let words = zip(before, counts).compactMap { before, now -> String? in
      // A reset of the statistics makes a counter smaller; a recount after damage skips 2^40 version numbers. Both are no changes.
      let count = now.count - min(before.count, now.count)
      return (1..<1 << 40).contains(count) ? "\(Wording.count(Int(count))) \(now.word)" : nil
    }
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
