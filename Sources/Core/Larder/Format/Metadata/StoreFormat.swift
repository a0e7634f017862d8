import LMDB
import LarderSystem

/// The record `F`, which marks the file as a Larder store, and has the format and the identity of the store.
struct StoreFormat {
  static let mark = Array("larder".utf8) + [0, 0]
  /// The format of a store without a write buffer.
  static let plain: UInt32 = 4
  /// The format of a store that has or had a write buffer. A version without this format would lose the buffer's records.
  static let buffered: UInt32 = 5

  var version: UInt32
  /// 16 random bytes with which the store seals its own records and marks its page cursors.
  var identity: [UInt8]

  static func new() -> StoreFormat {
    StoreFormat(version: plain, identity: (0..<16).map { _ in UInt8.random(in: .min ... .max) })
  }

  private var isReadable: Bool { (Self.plain...Self.buffered).contains(version) }

  var encoded: [UInt8] {
    let bytes = Self.mark + [UInt8](littleEndian: version) + identity
    return bytes + [UInt8](littleEndian: Checksum.of(bytes.span, seed: 4))
  }
}

extension StoreFormat {
  /// Whether a record comes from Larder. Mark and version have the same place in all formats, so Larder can name any format.
  private static func isMarked(_ record: Span<UInt8>) -> Bool {
    record.count >= 28 && record.starts(with: mark.span)
  }

  /// Nil if the record does not come from Larder, or has a wrong checksum in a format that this version reads.
  init?(_ record: Span<UInt8>) {
    guard Self.isMarked(record) else { return nil }
    version = record.halfWord(at: 8)
    identity = record.extracting(12..<28).copied
    if isReadable, !isIntact(record) { return nil }
  }

  /// The format of the store in an environment. Throws if this version cannot read the file; the error says what the file is.
  init(of environment: Environment) throws(LarderError) {
    let path = environment.path
    let record: [UInt8]
    do throws(LMDBError) {
      let transaction = try environment.beginRead()
      let key = MetadataKey.format
      record = try transaction.value(for: key.span, in: .main)?.copied ?? []
    } catch { throw LarderError(error, path: path) }
    guard Self.isMarked(record.span) else {
      throw LarderError(
        .foreign, "\(path) is not a Larder store",
        hint: "name a directory that holds one, or a new one")
    }
    guard let format = StoreFormat(record.span) else {
      throw LarderError(
        .damaged, "\(path): the record of the store's format is damaged",
        hint: "copy everything readable into a new store: larder STORE salvage NEW")
    }
    self = format
    try checkReadable(at: path)
  }

  /// Whether `record` has the length and the checksum of the records that this version writes.
  func isIntact(_ record: Span<UInt8>) -> Bool { record.elementsEqual(encoded.span) }

  /// Throws if this version of Larder does not read the format of the store at `path`.
  func checkReadable(at path: String) throws(LarderError) {
    if isReadable { return }
    let readable = "this version of Larder reads formats \(Self.plain) and \(Self.buffered)"
    let text = "\(path) has format \(version), \(readable)"
    guard version < Self.plain else {
      throw LarderError(
        .newerFormat, text, hint: "use the newer Larder that wrote it, or another directory")
    }
    throw LarderError(
      .cannotOpen, text,
      hint:
        "remove the directory, which a cache can do without, or open it with the Larder that wrote it"
    )
  }
}
