import LarderSystem

/// Changes the bytes of values before they are stored, and reverts the change at reads: compression or encryption.
///
/// A store gets its transforms from ``Store/Options/transforms``. Each write applies the transforms in that order. Each entry
/// names the transforms that changed its value. A value that no transform changed is read unchanged.
///
/// A transform runs inside the write, and at each read that needs the stored bytes.
public protocol ValueTransform: Sendable {
  /// The number that names the transform in entries.
  var id: TransformID { get }
  /// Whether the transform also changes the metadata, entity tag and modification time of an entry.
  var coversMetadata: Bool { get }
  /// Whether reads ignore entries that this transform has not changed, except negative entries.
  var isRequired: Bool { get }
  /// Changes bytes. Returns the new bytes and the parameters for ``revert(_:_:size:for:)``; nil leaves the bytes unchanged.
  func apply(
    _ bytes: Span<UInt8>, for context: TransformContext
  ) throws -> (bytes: [UInt8], parameters: [UInt8])?
  /// Returns the bytes that ``apply(_:for:)`` got.
  ///
  /// The bytes and the parameters come from a file, so both may be damaged. A ``LarderError`` with the code
  /// ``LarderError/Code/unreadable`` is thrown to the reader. After any other error the entry counts as damaged.
  ///
  /// - Parameter size: the number of bytes that the result must have, at most 1 GiB plus 1 MiB. The caller checks the result.
  func revert(
    _ bytes: Span<UInt8>, _ parameters: Span<UInt8>, size: Int, for context: TransformContext
  ) throws -> [UInt8]
}

extension ValueTransform {
  /// The default: false.
  public var coversMetadata: Bool { false }
  /// The default: false.
  public var isRequired: Bool { false }
}

/// The number of a transform in an entry. 0 to 127 belong to Larder. Applications can use 128 to 255.
public struct TransformID: RawRepresentable, Hashable, Sendable {
  /// The number in the entry.
  public let rawValue: UInt8

  /// The transform with the number `rawValue`.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Compression with Zstandard (RFC 8878).
  public static let zstd = TransformID(rawValue: 1)
  /// Encryption with AES-GCM (NIST SP 800-38D).
  public static let aesGCM = TransformID(rawValue: 2)

  private static let known: [TransformID: (name: String, remedy: String)] = [
    .zstd: (
      "compressed (zstd)",
      "build with the trait Compression, and open the store with ZstdCompression in its transforms"
    ),
    .aesGCM: (
      "encrypted (AES-GCM)",
      "build with the trait Encryption, and open the store with AESEncryption and its keys in its transforms"
    ),
  ]

  /// `compressed (zstd)`, `encrypted (AES-GCM)`, or `transform` and the number.
  public var name: String { Self.known[self]?.name ?? "transform \(rawValue)" }

  var remedy: String {
    Self.known[self]?.remedy ?? "open the store with the transform of that number"
  }
}

/// The entry whose bytes a transform changes.
public struct TransformContext: Sendable {
  /// A part of an entry.
  public enum Part: Sendable {
    /// The value.
    case value
    /// Metadata, entity tag and modification time.
    case metadata
  }

  /// 16 random bytes of the store; no other store has the same bytes.
  public let store: [UInt8]
  /// The number of the namespace in the store. A rename keeps this number. A clear gives the namespace another number.
  public let namespace: UInt32
  /// The entry's key.
  public let key: [UInt8]
  /// The version of the value; see ``Store/Entry/version``.
  public let version: UInt64
  /// The part of the entry to which the bytes belong.
  public private(set) var part: Part
  /// The transforms that changed the bytes before this transform, with their parameters.
  package internal(set) var previous: [UInt8] = []
  private let reader: EntryReader

  init(_ key: [UInt8], in id: NamespaceID, version: UInt64, reader: EntryReader) {
    store = reader.identity
    namespace = id.rawValue
    self.key = key
    self.version = version
    part = .value
    self.reader = reader
  }

  func of(_ part: Part) -> TransformContext {
    var context = self
    context.part = part
    return context
  }

  /// The namespace in which transforms store their own data, such as dictionaries.
  package static let storage = "larder.transforms"

  /// A value that a transform has stored for itself; nil if the store has no such value.
  package func stored(_ key: String) throws -> [UInt8]? {
    try key.withKeyBytes { key in
      let transaction = try reader.beginRead()
      let found = try reader.lookUp(key, of: reader.transformStorage, in: transaction)
      guard found.outcome == .fresh else { return nil }
      return try reader.withValue(of: found, key: key, in: transaction) { $0.copied }
    }
  }

  package func isOfTransforms() throws -> Bool {
    try reader.identify(reader.transformStorage, in: reader.beginRead()).rawValue == namespace
  }
}
