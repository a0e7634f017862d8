import LarderSystem
import Synchronization
import TestSupport
import Testing

@testable import Larder

@Suite struct TransformTests {
  private let directory = TemporaryDirectory()
  private let runs = PlainTransform(
    id: TransformID(rawValue: 201),
    applied: { bytes in bytes.count > 10 && Set(bytes).count == 1 ? [bytes[0]] : nil },
    reverted: { bytes, size in
      guard bytes.count == 1 else { throw LarderError(.damaged, "not a run") }
      return [UInt8](repeating: bytes[0], count: size)
    })

  private func options(_ transforms: [any ValueTransform], chunksAbove: Int? = nil) -> Store.Options
  {
    with(Store.Options(clock: ManualClock(), durability: .scratch)) {
      $0.transforms = transforms
      $0.hooks.chunksAbove = chunksAbove
    }
  }

  @Test(arguments: [nil, 20])
  func `each way to read returns what was written, the file lacks it`(chunksAbove: Int?) throws {
    let store = try Store.temporary(options: options([runs, Veil()], chunksAbove: chunksAbove))
    let notes = store.namespace("notes")
    let long = String(repeating: "k", count: 400)
    let attributes = EntryAttributes.with(
      codec: .text, expires: .afterAccess(.hours(1)), tags: ["tag"],
      entityTag: Array("\"etag\"".utf8), metadata: Array("private metadata".utf8))
    let texts = [
      "a": "a secret text of more than twenty bytes", "b": String(repeating: "x", count: 90),
    ]
    for (key, text) in texts {
      for key in [key, long + key] { try notes.set(Array(text.utf8), for: key, attributes) }
    }
    for (short, text) in texts {
      for key in [short, long + short] {
        let bytes = Array(text.utf8)
        #expect(try notes.text(key) == text)
        #expect(try store.cache(TextCodec(), in: "notes", memory: .off).value(for: key) == text)
        #expect(try store.read { try $0.value(for: key, in: notes) } == bytes)
        #expect(try store.write { try $0.value(for: key, in: notes) } == bytes)
        let entry = try #require(try notes.entry(for: key))
        #expect(entry.size == bytes.count && entry.metadata == attributes.metadata)
        #expect(entry.entityTag == attributes.entityTag && entry.tags == ["tag"])
        #expect(
          entry.transforms.last == Veil().id && entry.transforms.count == (short == "b" ? 2 : 1))
        #expect(try notes.withEntry(for: key) { $1.copied } == bytes)
        for range in [0..<5, 5..<30, 30..<bytes.count] {
          let isFirst = range.lowerBound == 0
          let piece = try notes.piece(of: key, range, as: isFirst ? .first : .next) { _ in true }
          #expect(piece == Array(bytes[range]))
        }
        #expect(store.engine.reader.piecewise.withLock { $0 == nil })
        let record = try String(decoding: notes.record(key), as: UTF8.self)
        for word in ["secret", "metadata", "etag"] { #expect(!record.contains(word)) }
      }
    }
    var seen: [String: String] = [:]
    try notes.scanValues { key, value in
      seen[String(decoding: key.copied, as: UTF8.self)] = String(
        decoding: value.copied, as: UTF8.self)
      return true
    }
    try notes.scan { entry, value in
      #expect(seen[entry.key.description] == String(decoding: value.copied, as: UTF8.self))
      return true
    }
    #expect(seen.count == 4 && seen["a"] == texts["a"] && seen[long + "b"] == texts["b"])

    // A rewrite of the entry keeps the transformed value, and also transforms new metadata.
    try notes.pin("a")
    try notes.touch("a")
    _ = try store.write { try $0.setMetadata(Array("other secret".utf8), of: "a", in: notes) }
    #expect(try notes.entry(for: "a")?.metadata == Array("other secret".utf8))
    #expect(try notes.entry(for: "a")?.entityTag == attributes.entityTag)
    #expect(try !String(decoding: notes.record("a"), as: UTF8.self).contains("secret"))
    #expect(try notes.text("a") == texts["a"])
    #expect(try store.verify().faults == [])
  }

  @Test func `limits and sums of removals count the stored bytes`() throws {
    let longer = PlainTransform(
      id: TransformID(rawValue: 202), applied: { $0 + [0] },
      reverted: { bytes, _ in Array(bytes.dropLast()) })
    let store = try Store.temporary(options: options([runs, longer]))
    let notes = store.namespace("notes")
    try store.declare(Rules(limits: Limits(bytes: 10)), for: "notes")
    try notes.set("a", for: "a")
    try store.write { batch in
      // The value has 11 bytes after the transforms, so no eviction could make enough room, and none may happen.
      let error = thrown { try batch.set("0123456789", for: "b", in: notes) }
      #expect(error?.code == .overLimit && error?.message.contains("11 bytes") == true)
    }
    try notes.set(String(repeating: "x", count: 1000), for: "ab")
    #expect(try notes.text("a") == "a" && notes.info()?.bytes == 4)
    #expect(try notes.remove(prefix: "a") == RemovalResult(entries: 2, bytes: 4))
    #expect(try store.verify().faults == [])
  }

