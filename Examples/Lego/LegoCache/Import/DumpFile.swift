// FoundationEssentials has neither FileHandle nor Process.
import Foundation

/// Reads the files of a dump: the largest have a few megabytes.
enum DumpFile {
  /// A file's bytes, decompressed if they are gzip, which is known by its first two bytes, or by a name that ends in `.gz`.
  static func bytes(of path: String) throws(DumpError) -> [UInt8] {
    let url = URL(filePath: path)
    let data: Data
    do {
      data = try Data(contentsOf: url)
    } catch {
      throw DumpError(
        .unreadable, file: url.lastPathComponent, message: error.localizedDescription)
    }
    let isPacked = data.starts(with: [0x1f, 0x8b]) || path.hasSuffix(".gz")
    return Array(isPacked ? try unpacked(url) : data)
  }

  /// Decompresses a file with the system's `gzip -dc`, whose exit code tells a truncated file from a short one.
  private static func unpacked(_ url: URL) throws(DumpError) -> Data {
    let (process, output, complaints) = (Process(), Pipe(), Pipe())
    let complaint: Data
    let data: Data
    do {
      // By way of `env`, which finds gzip wherever the system keeps it.
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = ["gzip", "-dc"]
      process.standardInput = try FileHandle(forReadingFrom: url)
      process.standardOutput = output
      process.standardError = complaints
      try process.run()
      // What gzip complains of fits into a pipe, so the two can be read one after the other.
      data = try output.fileHandleForReading.readToEnd() ?? Data()
      complaint = try complaints.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
    } catch {
      throw DumpError(
        .damaged, file: url.lastPathComponent,
        message: "gzip cannot be run: \(error.localizedDescription)")
    }
    let status = process.terminationStatus
    if process.terminationReason == .exit, status == 0 { return data }
    let reason = String(decoding: complaint, as: UTF8.self).split(whereSeparator: \.isNewline)
      .joined(separator: " ")
    throw DumpError(
      .damaged, file: url.lastPathComponent,
      message: "gzip cannot unpack it (status \(status)): \(reason)")
  }
}
