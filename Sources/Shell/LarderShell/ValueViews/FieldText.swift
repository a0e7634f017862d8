import LarderSystem
import ShellLanguage

/// A field of a JSON value with its stored text: the digits, the spaces and the order of fields are kept.
struct FieldText {
  let json: [UInt8]
  /// The string without its quotes; nil if the field is not a string.
  let string: [UInt8]?

  init(_ document: [UInt8], _ range: Range<Int>) {
    json = Array(document[range])
    string =
      if case .string(let text) = JSONLookup.value(document.span, range) { text } else { nil }
  }

  var text: [UInt8] { string ?? json }

  var cell: Cell {
    .value(
      text: String(decoding: text, as: UTF8.self),
      json: .verbatim(String(decoding: json, as: UTF8.self)),
      isNumber: json.first.map { $0.isDigit || $0 == UInt8(ascii: "-") } ?? false)
  }
}

extension AnswerWriter {
  /// Writes the fields of one value, one on each line; a list in JSON is one array.
  func writeFields(_ fields: [FieldText], isList: Bool) throws {
    let mode = presentation.mode
    if mode == .json, isList {
      return try write(
        [UInt8(ascii: "[")] + fields.map(\.json).joined(separator: [UInt8(ascii: ",")])
          + Array("]\n".utf8))
    }
    for field in fields {
      let bytes = mode == .json || mode == .jsonl ? field.json : field.text
      let isSafe = !presentation.isTerminal
      try write((isSafe ? bytes : Array(Quoting.printable(bytes).utf8)) + [.newline])
    }
  }
}
