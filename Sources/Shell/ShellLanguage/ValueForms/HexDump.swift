package enum HexDump {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Lines with the offset, the bytes in hexadecimal, and the printable characters. If `width` is nil, the lines fit 80 columns.
  package static func text(_ bytes: ArraySlice<UInt8>, width: Int?) -> String {
    let width = width ?? 80
    let perLine: Int = [16, 8, 4].first { 12 + 4 * $0 + ($0 + 7) / 8 <= width } ?? 2
    var result: [UInt8] = []
    for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: perLine) {
      for shift in stride(from: 28, through: 0, by: -4) {
        result.append(digits[(start - bytes.startIndex) >> shift & 0xF])
      }
      result.append(.space)
      let line = bytes[start...].prefix(perLine)
      for column in 0..<perLine {
        if column % 8 == 0 { result.append(.space) }
        let byte = column < line.count ? Int(line[start + column]) : nil
        result +=
          byte.map { [digits[$0 >> 4], digits[$0 & 0xF], .space] } ?? [.space, .space, .space]
      }
      result += [.space, UInt8(ascii: "|")]
      result += line.map { $0.isPrintable ? $0 : UInt8(ascii: ".") }
      result += [UInt8(ascii: "|"), .newline]
    }
    return String(decoding: result, as: UTF8.self)
  }
}

package enum BinaryKind {
  /// A name such as `PNG image`; nil for an unknown kind.
  package static func name(of bytes: [UInt8]) -> String? {
    if bytes.starts(with: Array("RIFF".utf8)), bytes.count >= 12 {
      switch String(decoding: bytes[8..<12], as: UTF8.self) {
      case "WEBP": return "WebP image"
      case "WAVE": return "WAV audio"
      case "AVI ": return "AVI video"
      default: return "RIFF data"
      }
    }
    if bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) {
      return bytes[8..<12].elementsEqual("avif".utf8) ? "AVIF image" : "MPEG-4 data"
    }
    return kinds.first { bytes.starts(with: $0.start) }?.name
  }

  private static let kinds: [(start: [UInt8], name: String)] = [
    ([0x89] + Array("PNG\r\n".utf8) + [0x1A, 0x0A], "PNG image"),
    ([0xFF, 0xD8, 0xFF], "JPEG image"),
    (Array("GIF87a".utf8), "GIF image"),
    (Array("GIF89a".utf8), "GIF image"),
    ([0x49, 0x49, 0x2A, 0x00], "TIFF image"),
    ([0x4D, 0x4D, 0x00, 0x2A], "TIFF image"),
    (Array("%PDF-".utf8), "PDF document"),
    ([0x1F, 0x8B], "gzip data"),
    ([0x50, 0x4B, 0x03, 0x04], "zip archive"),
    ([0x28, 0xB5, 0x2F, 0xFD], "zstd data"),
    ([0xFD] + Array("7zXZ".utf8) + [0x00], "xz data"),
    (Array("BZh".utf8), "bzip2 data"),
    (Array("bplist00".utf8), "binary property list"),
    (Array("SQLite format 3".utf8) + [0], "SQLite database"),
    (Array("ID3".utf8), "MP3 audio"),
    (Array("OggS".utf8), "Ogg data"),
    (Array("fLaC".utf8), "FLAC audio"),
    (Array("wOF2".utf8), "WOFF2 font"),
    (Array("\u{7F}ELF".utf8), "ELF program"),
  ]
}
