package enum HexDump {
  /// Lines with the offset, the bytes in hexadecimal, and the printable characters. If `width` is nil, the lines fit 80 columns.
  package static func text(_ bytes: ArraySlice<UInt8>, width: Int?) -> String {
    let width = width ?? 80
    let perLine: Int = [16, 8, 4].first { 12 + 4 * $0 + ($0 + 7) / 8 <= width } ?? 2
    var result = ""
    for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: perLine) {
      let line = bytes[start...].prefix(perLine)
      result += Quoting.hex(UInt32(truncatingIfNeeded: start - bytes.startIndex)) + " "
      for column in 0..<perLine {
        if column % 8 == 0 { result += " " }
        result += column < line.count ? Quoting.hex(line[start + column]) + " " : "   "
      }
      let text = line.map { $0.isPrintable ? $0 : UInt8(ascii: ".") }
      result += " |" + String(decoding: text, as: UTF8.self) + "|\n"
    }
    return result
  }
}

package enum BinaryKind {
  /// A name such as `PNG image`; nil for an unknown kind.
  package static func name(of bytes: [UInt8]) -> String? {
    kinds.first { kind in
      let start = kind.start.unicodeScalars
      return start.count <= bytes.count
        && zip(start, bytes).allSatisfy { $0 == "?" || $0.value == UInt32($1) }
    }?.name
  }

  /// The first bytes of each kind, each as the scalar with the number of the byte. A question mark means any byte.
  private static let kinds: [(start: String, name: String)] = [
    ("RIFF????WEBP", "WebP image"), ("RIFF????WAVE", "WAV audio"), ("RIFF????AVI ", "AVI video"),
    ("RIFF????????", "RIFF data"), ("????ftypavif", "AVIF image"), ("????ftyp????", "MPEG-4 data"),
    ("\u{89}PNG\r\n\u{1A}\n", "PNG image"), ("\u{FF}\u{D8}\u{FF}", "JPEG image"),
    ("GIF87a", "GIF image"), ("GIF89a", "GIF image"), ("II*\0", "TIFF image"),
    ("MM\0*", "TIFF image"), ("%PDF-", "PDF document"), ("\u{1F}\u{8B}", "gzip data"),
    ("PK\u{3}\u{4}", "zip archive"), ("(\u{B5}/\u{FD}", "zstd data"), ("\u{FD}7zXZ\0", "xz data"),
    ("BZh", "bzip2 data"), ("bplist00", "binary property list"),
    ("SQLite format 3\0", "SQLite database"), ("ID3", "MP3 audio"), ("OggS", "Ogg data"),
    ("fLaC", "FLAC audio"), ("wOF2", "WOFF2 font"), ("\u{7F}ELF", "ELF program"),
  ]
}
