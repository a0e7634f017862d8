import Foundation

/// A file that is read in blocks. If the file is compressed, the program `gzip` of the system decompresses it.
struct TraceFile {
  private let file: URL
  private static let chunk = 1 << 18

  init(_ file: URL) { self.file = file }

  func read(_ body: ([UInt8]) throws -> Void) throws {
    let handle = try FileHandle(forReadingFrom: file)
    defer { handle.closeFile() }
    let isCompressed =
      try handle.read(upToCount: 2).map { $0.elementsEqual([0x1f, 0x8b]) } ?? false
    try handle.seek(toOffset: 0)
    if isCompressed {
      try readCompressed(body)
    } else {
      try readAll(of: handle, body)
    }
  }

  private func readCompressed(_ body: ([UInt8]) throws -> Void) throws {
    let gzip = Process()
    gzip.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    gzip.arguments = ["gzip", "-dc", file.path]
    let pipe = Pipe()
    gzip.standardOutput = pipe
    try gzip.run()
    do {
      try readAll(of: pipe.fileHandleForReading, body)
    } catch {
      gzip.terminate()
      gzip.waitUntilExit()
      throw error
    }
    gzip.waitUntilExit()
    guard gzip.terminationStatus == 0 else {
      throw TraceError(text: "\(file.path): gzip failed with \(gzip.terminationStatus)")
    }
  }

  private func readAll(of handle: FileHandle, _ body: ([UInt8]) throws -> Void) throws {
    while let data = try handle.read(upToCount: Self.chunk), !data.isEmpty {
      try body([UInt8](data))
    }
  }
}
