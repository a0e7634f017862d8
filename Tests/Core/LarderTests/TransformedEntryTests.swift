import TestSupport
import Testing

@testable import Larder

/// A program without the transform, or with the wrong key, changes entries whose value and metadata are encrypted.
@Suite struct TransformedEntryTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path + "/store" }
  private static let value = Array("a secret value of more than twenty bytes".utf8)
  private static let metadata = Array("private metadata".utf8)
  private static let entityTag = Array("\"etag\"".utf8)

  private static func options(_ transforms: any ValueTransform...) -> Store.Options {
    with(Store.Options(clock: ManualClock(), durability: .scratch)) {
      $0.transforms = transforms
      $0.hooks.chunksAbove = 20
    }
  }

  private func write() throws {
    let store = try Store(at: path, options: Self.options(Veil(isRequired: true)))
    let attributes = EntryAttributes.with(
      codec: .text, expires: .after(.hours(1)), entityTag: Self.entityTag, metadata: Self.metadata)
    try store.namespace("notes").set(Self.value, for: "k", attributes)
    try store.namespace("notes").set("owner", for: "owner")
    try store.close()
  }

  /// Makes a store with an encrypted entry, runs `body` with another program's transforms, and expects an unchanged entry.
  private func withForeign(
    _ transforms: any ValueTransform..., body: (Store.Namespace) throws -> Void
  ) throws {
    try write()
    let store = try Store(at: path, options: with(Self.options()) { $0.transforms = transforms })
    try body(store.namespace("notes"))
    try store.verifyAndClose()
    try expectWhole(at: path)
  }

  private func expectWhole(at path: String, _ name: String = "notes") throws {
    let store = try Store(at: path, options: Self.options(Veil(isRequired: true)))
    let notes = store.namespace(name)
    let entry = try #require(try notes.entry(for: "k"))
    #expect(entry.metadata == Self.metadata && entry.entityTag == Self.entityTag)
    #expect(entry.transforms == [Veil().id])
    #expect(try notes.bytes("k") == Self.value)
    try store.close()
  }

  @Test(
    arguments: [
      { try $0.touch("k") }, { try $0.touch("k", expires: .afterAccess(.hours(2))) },
      { try $0.touch("k", expires: .after(.hours(9))) }, { try $0.touch("k", expires: .never) },
      { try $0.pin("k") && $0.unpin("k") },
      { notes in
        try notes.store.write {
          try $0.setOwners([Owner(Key("owner"), in: "notes")], of: "k", in: notes)
        }
      },
    ] as [@Sendable (Store.Namespace) throws -> Bool])
  func `changes of the lifetime, the pin and the owners keep what they cannot read`(
    change: @Sendable (Store.Namespace) throws -> Bool
  ) throws {
    try withForeign { notes in
      let isDone = try change(notes)
      #expect(isDone)
    }
  }

  @Test(
    arguments: [
      { _ = try $0.update("k") { $0 } }, { try $0.increment("k") },
      { try $0.setIfAbsent("other", for: "k") }, { _ = try $0.pop("k") },
      { notes in _ = try notes.store.write { try $0.setMetadata([1], of: "k", in: notes) } },
      { notes in _ = try notes.store.write { try $0.setMetadata(nil, of: "k", in: notes) } },
    ] as [@Sendable (Store.Namespace) throws -> Void])
  func `a change that needs what it cannot read is refused`(
    change: @Sendable (Store.Namespace) throws -> Void
  ) throws { try withForeign { notes in #expect(failure { try change(notes) } == .unreadable) } }

  @Test func `a wrong key does not replace the metadata of the right one`() throws {
    try withForeign(Veil(number: 8)) { notes in
      let error = #expect(throws: LarderError.self) {
        try notes.store.write { try $0.setMetadata([1], of: "k", in: notes) }
      }
      #expect(error?.code == .unreadable && error?.hint?.contains("keys") == true)
    }
  }

  @Test func `a namespace with another name, a compact file and a copy keep them`() throws {
    try write()
    let store = try Store(at: path, options: Self.options())
    try store.rename("notes", to: "other")
    _ = try store.copyCompacted(to: directory.path + "/copy")
    try store.close()
    _ = try Store.compact(at: path, options: Self.options())
    for path in [path, directory.path + "/copy"] { try expectWhole(at: path, "other") }
  }

  @Test func `a transform that throws leaves no namespace and no version behind`() throws {
    let refusal = PlainTransform(
      id: TransformID(rawValue: 201),
      applied: { bytes in
        if bytes.count > 1 { throw LarderError(.invalidArgument, "too long") }
        return nil
      })
    let store = try Store.temporary(options: Self.options(refusal))
    let (made, notes) = (store.namespace("made"), store.namespace("notes"))
    let short: [UInt8] = [1]
    try notes.set(short, for: "a")
    let version = try #require(try notes.entry(for: "a")).version
    let imported = with(EntryAttributes.with(owners: [Owner(Key("o"), in: "owners")])) {
      $0.awaitsOwners = true
    }
    try store.write { batch in
      let before = batch.session.mutations
      for attributes in [EntryAttributes(), imported] {
        #expect(throws: LarderError.self) {
          try batch.set(Self.value, for: "k", in: made, attributes)
        }
        #expect(throws: LarderError.self) {
          try batch.set(Self.value, for: "a", in: notes, attributes)
        }
      }
      #expect(batch.session.mutations == before)
      try batch.set(short, for: "a", in: notes)
    }
    #expect(try store.namespaces().map(\.name) == ["notes"])
    #expect(try notes.entry(for: "a")?.version == version + 1)
    #expect(try store.verify().faults == [])
  }

  /// Simulates an attacker who can write the file: adds metadata that is not encrypted to an encrypted value.
  @Test func `metadata that is not encrypted is not read where encryption is required`() throws {
    var store = try Store(at: path, options: Self.options(Veil()))
    var notes = store.namespace("notes")
    try notes.set(Self.value, for: "k", EntryAttributes(codec: .text))
    try store.write { batch in
      let entry = try #require(try batch.session.living(Array("k".utf8).span, in: "notes"))
      let fields = with(entry.fields) { $0[.metadata] = Self.metadata }
      _ = try batch.session.amend(entry) { $1 = fields }
    }
    #expect(try notes.entry(for: "k")?.metadata == Self.metadata)
    try store.close()

    store = try Store(at: path, options: Self.options(Veil(isRequired: true)))
    notes = store.namespace("notes")
    #expect(try notes.bytes("k") == Self.value)
    #expect(try notes.entry(for: "k")?.metadata == nil)
    let cached = try notes.withEntry(for: "k") { facts, _ in facts.metadata }
    #expect(cached == .some(nil))
    try store.close()
  }

  /// Simulates an attacker who can write the file: lets a plain value seem encrypted, but not at the place where reads look.
  @Test func `a write takes no plain value where encryption is required`() throws {
    var store = try Store(at: path, options: Self.options())
    try store.namespace("notes").set(Self.value, for: "k", .with(tags: ["tag"]))
    try store.write { batch in
      let entry = try #require(try batch.session.living(Array("k".utf8).span, in: "notes"))
      let fields = with(entry.fields) { $0[.transforms] = [Veil().id.rawValue, 1, 0, 0, 0, 0] }
      _ = try batch.session.amend(entry) { $1 = fields }
    }
    #expect(try store.namespace("notes").bytes("k") == Self.value)
    try store.close()

    store = try Store(at: path, options: Self.options(Veil(isRequired: true)))
    let notes = store.namespace("notes")
    #expect(try notes.bytes("k") == nil)
    #expect(try store.write { try $0.value(for: "k", in: notes) } == nil)
    try store.close()
  }

  @Test func `a compressed value keeps its mark when metadata changes uncompressed`() throws {
    let compressed = PlainTransform(
      id: .zstd, applied: { $0.reversed() }, reverted: { bytes, _ in bytes.reversed() })
    try Store.leave(String(decoding: Self.value, as: UTF8.self), at: path, Self.options(compressed))
    var store = try Store(at: path, options: Self.options())
    let notes = store.namespace("notes")
    #expect(try store.write { try $0.setMetadata([1], of: "k", in: notes) })
    #expect(try notes.entry(for: "k")?.metadata == [1])
    try store.close()
    store = try Store(at: path, options: Self.options(compressed))
    #expect(try store.namespace("notes").bytes("k") == Self.value)
    #expect(try store.namespace("notes").entry(for: "k")?.metadata == [1])
    try store.close()
  }
}
