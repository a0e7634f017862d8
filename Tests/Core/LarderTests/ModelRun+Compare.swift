import LarderSystem
import TestSupport
import Testing

@testable import Larder

extension ModelRun {
  /// Lists a namespace, or its entries with a prefix, and compares the result with the model. A scan of values must find the
  /// fresh entries. A list of pages, or a scan of entries, must find all entries that have not expired.
  mutating func list(_ name: String) throws {
    let notes = store.namespace(name)
    let whole = keys[random.next(in: 0..<keys.count)]
    let prefix = Array(
      whole.prefix(random.chance(percent: 50) ? 0 : random.next(in: 0..<whole.count + 1)))
    let ofValues = random.chance(percent: 33)
    let expected = (model.spaces[name]?.entries ?? [:]).filter {
      let state = $0.value.state(at: model.now)
      return state != .expired && !(ofValues && state != .fresh) && $0.key.starts(with: prefix)
    }
    var found: [[UInt8]] = []
    if ofValues {
      try notes.scanValues(prefix: prefix) { key, bytes in
        #expect(expected[key.copied]?.value == bytes.copied)
        found.append(key.copied)
        return true
      }
    } else if random.chance(percent: 50) {
      var cursor: PageCursor?
      repeat {
        let page = try notes.page(limit: random.next(in: 1..<9), after: cursor, prefix: prefix)
        found += page.items.map(\.key.bytes)
        cursor = page.next
      } while cursor != nil
    } else {
      try notes.scan(prefix: prefix) { entry, bytes in
        #expect(expected[entry.key.bytes]?.value == bytes.indices.map { bytes[$0] })
        found.append(entry.key.bytes)
        return true
      }
    }
    let order = expected.keys.map { StoredKey.entry($0.span, in: .store) }.sorted {
      $0.lexicographicallyPrecedes($1)
    }
    #expect(found.map { StoredKey.entry($0.span, in: .store) } == order)
  }

  mutating func compare() throws {
    let statistics = try store.statistics()
    model.settle()
    try #require(try store.verify().faults == [])
    #expect(statistics.namespaces.map(\.info.name) == model.spaces.keys.sorted())
    for namespace in statistics.namespaces {
      let space = try #require(model.spaces[namespace.info.name])
      #expect(namespace.info.entries == space.entries.count)
      #expect(namespace.info.bytes == space.bytes)
      for reason in RemovalReason.allCases {
        #expect(namespace.removals[reason] == space.removals[reason, default: 0], "\(reason)")
      }
      for key in keys {
        let found = try store.namespace(namespace.info.name).entry(for: key)
        #expect(found.map { Model.Entry($0) } == space.entries[key].map { $0.withoutValue })
        #expect(found?.state == space.entries[key]?.state(at: model.now))
      }
    }
  }
}

extension Model.Entry {
  /// An entry of the model with the facts of a stored entry. The facts do not include the value, so zeros replace the value.
  init(_ facts: Store.Entry) {
    self.init(
      value: [UInt8](repeating: 0, count: facts.size), written: facts.written.milliseconds,
      expires: facts.expires?.milliseconds ?? .max,
      staleUntil: facts.staleUntil?.milliseconds ?? facts.expires?.milliseconds ?? .max,
      tags: facts.tags, entityTag: facts.entityTag, isPinned: facts.isPinned)
  }

  var withoutValue: Self { with(self) { $0.value = [UInt8](repeating: 0, count: value.count) } }
}
