/// Kinds of ASCII characters. Bytes above 0x7F belong to no kind.
extension UInt8 {
  package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
  package var isLowercase: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
  package var isLetter: Bool { (self | 0x20).isLowercase }
}
