import TestSupport
import Testing

@testable import Larder

@Suite struct WritingTests {
  @Test func `a value above the namespace's limit is refused with both sizes, one at it is not`()
    throws
  {
    try withNotes(Rules(largestValue: 1000)) { store, notes, _ in
      try notes.set([UInt8](repeating: 1, count: 1000), for: "k")
      let error = #expect(throws: LarderError.self) {
        try notes.set([UInt8](repeating: 1, count: 1001), for: "k")
      }
      #expect(error?.code == .overLimit)
      #expect(error?.message.contains("1001") == true && error?.message.contains("1000") == true)
      #expect(try notes.bytes("k")?.count == 1000)
      #expect(
        failure { try store.declare(Rules(largestValue: 0), for: "notes") } == .invalidArgument)
      let tooLarge = Rules(largestValue: 1 << 30 + 1)
      #expect(failure { try store.declare(tooLarge, for: "notes") } == .invalidArgument)
      try store.declare(Rules(largestValue: 1 << 30), for: "notes")
      #expect(
        failure { try store.override(.init(largestValue: 0), for: "notes") } == .invalidArgument)
    }
  }

  @Test func `the largest value is 64 MB unless a rule says otherwise`() throws {
    try withNotes { store, notes, _ in
      let value = [UInt8](repeating: 7, count: 64_000_001)
      #expect(failure { try notes.set(value, for: "k") } == .overLimit)
      #expect(try store.namespaces().isEmpty)
      try notes.set(Array(value.dropLast()), for: "k")
      #expect(try notes.withValue(for: "k") { bytes in bytes.count } == 64_000_000)
      try store.declare(Rules(largestValue: 100_000_000), for: "notes")
      try notes.set(value, for: "k")
      #expect(try notes.count() == 1)
    }
  }

  @Test(
    .enabled(
      if: TestSettings.number("LARDER_TEST_LARGE", default: 0) > 0, "takes 3 GB of memory and disk")
  )
  func `a rule lets a value have 1 GiB`() throws {
    try withNotes(Rules(largestValue: 1 << 30)) { _, notes, _ in
      try notes.set([UInt8](repeating: 7, count: 1 << 30), for: "k")
      #expect(try notes.withValue(for: "k") { bytes in bytes[bytes.count - 1] } == 7)
      #expect(
        failure { try notes.set([UInt8](repeating: 7, count: 1 << 30 + 1), for: "k") } == .overLimit
      )
      #expect(try notes.touch("k", expires: .after(.hours(1))))
      #expect(try notes.remove("k"))
    }
  }

  @Test func `a store for reading only refuses every change`() throws {
    try withTemporaryDirectory { path in
      let clock = ManualClock()
      var options = Store.Options(clock: clock)
      let writable = try Store(at: path + "/store", options: options)
      try writable.namespace("notes").set("a", for: "k", expires: .after(.seconds(1)))
      options.readOnly = true
      let store = try Store(at: path + "/store", options: options)
      let notes = store.namespace("notes")
      #expect(store.isReadOnly && !writable.isReadOnly)
      #expect(try notes.text("k") == "a")
      let changes: [() throws -> Void] = [
        { try notes.set("b", for: "k") }, { try notes.setIfAbsent("b", for: "n") },
        { try notes.remove("k") }, { try notes.touch("k") },
        { try notes.touch("k", expires: .never) },
        { try notes.clear() }, { try notes.purge() }, { try store.purge() }, { try store.clear() },
        { try store.rename("notes", to: "other") }, { try store.declare(Rules(), for: "notes") },
        { try store.override(Rules.Overrides(), for: "notes") }, { try store.write { _ in } },
        { try store.cache(of: Int.self, in: "notes").set(1, for: "k") },
      ]
      for change in changes { #expect(failure(change) == .readOnly) }
      clock.advance(by: .seconds(1))
      #expect(try notes.text("k") == nil)
      #expect(try notes.count() == 1)
      try writable.verifyAndClose()
    }
  }

  @Test(arguments: [false, true])
  func `a write that is refused for what it says has changed nothing`(isTransformed: Bool) throws {
    var options = Store.Options(clock: ManualClock())
    if isTransformed { options.transforms = [Veil()] }
    let store = try Store.temporary(options: options)
    let (notes, owners) = (store.namespace("notes"), store.namespace("owners"))
    let cache = store.cache(of: Int.self, in: "cache", rules: Rules(expires: .after(.hours(1))))
    let tagged = EntryAttributes.with(tags: ["good", ""])
    var imported = tagged
    imported.awaitsOwners = true
    imported.owners = [Owner(Key("o"), in: "owners")]
    var nameless = imported
    nameless.tags = []
    nameless.owners.append(Owner(Key("o"), in: ""))
    var keyless = nameless
    keyless.owners[1] = Owner(Key([]), in: "owners")
    let refused = [
      tagged, imported, nameless, keyless, .with(tags: [String(repeating: "t", count: 201)]),
      .with(tags: ["a\u{0}b"]),
    ]
    try store.write { batch in
      let before = batch.session.mutations
      for attributes in refused {
        #expect(
          failure { try batch.set([1], for: "k", in: notes, attributes) } == .invalidArgument)
        #expect(failure { try batch.set(1, for: "k", in: cache, attributes) } == .invalidArgument)
      }
      #expect(failure { try batch.set(1, for: "", in: cache) } == .invalidArgument)
      #expect(
        failure { try batch.declare(Rules(limits: Limits(entries: -1)), for: owners) }
          == .invalidArgument)
      #expect(batch.session.mutations == before)
    }
    #expect(failure { try store.invalidate(tag: "a\u{0}b") } == .invalidArgument)
    #expect(try store.namespaces().isEmpty)
    let longest = EntryAttributes.with(tags: [String(repeating: "t", count: 200)])
    try notes.set([1], for: String(repeating: "k", count: 1000), longest)
    #expect(try store.verify().faults == [])
  }
}