  @Test func `loads store and revalidate as without transforms`() async throws {
    let store = try Store.temporary(options: options([runs, Veil()]))
    let attributes = EntryAttributes.with(entityTag: Array("\"etag\"".utf8))
    let cache = store.cache(TextCodec(), in: "loaded", memory: .off)
    let load = LoadOptions(expires: .after(.hours(1)), waitsForCommit: true)
    #expect(try await cache.value(for: "k", options: load) { "loaded" } == "loaded")
    #expect(try await cache.result(for: "k", options: load) { "again" }.source == .disk)
    let known = Mutex<CachedValue<String>?>(nil)
    try await cache.set("kept", for: "v", attributes)
    _ = try await cache.result(for: "v", options: with(load) { $0.policy = .revalidate }) { value in
      known.withLock { $0 = value }
      return .unchanged
    }
    #expect(known.withLock { $0?.value } == "kept")
    #expect(known.withLock { $0?.validators.entityTag } == attributes.entityTag)
    #expect(try store.verify().faults == [])
  }

  @Test func `a store without the transform says what is missing, and keeps the entry`() throws {
    let path = directory.path + "/store"
    var store = try Store(at: path, options: options([Veil()]))
    try store.namespace("notes").set(Array("secret".utf8), for: "k", .with(metadata: [1, 2, 3]))
    #expect(failure { _ = try Store(at: path, options: options([])) } == .invalidArgument)
    try store.close()

    store = try Store(at: path, options: options([]))
    let notes = store.namespace("notes")
    let cache = store.cache(TextCodec(), in: "notes")
    for read in [
      { _ = try notes.bytes("k") }, { _ = try cache.value(for: "k") },
      { try notes.scan { _, _ in true } }, { try notes.scanValues { _, _ in true } },
      { _ = try store.write { try $0.value(for: "k", in: notes) } },
    ] as [() throws -> Void] { #expect(failure(read) == .unreadable) }
    #expect(try notes.entry(for: "k")?.transforms == [TransformID(rawValue: 200)])
    #expect(try notes.entry(for: "k")?.metadata == nil && notes.contains("k"))
    #expect(try notes.entry(for: "k")?.size == 6)
    // Methods that do not read the value succeed without the transform.
    #expect(try notes.touch("k") && notes.pin("k") && notes.keys() == [Key("k")])
    try notes.set("plain", for: "other")
    try store.verifyAndClose()

    store = try Store(at: path, options: options([Veil()]))
    #expect(try store.namespace("notes").text("k") == "secret")
    #expect(try store.namespace("notes").entry(for: "k")?.metadata == [1, 2, 3])
    #expect(try store.namespace("notes").text("other") == "plain")
    try store.close()
    store = try Store(at: path, options: options([Veil(isRequired: true)]))
    let required = store.namespace("notes")
    #expect(try required.text("k") == "secret" && required.text("other") == nil)
    #expect(try store.write { try $0.value(for: "other", in: required) } == nil)
    var keys = 0
    try required.scanValues { _, _ in
      keys += 1
      return true
    }
    #expect(keys == 1)
    #expect(try required.remove(prefix: "o").entries == 1)
    #expect(try required.entry(for: "other") == nil && required.count() == 1)
    try required.set("now", for: "other")
    #expect(try required.text("other") == "now")
    try store.verifyAndClose()
  }

  @Test func `a load replaces an entry that the store does not accept`() async throws {
    try Store.leave("plain", at: directory.path + "/s", options([]))
    let store = try Store(at: directory.path + "/s", options: options([Veil(isRequired: true)]))
    let cache = store.cache(TextCodec(), in: "notes", memory: .off)
    #expect(try await cache.value(for: "k", options: .committed) { "loaded" } == "loaded")
    #expect(try cache.value(for: "k") == "loaded")
    try store.verifyAndClose()
  }

  @Test func `no piece of an expired entry is read that the store does not accept`() throws {
    let (path, clock) = (directory.path + "/s", ManualClock())
    try Store.leave("plain", at: path, options([]), expires: .after(.seconds(1)))
    clock.advance(by: .seconds(2))
    let store = try Store(
      at: path, options: with(options([Veil(isRequired: true)])) { $0.clock = clock })
    #expect(try store.namespace("notes").piece(of: "k", 0..<5, as: .next) { _ in true } == nil)
  }

  /// Simulates an attacker who can write the file, and who also corrects the checksums of the changed records.
  @Test func `values that were swapped, moved or changed are missed`() throws {
    let store = try Store.temporary(options: options([Veil(isRequired: true)]))
    let (notes, others) = (store.namespace("notes"), store.namespace("others"))
    try notes.set("first", for: "a")
    try notes.set("other", for: "b")
    try others.set("third", for: "a")
    func write(_ record: [UInt8], to slot: [UInt8], key: String) throws {
      var record = record
      let hash = Checksum.keyHash(of: Array(key.utf8).span, in: slot.span.namespaceID)
      let checksum = EntryHeader.checksum(of: record.span, keyHash: hash)
      for byte in 0..<8 { record[byte] = UInt8(truncatingIfNeeded: checksum >> UInt64(8 * byte)) }
      try store.plant(record, for: slot, in: .entries)
    }
    let record = try notes.record("a")
    try write(record, to: notes.slot("a"), key: "a")
    #expect(try notes.text("a") == "first")
    try write(record, to: notes.slot("b"), key: "b")
    #expect(try notes.text("b") == nil)
    try write(record, to: others.slot("a"), key: "a")
    #expect(try others.text("a") == nil)
    let header = try notes.header("a")
    for index in EntryHeader.checksumSize..<record.count where index != 10 {
      try write(with(record) { $0[index] ^= 1 }, to: notes.slot("a"), key: "a")
      // A read must find each change of the fields or the payload, and must never trap. A changed time may stay unnoticed.
      let found = Result { try notes.text("a") }
      if header.fieldsRange.contains(index) || index >= header.payloadStart {
        #expect((try? found.get()) == nil, "byte \(index)")
      }
    }
  }

  @Test func `steps are read only if they are whole`() {
    var steps = TransformSteps()
    steps.all.append(.init(id: .zstd, size: 70_000, parameters: [1, 2, 3, 4]))
    steps.all.append(.init(id: .aesGCM, size: 900, parameters: [UInt8](repeating: 9, count: 40)))
    let bytes = steps.encoded()
    #expect(TransformSteps(bytes.span) == steps)
    for count in 0..<bytes.count where count != 10 {
      #expect(TransformSteps(Array(bytes.prefix(count)).span) == nil, "\(count) bytes")
    }
    var random = SeededRNG(seed: TestSettings.seed)
    for _ in 0..<2_000 {
      let noise = random.bytes(random.next(in: 0..<41))
      if let found = TransformSteps(noise.span) { #expect(found.encoded() == noise) }
    }
  }
}

/// A transform that stores no parameters with the value. Each test chooses the functions `applied` and `reverted`.
struct PlainTransform: ValueTransform {
  let id: TransformID
  var applied: @Sendable ([UInt8]) throws -> [UInt8]? = { $0 }
  var reverted: @Sendable (_ bytes: [UInt8], _ size: Int) throws -> [UInt8] = { bytes, _ in bytes }

  func apply(
    _ bytes: Span<UInt8>, for context: TransformContext
  ) throws -> (bytes: [UInt8], parameters: [UInt8])? {
    try applied(bytes.copied).map { (bytes: $0, parameters: []) }
  }

  func revert(
    _ bytes: Span<UInt8>, _ parameters: Span<UInt8>, size: Int, for context: TransformContext
  ) throws -> [UInt8] { try reverted(bytes.copied, size) }
}

/// Simulates encryption, only for tests. The parameters are a checksum of the bytes and of the place of the entry.
struct Veil: ValueTransform {
  var id = TransformID(rawValue: 200)
  var number: UInt8 = 7
  var isRequired = false
  var coversMetadata: Bool { true }

  private func mark(_ bytes: [UInt8], _ context: TransformContext) -> [UInt8] {
    var all =
      bytes + context.store + context.key + context.previous + [context.part == .value ? 0 : 1]
    all.append(word: context.version)
    all.append(word: UInt64(context.namespace))
    return [UInt8](littleEndian: Checksum.of(all.span, seed: 99))
  }

  func apply(_ bytes: Span<UInt8>, for context: TransformContext) -> (
    bytes: [UInt8], parameters: [UInt8]
  )? {
    let plain = bytes.copied
    return (plain.map { $0 ^ number }, mark(plain, context))
  }

  func revert(
    _ bytes: Span<UInt8>, _ parameters: Span<UInt8>, size: Int, for context: TransformContext
  ) throws -> [UInt8] {
    let plain = bytes.copied.map { $0 ^ number }
    guard mark(plain, context) == parameters.copied else { throw LarderError(.damaged, "changed") }
    return plain
  }
}
