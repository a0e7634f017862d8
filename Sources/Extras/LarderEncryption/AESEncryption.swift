#if Encryption
  public import Crypto
  public import Larder
  import LarderSystem

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  /// Encrypts values and their metadata with AES-GCM (NIST SP 800-38D).
  ///
  ///     var options = Store.Options()
  ///     options.transforms = [
  ///       try AESEncryption(currentKey: "2026-11") { id in try keychain.key(named: id) }
  ///     ]
  ///     let store = try Store(at: path, options: options)
  ///
  /// Each value has a random nonce of its own. The store, the namespace, the key and the version of the entry are
  /// authenticated. If the bytes of an entry were changed, or come from another entry, the entry counts as damaged, and a read
  /// is a miss. Nothing detects that a whole entry was replaced by an earlier state of the entry.
  ///
  /// Keys (see ``KeyedHash``), names of namespaces, tags, owners, times and sizes are not encrypted. Put this transform after
  /// compression: encrypted bytes cannot be compressed.
  public struct AESEncryption: ValueTransform {
    /// Whether a read of an entry that is not encrypted is a miss.
    public let isRequired: Bool
    private let currentKey: String
    private let key: @Sendable (String) throws -> SymmetricKey?

    /// Throws ``/Larder/LarderError/Code/invalidArgument`` for an invalid name of an encryption key.
    ///
    /// - Parameters:
    ///   - currentKey: the name of the key that encrypts; 1 to 100 bytes. To rotate keys, name a new key, and let `key` return
    ///     the earlier key while entries may need it. Encrypt at most 2^32 values with one key.
    ///   - isRequired: whether a read of an entry that is not encrypted is a miss, so that an attacker cannot add plain
    ///     entries. Pass false while a store still has entries that are not encrypted.
    ///   - key: returns the key with a name, of 128, 192 or 256 bits; nil for a retired key, whose entries then count as
    ///     damaged. Each write, and each read that memory does not answer, calls `key`. Errors of `key` become `unreadable`. The
    ///     name in a read comes from the entry, and a forged entry can have any name: do not make a path from the name.
    public init(
      currentKey: String, isRequired: Bool = true,
      key: @escaping @Sendable (String) throws -> SymmetricKey?
    ) throws(LarderError) {
      guard (1...100).contains(currentKey.utf8.count) else {
        throw LarderError(
          .invalidArgument, "\"\(currentKey)\" cannot name a key", hint: "use 1 to 100 bytes")
      }
      self.currentKey = currentKey
      self.isRequired = isRequired
      self.key = key
    }

    /// ``/Larder/TransformID/aesGCM``.
    public var id: TransformID { .aesGCM }
    /// True, because metadata is encrypted, too.
    public var coversMetadata: Bool { true }

    private static let nonceSize = 12
    private static let tagSize = 16

    /// The encrypted bytes, followed by the authentication tag.
    public func apply(
      _ bytes: Span<UInt8>, for context: TransformContext
    ) throws -> (bytes: [UInt8], parameters: [UInt8])? {
      guard let secret = try symmetricKey(currentKey) else {
        throw LarderError(
          .unencodable, "there is no key named \(currentKey) to encrypt with",
          hint: "let the closure of AESEncryption return it")
      }
      let plain = bytes.copied
      let box = try AES.GCM.seal(
        plain, using: secret, authenticating: Self.authenticated(context, currentKey))
      return (Array(box.ciphertext) + Array(box.tag), Array(box.nonce) + Array(currentKey.utf8))
    }

    /// The decrypted bytes; throws for bytes that were not encrypted for this entry.
    public func revert(
      _ bytes: Span<UInt8>, _ parameters: Span<UInt8>, size: Int, for context: TransformContext
    ) throws -> [UInt8] {
      let parameters = parameters.copied
      let bytes = bytes.copied
      guard parameters.count > Self.nonceSize, bytes.count == size + Self.tagSize,
        let name = String(validating: parameters[Self.nonceSize...], as: UTF8.self),
        let secret = try symmetricKey(name)
      else { throw CryptoKitError.authenticationFailure }
      let box = try AES.GCM.SealedBox(
        nonce: AES.GCM.Nonce(data: parameters[..<Self.nonceSize]), ciphertext: bytes[..<size],
        tag: bytes[size...])
      return Array(
        try AES.GCM.open(box, using: secret, authenticating: Self.authenticated(context, name)))
    }

    /// The key of a name. An error of the closure reaches the caller and does not count as damage.
    private func symmetricKey(_ name: String) throws(LarderError) -> SymmetricKey? {
      do {
        return try key(name)
      } catch { throw LarderError(.unreadable, "the key named \(name) cannot be had: \(error)") }
    }

    private static func authenticated(_ context: TransformContext, _ name: String) -> [UInt8] {
      var bytes = Array("larder 1".utf8) + context.store + [context.part == .value ? 0 : 1]
      func add(_ number: some BinaryInteger) { bytes.append(littleEndian: UInt64(number)) }
      add(context.namespace)
      add(context.version)
      for part in [context.key, context.previous, Array(name.utf8)] {
        add(part.count)
        bytes += part
      }
      return bytes
    }
  }

  /// Hides keys: replaces each key by 32 bytes of HMAC with SHA-256 (RFC 2104), which only holders of the secret can compute.
  ///
  ///     let hidden = KeyedHash(secret: secret)
  ///     try sessions.set(session, for: hidden(email))
  ///
  /// Listings show the hashes, in the order of the hashes. Keys with one prefix get hashes without a common prefix.
  public struct KeyedHash: Sendable {
    private let secret: SymmetricKey

    /// - Parameter secret: use the same secret for all keys of a cache. A hash with another secret finds no entry.
    public init(secret: SymmetricKey) { self.secret = secret }

    /// The key to use in place of `key`.
    public func callAsFunction(_ key: some StoreKey) -> Key {
      Key(Array(HMAC<SHA256>.authenticationCode(for: Key(key).bytes, using: secret)))
    }
  }
#else
  @available(
    *, unavailable,
    message: "LarderEncryption needs the trait Encryption: .package(..., traits: [\"Encryption\"])"
  )
  public struct AESEncryption {}
#endif
