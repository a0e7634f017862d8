import LarderSystem

/// Seals the store's own records. A record begins with a checksum over the store's identity, the record's key and its bytes. So
/// a damaged record, a record under another key, and a record from another store cannot be opened.
struct RecordSeal: Sendable {
  static let size = 8

  private let salt: UInt64

  init(identity: [UInt8]) { salt = Checksum.of(identity.span, seed: 5) }

  func seed(for key: Span<UInt8>) -> UInt64 { Checksum.of(key, seed: salt) }

  /// Appends a record in its stored form, sealed for the key of `seed`. `fill` appends the content.
  func write(
    to record: inout OutputSpan<UInt8>, seed: UInt64, _ fill: (inout OutputSpan<UInt8>) -> Void
  ) {
    record.append(word: 0)
    fill(&record)
    let checksum = Checksum.of(record.span.extracting(Self.size..<record.count), seed: seed)
    record.replaceWord(at: 0, with: checksum)
  }

  func seal(_ content: [UInt8], for key: [UInt8]) -> [UInt8] {
    [UInt8](littleEndian: Checksum.of(content.span, seed: seed(for: key.span))) + content
  }

  /// The content of a record. Nil if the record is damaged, or was not sealed for the key of `seed`.
  @_lifetime(copy record)
  func open(_ record: Span<UInt8>, seed: UInt64) -> Span<UInt8>? {
    guard record.count >= Self.size else { return nil }
    let content = record.extracting(Self.size..<record.count)
    return record.word(at: 0) == Checksum.of(content, seed: seed) ? content : nil
  }

  @_lifetime(copy record)
  func open(_ record: Span<UInt8>, for key: [UInt8]) -> Span<UInt8>? {
    open(record, seed: seed(for: key.span))
  }
}
