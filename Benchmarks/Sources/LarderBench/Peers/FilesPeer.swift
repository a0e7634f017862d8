import BenchData
import Foundation

extension PeerKind {
  static let files = PeerKind(
    id: "files", name: "a file per entry",
    usage: "named by a hash in 256 directories, written beside and renamed; its time is the expiry",
    promise: [
      .durable: "file and directory are synced",
      .unsynced: "losing power can leave entries that are empty",
    ],
    hasBatches: false, largestCount: 100_000,
    open: { site in try FilesPeer(site) })
}

/// A file for each entry, as in image caches.
final class FilesPeer: Peer {
  let directory: String
  let isDurable: Bool
  private let data: Dataset

  init(_ site: Site) throws {
    directory = site.directory
    isDurable = site.level == .durable
    data = site.data
    if !site.isAttached { try makeDirectories() }
  }

  private func makeDirectories() throws {
    for byte in 0..<256 {
      try FileManager.default.createDirectory(
        atPath: directory + "/" + hex(UInt64(byte), digits: 2), withIntermediateDirectories: true)
    }
  }

  func session() -> any Session { FilesSession(peer: self, data: data) }

  func scan() throws -> Tally {
    var tally = Tally()
    var buffer = [UInt8](repeating: 0, count: data.valueSize)
    try forEachFile { path in try tally.read(path, into: &buffer) }
    return tally
  }

  func purge() throws -> Int {
    let now = Int(bench_now())
    var removed = 0
    try forEachFile { path in
      var status = stat()
      guard stat(path, &status) == 0 else { throw Failure("no \(path)") }
      if status.expiry <= now {
        try check(unlink(path), path)
        removed += 1
      }
    }
    return removed
  }

  func clear() throws { try forEachFile { path in try check(unlink(path), path) } }

  func close() {}

  /// The file of a key. Two 64-bit FNV-1a hashes of the key are its name.
  func path(of key: String) -> String {
    var (left, right): (UInt64, UInt64) = (0xCBF2_9CE4_8422_2325, 0x9E37_79B9_7F4A_7C15)
    for byte in key.utf8 {
      left = (left ^ UInt64(byte)) &* 0x100_0000_01B3
      right = (right ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    return directory + "/" + hex(left >> 56, digits: 2) + "/" + hex(left, digits: 16)
      + hex(right, digits: 16)
  }

  private func forEachFile(_ body: (String) throws -> Void) throws {
    for byte in 0..<256 {
      let folder = directory + "/" + hex(UInt64(byte), digits: 2)
      guard let stream = opendir(folder) else { throw Failure("no \(folder)") }
      defer { closedir(stream) }
      while let entry = readdir(stream) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
          name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if !name.hasPrefix(".") { try body(folder + "/" + name) }
      }
    }
  }
}

private struct FilesSession: Session {
  let peer: FilesPeer
  let data: Dataset

  func read(_ order: Order) throws -> Tally {
    var tally = Tally()
    var buffer = [UInt8](repeating: 0, count: data.valueSize)
    for index in order { try tally.read(peer.path(of: data.keys[Int(index)]), into: &buffer) }
    return tally
  }

  func write(_ order: Order, lifetime: Lifetime) throws {
    let deadline = Int(lifetime.deadline)
    for index in order {
      try write(data.value(index), to: peer.path(of: data.keys[Int(index)]), deadline: deadline)
    }
  }

  private func write(_ value: [UInt8], to path: String, deadline: Int) throws {
    let temporary = path + "." + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    let file = Foundation.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    try check(file, temporary)
    defer { Foundation.close(file) }
    guard Foundation.write(file, value, value.count) == value.count else {
      throw Failure("cannot write \(temporary)")
    }
    let time = timespec(tv_sec: deadline / 1000, tv_nsec: deadline % 1000 * 1_000_000)
    try check(futimens(file, [time, time]), temporary)
    if peer.isDurable { try check(fsync(file), temporary) }
    try check(rename(temporary, path), path)
    if peer.isDurable { try syncDirectory(of: path) }
  }

  private func syncDirectory(of path: String) throws {
    let folder = String(path[..<path.lastIndex(of: "/")!])
    let descriptor = Foundation.open(folder, O_RDONLY | O_CLOEXEC)
    try check(descriptor, folder)
    defer { Foundation.close(descriptor) }
    try check(fsync(descriptor), folder)
  }
}

extension Tally {
  fileprivate mutating func read(_ path: String, into buffer: inout [UInt8]) throws {
    let file = Foundation.open(path, O_RDONLY | O_CLOEXEC)
    if file < 0, errno == ENOENT { return }
    try check(file, path)
    defer { Foundation.close(file) }
    var status = stat()
    try check(fstat(file, &status), path)
    guard status.expiry > Int(bench_now()) else { return }
    let count = Foundation.read(file, &buffer, buffer.count)
    guard count == status.st_size else { throw Failure("cannot read \(path)") }
    found += 1
    sum &+= buffer.withUnsafeBytes { Touch.sum($0) }
  }
}

extension stat {
  /// The time of expiry in milliseconds after 1970.
  fileprivate var expiry: Int {
    #if canImport(Darwin)
      st_mtimespec.tv_sec * 1000 + st_mtimespec.tv_nsec / 1_000_000
    #else
      st_mtim.tv_sec * 1000 + st_mtim.tv_nsec / 1_000_000
    #endif
  }
}

private func hex(_ number: UInt64, digits: Int) -> String {
  let text = String(number, radix: 16)
  return String(repeating: "0", count: digits - text.utf8.count) + text
}

private func check(_ result: Int32, _ path: String) throws {
  if result < 0 { throw Failure("\(path): \(String(cString: strerror(errno)))") }
}
