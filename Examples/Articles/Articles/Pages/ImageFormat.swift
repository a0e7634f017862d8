import Service

extension ImageFormat {
  init?(_ bytes: [UInt8]) {
    let isDrawing = { Self.root(of: bytes)?.name == "svg" }
    guard let format = Self(beginning: bytes) ?? (isDrawing() ? .svg : nil) else { return nil }
    self = format
  }

  /// The first element of a document: comments and a document type may come before it.
  private static func root(of bytes: [UInt8]) -> HTMLTokens.Tag? {
    let start = String(decoding: bytes.prefix(65_536), as: UTF8.self)
    for case .open(let tag) in HTMLTokens(start) { return tag }
    return nil
  }

  /// Where the first scan of a JPEG begins: the segments in front of it may hold a whole smaller picture.
  private static func firstScan(of bytes: [UInt8]) -> Int {
    var place = 2
    while place + 3 < bytes.count, bytes[place] == 0xFF {
      switch bytes[place + 1] {
      case 0xDA, 0xD9: return place
      case 0xFF: place += 1
      case 0x01, 0xD0...0xD8: place += 2
      default: place += 2 + Int(bytes[place + 2]) << 8 + Int(bytes[place + 3])
      }
    }
    return place
  }

  /// Whether the blocks of a GIF lead to the one that ends it. One with unknown blocks cannot be judged, and counts as whole.
  private static func gifEnds(_ bytes: [UInt8]) -> Bool {
    /// The bytes of a table of colors.
    func table(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 6 << Int(flags & 7) }
    guard bytes.count > 12 else { return false }
    var place = 13 + table(bytes[10])
    while place < bytes.count {
      switch bytes[place] {
      case 0x21: place += 2
      case 0x2C:
        guard place + 9 < bytes.count else { return false }
        place += 11 + table(bytes[place + 9])
      default: return true
      }
      // The data of a block: pieces behind their lengths, the last of which is 0.
      while place < bytes.count, bytes[place] > 0 { place += 1 + Int(bytes[place]) }
      place += 1
    }
    return false
  }

  /// Whether the end of an image is there, which any number of another program's bytes may follow.
  func ends(_ bytes: [UInt8]) -> Bool {
    let last = bytes.suffix(4096)
    // Nearly always it is among the last bytes.
    func has(_ end: [UInt8]) -> Bool { last.contains(end) || bytes.contains(end) }
    switch self {
    case .png: return has(Array("IEND".utf8))
    case .jpg:
      let image = bytes.dropFirst(Self.firstScan(of: bytes))
      return image.suffix(4096).contains([0xFF, 0xD9]) || image.contains([0xFF, 0xD9])
    case .gif: return Self.gifEnds(bytes)
    case .webp:
      return bytes.count >= 8
        && 8 + bytes[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) } <= bytes.count
    case .svg: return has(Array("</svg".utf8)) || Self.root(of: bytes)?.isEmpty == true
    case .avif, .heic, .bmp, .ico: return true
    }
  }
}
