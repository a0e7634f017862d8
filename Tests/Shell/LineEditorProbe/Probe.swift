import LarderTerminal

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A shell without a store, for the tests of the line editor. The probe prints each line that it has read.
@main struct Probe {
  static func main() throws {
    Interrupts.install()
    do { try run() } catch TerminalError.closed { exit(3) }
  }

  static func run() throws {
    let environment = ProcessInfo.processInfo.environment
    guard Terminal.canEditLines(environment: environment) else {
      var lines = PlainLines()
      let isPrompting = Terminal.isTerminal(.input)
      return try converse { prompt in try lines.readLine(isPrompting ? prompt : nil) }
    }
    let editor = try LineEditor(
      showsColors: Terminal.showsColors(environment: environment), complete: complete, hint: hint)
    if let file = LineEditor.HistoryFile.standard(environment: environment) {
      try editor.history.keep(in: file)
    }
    let remember: ([UInt8]) throws -> Void = { try editor.history.remember($0) }
    try converse(remember: remember) { prompt in try editor.readLine(prompt, highlight: highlight) }
  }

  /// Joins lines while a quote is open, as the shell does.
  static func converse(
    remember: ([UInt8]) throws -> Void = { _ in }, readLine: (Prompt) throws -> LineResult
  ) throws {
    var pending: [UInt8] = []
    while true {
      switch try readLine(Prompt(pending.isEmpty ? "probe" : "  ...")) {
      case .interrupted:
        pending = []
        if !Terminal.isTerminal(.input) { try say("interrupted") }
      case .end: return try say("bye")
      case .line(let bytes):
        pending += bytes
        if pending.count(where: { $0 == UInt8(ascii: "'") }).isMultiple(of: 2) {
          try remember(pending)
          try obey(pending)
          pending = []
        } else {
          pending.append(UInt8(ascii: "\n"))
        }
      }
    }
  }

  static func obey(_ line: [UInt8]) throws {
    let newline = UInt8(ascii: "\n")
    let shown = line.map { $0 == newline ? UInt8(ascii: "|") : $0 }
    try Terminal.write(([UInt8(ascii: "=")] + shown + [newline]).span)
  }

  static func say(_ text: String) throws { try Terminal.write(text + "\n") }
}

let words = ["keep ", "keys ", "get ", "\"Malm\u{F6}:07\" ", "\"Malm\u{F6}:08\" "]

func complete(_ line: [UInt8], _ cursor: Int) -> Completion {
  let start = line[..<cursor].lastIndex(of: UInt8(ascii: " ")).map { $0 + 1 } ?? 0
  let typed = String(decoding: line[start..<cursor], as: UTF8.self)
  let fitting = words.filter { $0.hasPrefix(typed) || $0.hasPrefix("\"" + typed) }
  return Completion(from: start, fitting, isCut: true)
}

func hint(_ line: [UInt8]) -> String? { line == Array("get ".utf8) ? "KEY..." : nil }

/// The highlighter of the probe: digits are magenta.
func highlight(_ line: [UInt8]) -> [(range: Range<Int>, rendition: String)] {
  line.indices.filter { (0x30...0x39).contains(line[$0]) }.map { ($0..<$0 + 1, "35") }
}
