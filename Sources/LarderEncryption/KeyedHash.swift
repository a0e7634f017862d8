#if Encryption
  public import Crypto
  public import Larder
  import LarderSystem

  /// Hides keys: replaces each by 32 bytes of HMAC with SHA-256 (RFC 2104). Only holders of the secret can compute or
  /// verify them.
  ///
  ///     let hidden = KeyedHash(secret: secret)
  ///     try sessions.set(session, for: hidden(email))
  ///
  /// Listings show the hashes and are in their order; prefixes of keys are lost.
  public struct KeyedHash: Sendable {
    private let secret: SymmetricKey

    /// - Parameter secret: the same wherever the keys are used; another one finds nothing.
    public init(secret: SymmetricKey) { self.secret = secret }

    /// The key to use in place of `key`.
    public func callAsFunction(_ key: some StoreKey) -> Key {
      key.withKeyBytes { bytes in
        var hash = HMAC<SHA256>(key: secret)
        hash.update(data: bytes.copied)
        return Key(Array(hash.finalize()))
      }
    }
  }
#endif
