/// Bytes as offset, hexadecimal and printable characters.
struct HexDump {
  private let bytes: ArraySlice<UInt8>
  private let perLine: Int

  /// - Parameter width: The columns there are; nil is as many as are needed.
  init(_ bytes: ArraySlice<UInt8>, width: Int?) {
    self.bytes = bytes
    perLine = (width ?? 80) < 78 ? 8 : 16
  }

  var text: String {
    var result: [UInt8] = []
    for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: perLine) {
      append(bytes[start..<min(start + perLine, bytes.endIndex)], to: &result)
    }
    return String(decoding: result, as: UTF8.self)
  }

  private func append(_ line: ArraySlice<UInt8>, to result: inout [UInt8]) {
    for shift in stride(from: 28, through: 0, by: -4) {
      result.append(Self.digit((line.startIndex - bytes.startIndex) >> shift))
    }
    result.append(.space)
    for column in 0..<perLine {
      if column % 8 == 0 { result.append(.space) }
      let index = line.startIndex + column
      if index < line.endIndex {
        result += [Self.digit(Int(line[index]) >> 4), Self.digit(Int(line[index])), .space]
      } else {
        result += [.space, .space, .space]
      }
    }
    result += [.space, UInt8(ascii: "|")]
    result += line.map { $0.isPrintable ? $0 : UInt8(ascii: ".") }
    result += [UInt8(ascii: "|"), .newline]
  }

  private static func digit(_ value: Int) -> UInt8 {
    let value = UInt8(value & 0xF)
    return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}
