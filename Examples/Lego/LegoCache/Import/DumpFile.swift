import Foundation
import Service

/// Reads the files of a dump: the largest have a few megabytes.
enum DumpFile {
  static func name(of path: String) -> String { URL(filePath: path).lastPathComponent }

  /// The first two bytes of gzip.
  private static let magic: [UInt8] = [0x1f, 0x8b]

  /// A file's bytes, decompressed if they are gzip, which is known by its first two bytes: browsers unpack a file and keep its
  /// name. A `.gz` that is cut within the two is damaged.
  ///
  /// - Parameter skipped: learns if something follows the compressed data: a damaged further member may have rows.
  static func bytes(of path: String, _ skipped: inout SkippedRows) throws(DumpError) -> [UInt8] {
    let data: Data
    do {
      data = try Data(contentsOf: URL(filePath: path))
    } catch {
      throw DumpError(.unreadable, file: name(of: path), message: error.fileWords)
    }
    let isPacked =
      data.starts(with: magic) || path.hasSuffix(".gz") && magic.starts(with: data)
    return Array(isPacked ? try unpacked(path, &skipped) : data)
  }

  /// Decompresses a file with the system's `gzip -dc`, whose exit code tells a truncated file from a short one, and both from
  /// a complete one before garbage (2).
  private static func unpacked(
    _ path: String, _ skipped: inout SkippedRows
  ) throws(DumpError) -> Data {
    let (process, output, complaints) = (Process(), Pipe(), Pipe())
    let (data, complaint): (Data, Data)
    do {
      // By way of `env`, which finds gzip wherever the system keeps it.
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = ["gzip", "-dc"]
      process.standardInput = try FileHandle(forReadingFrom: URL(filePath: path))
      process.standardOutput = output
      process.standardError = complaints
      try process.run()
      // What gzip complains of fits into a pipe, so the two can be read one after the other.
      data = try output.fileHandleForReading.readToEnd() ?? Data()
      complaint = try complaints.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
    } catch {
      throw DumpError(
        .damaged, file: name(of: path), message: "gzip cannot be run: \(error.fileWords)")
    }
    let status = process.terminationStatus
    let reason = String(decoding: complaint, as: UTF8.self).split(whereSeparator: \.isNewline)
      .joined(separator: " ")
    if process.terminationReason == .exit, [0, 2].contains(status) {
      if status == 2 { skipped.add("\(name(of: path)): \(reason)", isUnreadable: true) }
      return data
    }
    throw DumpError(
      .damaged, file: name(of: path),
      message: "gzip cannot unpack it (status \(status)): \(reason)")
  }
}

/// Why a dump could not be read, and where.
public struct DumpError: Error, Sendable, Equatable, CustomStringConvertible {
  public enum Kind: Sendable, Equatable {
    /// Absent, or the system refuses to read it.
    case unreadable
    /// Compressed data that is cut short or damaged, or no unpacker on this machine.
    case damaged
    /// Not CSV or JSON.
    case malformed
    /// CSV, but without a column that is needed.
    case missingColumn
    /// A field of the wrong form for its column.
    case badValue
    /// A row that names a row of another file which is not there, or repeats the names of the columns.
    case skipped
  }

  public var kind: Kind
  public var file: String
  /// From 1; `nil` when the whole file is meant.
  public var line: Int?
  /// In bytes, from 1; `nil` when the whole line is meant.
  public var column: Int?
  public var message: String

  init(_ kind: Kind, file: String, line: Int? = nil, column: Int? = nil, message: String) {
    (self.kind, self.file, self.line, self.column) = (kind, file, line, column)
    self.message = message
  }

  /// `parts.csv:12:7: the reason`
  public var description: String {
    let place = [line, column].compactMap { $0 }.map { ":\($0)" }.joined()
    return "\(file)\(place): \(message)"
  }
}
