import TestSupport
import Testing

@testable import Larder

/// The knowledge of a watcher that sees only the changes: the keys of each namespace, and the size of each value.
struct Replay {
  private(set) var sizes: [String: [Key: Int]] = [:]
  private(set) var missed = 0
  private(set) var count = 0
  private var transaction: UInt64 = 0

  /// Applies the next change. Expects that the change fits the known keys and sizes.
  mutating func apply(_ change: Change, _ comment: Comment? = nil) {
    count += 1
    guard let namespace = change.namespace, let commit = change.transaction else {
      missed += 1
      return
    }
    #expect(commit >= transaction, comment)
    transaction = commit
    let key = change.key ?? Key([])
    let before = sizes[namespace]?[key]
    switch change.kind {
    case .set:
      #expect(change.sizeBefore == before, comment)
      sizes[namespace, default: [:]][key] = change.sizeAfter
    case .touched:
      #expect(change.sizeBefore == before && change.sizeAfter == before, comment)
    case .removed:
      #expect(change.sizeBefore == before && before != nil && change.sizeAfter == nil, comment)
      sizes[namespace]?[key] = nil
    case .cleared:
      #expect(change.sizeBefore == (sizes[namespace] ?? [:]).values.reduce(0, +), comment)
      sizes[namespace] = [:]
    case .renamed(let name):
      #expect(sizes[name] == nil, comment)
      sizes[name] = sizes.removeValue(forKey: namespace)
    case .missed, .ended, .health:
      break
    }
  }

  /// Expects that the store has exactly the known entries, except in the namespace `end`.
  func compare(_ store: Store, _ comment: Comment? = nil) throws {
    for facts in try store.namespaces() where facts.name != "end" {
      let known = sizes[facts.name] ?? [:]
      #expect(facts.entries == known.count, comment)
      #expect(facts.bytes == known.values.reduce(0, +), comment)
      for (key, size) in known {
        #expect(try store.namespace(facts.name).entry(for: key)?.size == size, comment)
      }
    }
  }
}

extension Changes.Iterator {
  /// The changes of all commits up to now.
  mutating func rest(of store: Store) async throws -> [Change] {
    // The change of this write marks the end of the changes to return.
    try await store.namespace("end").set("", for: "end")
    var changes: [Change] = []
    while let change = await next() {
      if change.namespace == "end", change.kind == .set { break }
      if change.namespace != "end" { changes.append(change) }
      if case .ended = change.kind { break }
    }
    // The commit of the mark may also have removed expired entries. The changes of these removals come after the mark.
    while let change = nextNow() { changes.append(change) }
    return changes
  }
}

extension Store {
  var publishesChanges: Bool {
    get throws { try write { batch in batch.session.changes != nil } }
  }
}
