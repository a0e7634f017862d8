import Foundation

/// A trace of `PowerRecorder`: the recorded calls in the order in which they ended.
struct PowerTrace {
  enum Event {
    case write(inode: UInt64, offset: Int, bytes: ArraySlice<UInt8>, Arrival)
    case beginSync(UInt64)
    /// The sync with this number succeeded. So all changes of the file or directory `name` that were recorded before `beginSync`
    /// are on the disk. The directory is the store or its parent.
    case endSync(UInt64, inode: UInt64, name: String)
    /// The sync failed. The writes to the file that the sync covers may be lost. No later sync writes the lost data.
    case failSync(UInt64, inode: UInt64, name: String)
    case resize(inode: UInt64, length: Int)
    case create(name: String, inode: UInt64)
    case rename(from: String, to: String)
    case unlink(name: String)
    case makeDirectory
    case say([String])
  }

  /// When a write reaches the disk. `now` means before the call returns, because the descriptor is for synchronous writes.
  enum Arrival: UInt64 {
    case later, now
    /// The write failed, and may never reach the disk.
    case failed
  }

  let events: [Event]

  var failure: Int? {
    events.firstIndex { event in
      switch event {
      case .failSync, .write(_, _, _, .failed): true
      default: false
      }
    }
  }

  init(_ path: String) throws {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    var events: [Event] = []
    // A file system may give the inode of a removed file to a new file. So each created file gets a separate number here.
    var (names, numbers): ([String: UInt64], [UInt64: UInt64]) = ([:], [:])
    var position = 0
    while position < bytes.count {
      func word(_ offset: Int) -> UInt64 {
        bytes[position + offset..<position + offset + 8].reversed().reduce(0) {
          $0 << 8 | UInt64($1)
        }
      }
      let (kind, nameLength) = (word(0) & 0xFFFF_FFFF, Int(word(0) >> 32))
      let (own, offset, length, extra) = (word(8), Int(word(16)), Int(word(24)), word(32))
      let start = position + 40
      let name = String(decoding: bytes[start..<start + nameLength], as: UTF8.self)
      let data = bytes[start + nameLength..<start + nameLength + length]
      // Two processes may both report the creation of one file. The second report does not make a new file.
      if kind == 5, names.updateValue(own, forKey: name) != own { numbers[own] = ~UInt64(position) }
      let inode = numbers[own] ?? own
      switch kind {
      case 1:
        guard let arrival = Arrival(rawValue: extra) else { throw CocoaError(.fileReadCorruptFile) }
        events.append(.write(inode: inode, offset: offset, bytes: data, arrival))
      case 2: events.append(.beginSync(extra))
      case 3: events.append(.endSync(extra, inode: inode, name: name))
      case 4: events.append(.resize(inode: inode, length: offset))
      case 5: events.append(.create(name: name, inode: inode))
      case 6:
        let both = name.split(separator: "/").map(String.init)
        names[both[1]] = names.removeValue(forKey: both[0])
        events.append(.rename(from: both[0], to: both[1]))
      case 7:
        names[name] = nil
        events.append(.unlink(name: name))
      case 8:
        let text = String(decoding: data, as: UTF8.self)
        events.append(.say(text.split(separator: "\n").map(String.init)))
      case 9: events.append(.makeDirectory)
      case 10: events.append(.failSync(extra, inode: inode, name: name))
      default: throw CocoaError(.fileReadCorruptFile)
      }
      position = start + nameLength + length
    }
    self.events = events
  }
}
