import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

extension SeededRNG {
  /// Bytes that are hard to print: controls, quotes, invalid UTF-8, bidirectional and zero-width characters.
  mutating func awkwardBytes(upTo count: Int) -> [UInt8] {
    let scalars: [Unicode.Scalar] = [
      "a", "Z", "9", " ", "\t", "\n", "\r", "\0", "\u{1B}", "\u{7F}", "\u{9B}", "\"", "'", "\\",
      "#", "-", "@", "*", "?", "[", "]", "{", "}", ";", "|", ">", "<", "&", "=", ",", ":", "\u{F6}",
      "\u{301}", "\u{AD}", "\u{200B}", "\u{200D}", "\u{202E}", "\u{2066}", "\u{2028}", "\u{FEFF}",
      "\u{FE0F}", "\u{1F682}", "\u{65E5}", "\u{E0041}", "\u{3164}",
    ]
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 0...count, using: &self) {
      switch Int.random(in: 0..<4, using: &self) {
      case 0: bytes.append(UInt8.random(in: 0...255, using: &self))
      case 1: bytes += Array("hex:b64:--n".utf8.prefix(Int.random(in: 1...11, using: &self)))
      default: bytes += Array(String(scalars.randomElement(using: &self)!).utf8)
      }
    }
    return bytes
  }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// The first command in a text.
func command(_ text: String) throws -> CommandLine {
  try #require(try CommandReader.commands(in: bytes(text), from: .prompt).first)
}

func export(_ lines: [String]) -> [UInt8] {
  bytes((["{\"larder_export\":1}"] + lines).joined(separator: "\n") + "\n")
}

/// The only argument of a command, which must be a word.
func word(_ text: String) throws -> Word {
  let arguments = try command("x " + text).arguments
  try #require(arguments.count == 2)
  return try #require(arguments[1].word, "\(text) is not a word")
}

extension Argument {
  var word: Word? { if case .word(let word) = self { word } else { nil } }
  var option: OptionWord? { if case .option(let option) = self { option } else { nil } }
  var namespace: String? { if case .namespace(let name) = self { name.text } else { nil } }
}

/// Compares a text with a file. With `RECORD` set, writes the text to the file instead.
func expect(
  _ text: String, recordedIn file: URL, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  if ProcessInfo.processInfo.environment["RECORD"] != nil {
    try text.write(to: file, atomically: true, encoding: .utf8)
  } else {
    #expect(try String(contentsOf: file, encoding: .utf8) == text, sourceLocation: sourceLocation)
  }
}

func error(_ body: () throws -> Void) throws -> ShellError {
  try #require(throws: ShellError.self, performing: body)
}

/// Fri 20 Nov 2026 22:13 in Stockholm.
let stockholm = clock("2026-11-20T21:13:00Z", in: "Europe/Stockholm")

/// A clock that stands still at a moment.
func clock(_ moment: String, in zone: String) -> WallClock {
  let utc = WallClock(now: UnixTime(milliseconds: 0), zone: .utc)
  guard let now = try? word(moment).timeAhead(utc), let zone = Zone(named: zone) else {
    preconditionFailure("\(moment) in \(zone)")
  }
  return WallClock(now: now, zone: zone)
}

extension Zone {
  /// The zone with this name in the time zone database. Nil if the database has no such zone.
  init?(named name: String) {
    guard let zone = TimeZone(identifier: name) else { return nil }
    self.init { zone.secondsFromGMT(for: Timestamp($0).date) }
  }
}

func invocation(_ text: String, _ clock: WallClock = stockholm) throws -> Invocation {
  try CommandTable.standard.invocation(of: try command(text), clock: clock)
}

extension String {
  /// Whether the text has no control that a terminal could obey, and no hidden character.
  var isSafe: Bool { unicodeScalars.allSatisfy { !$0.isControl && !$0.isHidden } }
}
