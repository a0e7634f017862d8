import Larder

/// What others have done to the store since the last command, for a person at the prompt.
///
/// It costs a look at one number, and more only where that has changed.
package struct StoreNews {
  private struct Counts {
    var entries = 0
    var stored = 0
    var removals: [RemovalReason: UInt64] = [:]
  }

  private var commit: UInt64?
  private var counts = Counts()

  package init() {}

  /// Remembers how the store stands. Of one that cannot be read there will be no news: commands say what is wrong.
  package mutating func begin(_ session: Session) {
    do throws(LarderError) {
      commit = session.store.lastCommit
      counts = try Self.counts(session.store)
    } catch {
      commit = nil
    }
  }

  /// `(store changed: 14 new, 2 evicted since the last command)`; nil if nobody else wrote.
  package mutating func since(_ session: Session) -> SafeText? {
    guard let commit, session.store.lastCommit != commit else { return nil }
    let before = counts
    begin(session)
    func count(_ test: (RemovalReason) -> Bool) -> Int {
      counts.removals.filter { test($0.key) }.reduce(0) { sum, removed in
        let former = before.removals[removed.key, default: 0]
        // Statistics may have been reset.
        return sum + Int(clamping: removed.value - min(former, removed.value))
      }
    }
    let all = count { _ in true }
    let parts = [
      (counts.entries - before.entries + all, "new"), (count { $0 == .expired }, "expired"),
      (count(\.isEviction), "evicted"), (count { $0 != .expired && !$0.isEviction }, "removed"),
    ]
    let words = parts.filter { $0.0 > 0 }.map { "\(Wording.count($0.0)) \($0.1)" }
    guard !words.isEmpty || counts.stored != before.stored else { return nil }
    let what = words.isEmpty ? "other values" : words.joined(separator: ", ")
    return "(store changed: \(what) since the last command)"
  }

  private static func counts(_ store: Store) throws(LarderError) -> Counts {
    var counts = Counts()
    for namespace in try store.tallies() {
      counts.entries += namespace.entries
      counts.stored += namespace.stored
      for reason in RemovalReason.allCases {
        counts.removals[reason, default: 0] += namespace.removals[reason]
      }
    }
    return counts
  }
}
