/// The formats that browsers show, told by an image's first bytes; the type that a server says may be wrong.
public enum ImageFormat: String, Sendable {
  case png, jpg, gif, webp, avif, heic, bmp, ico
  /// Text, which has no first bytes of its own.
  case svg

  private static let beginnings: [(format: ImageFormat, place: Int, bytes: [UInt8])] = [
    (.png, 0, [0x89] + Array("PNG".utf8)), (.jpg, 0, [0xFF, 0xD8, 0xFF]),
    (.gif, 0, Array("GIF8".utf8)), (.webp, 8, Array("WEBP".utf8)),
    (.avif, 4, Array("ftypavi".utf8)), (.heic, 4, Array("ftyphei".utf8)),
    // HEIC or AVIF; browsers look into it.
    (.heic, 4, Array("ftypmif1".utf8)), (.bmp, 0, Array("BM".utf8)), (.ico, 0, [0, 0, 1, 0]),
  ]

  /// The format of these first bytes, but for ``svg``.
  public init?(beginning bytes: [UInt8]) {
    let known = Self.beginnings.first { bytes.dropFirst($0.place).starts(with: $0.bytes) }
    guard let known else { return nil }
    self = known.format
  }
}
