import Foundation

/// Decompresses gzip with the system's `gzip -dc`, as a stream.
///
/// At the end, gzip's exit code is checked, so a truncated file is an error and never a short dump.
final class GunzipSource: ByteSource {
  private let name: String
  private let process = Process()
  private let output = Pipe()
  private let complaints = Pipe()
  private var ended = false

  init(_ file: FileHandle, name: String) throws(DumpError) {
    self.name = name
    // By way of `env`, which finds gzip wherever the system keeps it.
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["gzip", "-dc"]
    process.standardInput = file
    process.standardOutput = output
    process.standardError = complaints
    do {
      try process.run()
    } catch {
      ended = true
      throw DumpError(
        .damaged, file: name, message: "cannot start gzip: \(error.localizedDescription)")
    }
  }

  func next() throws(DumpError) -> [UInt8]? {
    guard !ended else { return nil }
    do {
      let data = try output.fileHandleForReading.read(upToCount: FileSource.chunk)
      if let data, !data.isEmpty { return Array(data) }
      ended = true
      let complaint = try complaints.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      guard process.terminationReason == .exit, process.terminationStatus == 0 else {
        throw failure(String(decoding: complaint, as: UTF8.self))
      }
      return nil
    } catch let error as DumpError {
      throw error
    } catch {
      throw DumpError(.unreadable, file: name, message: error.localizedDescription)
    }
  }

  private func failure(_ complaint: String) -> DumpError {
    let reason = complaint.split(whereSeparator: \.isNewline).joined(separator: " ")
    let status = process.terminationStatus
    return DumpError(
      .damaged, file: name,
      message:
        "gzip cannot unpack it (status \(status)): \(reason.isEmpty ? "no reason given" : reason)")
  }

  deinit {
    // After an early stop gzip waits to write; it must not outlive this object. Closing the pipe's read end
    // ends it. A signal would not: a thread of a pool has most of them blocked.
    if !ended {
      output.fileHandleForReading.closeFile()
      process.waitUntilExit()
    }
  }
}
