#if HTTP
  import HTTPTypes
  public import Larder
  import LarderSystem

  /// Digests of secrets; the store holds digests instead of credentials.
  ///
  /// Code that stores responses by other means than an ``HTTPCache`` can use the digests to separate its users, too.
  public enum Secrets {
    /// Request fields that are credentials in every service.
    static let fields: Set<HTTPField.Name> = [.authorization, .proxyAuthorization, .cookie]

    /// The key of digests that belong to no store: random bytes of this process.
    static let processKey = (0..<16).map { _ in UInt8.random(in: .min ... .max) }

    /// 128 bits of SHA-256 of `text`, in hexadecimal, keyed with random bytes of the store.
    ///
    /// Equal texts have equal digests in all processes of the store, but other digests in other stores. Only a person who has
    /// the store can compare a guess with a digest. A text that cannot be guessed cannot be recovered.
    public static func digest(_ text: String, in store: Store) -> String {
      digest(text, key: store.secret)
    }

    /// A digest that only a holder of `key` can compute for a guessed text.
    static func digest(_ text: String, key: [UInt8]) -> String {
      digest(Array(text.utf8), key: key)
    }

    static func digest(_ bytes: [UInt8], key: [UInt8]) -> String {
      // Two nested hashes, each with `key`, prevent length extension.
      name(SHA256.hash(key + SHA256.hash(key + bytes)))
    }

    /// A digest without a key, for a text that is not secret.
    static func hash(_ text: String) -> String { name(SHA256.hash(Array(text.utf8))) }

    private static func name(_ hash: [UInt8]) -> String { hexadecimal(hash.prefix(16)) }

    private static let digits = Array("0123456789abcdef".utf8)

    static func hexadecimal(_ bytes: some Collection<UInt8>) -> String {
      var text: [UInt8] = []
      text.reserveCapacity(2 * bytes.count)
      for byte in bytes {
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
      }
      return String(decoding: text, as: UTF8.self)
    }
  }

  /// SHA-256 by FIPS 180-4, for digests of short texts and bodies. A dependency for this small use is not worthwhile.
  enum SHA256 {
    private static let constants: [UInt32] = [
      0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4,
      0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe,
      0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f,
      0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da, 0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
      0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc,
      0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
      0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070, 0x19a4_c116,
      0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
      0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7,
      0xc671_78f2,
    ]

    static func hash(_ message: [UInt8]) -> [UInt8] {
      var padded = message
      let zeros = (119 - message.count % 64) % 64
      padded.reserveCapacity(message.count + zeros + 9)
      padded.append(0x80)
      for _ in 0..<zeros { padded.append(0) }
      padded.append(bigEndian: UInt64(message.count) &* 8)

      var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
        0x5be0_cd19,
      ]
      var words = [UInt32](repeating: 0, count: 64)
      for start in stride(from: 0, to: padded.count, by: 64) {
        compress(&state, padded.span.extracting(start..<start + 64), &words)
      }
      var hash: [UInt8] = []
      hash.reserveCapacity(32)
      for word in state { hash.append(bigEndian: word) }
      return hash
    }

    /// - Parameter words: 64 words of any value; all blocks of a message use the same array.
    private static func compress(
      _ state: inout [UInt32], _ bytes: Span<UInt8>, _ words: inout [UInt32]
    ) {
      let constants = constants.span
      var words = words.mutableSpan
      for index in 0..<16 { words[index] = bytes.halfWord(at: 4 * index).byteSwapped }
      for index in 16..<64 {
        let early = words[index - 15]
        let late = words[index - 2]
        let first = rotated(early, 7) ^ rotated(early, 18) ^ early >> 3
        let second = rotated(late, 17) ^ rotated(late, 19) ^ late >> 10
        words[index] = words[index - 16] &+ first &+ words[index - 7] &+ second
      }
      var (a, b, c, d) = (state[0], state[1], state[2], state[3])
      var (e, f, g, h) = (state[4], state[5], state[6], state[7])
      for index in 0..<64 {
        let choice = e & f ^ ~e & g
        let majority = a & b ^ a & c ^ b & c
        let first =
          h &+ (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) &+ choice &+ constants[index]
          &+ words[index]
        let second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) &+ majority
        (e, f, g, h) = (d &+ first, e, f, g)
        (a, b, c, d) = (first &+ second, a, b, c)
      }
      state[0] &+= a
      state[1] &+= b
      state[2] &+= c
      state[3] &+= d
      state[4] &+= e
      state[5] &+= f
      state[6] &+= g
      state[7] &+= h
    }

    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
      word >> count | word << (32 &- count)
    }
  }
#endif
