import Foundation

/// What `PowerRecorder` wrote down: calls in the order in which they were finished.
struct PowerTrace {
  enum Event {
    /// `isSynced`: the descriptor was open for synchronous writing.
    case write(inode: UInt64, offset: Int, bytes: ArraySlice<UInt8>, isSynced: Bool)
    case beginSync(UInt64)
    /// What was recorded before the sync with that number began is on the disk: of a file, of the store's directory, or
    /// of the directory that holds it.
    case endSync(UInt64, inode: UInt64, name: String)
    case resize(inode: UInt64, length: Int)
    case create(name: String, inode: UInt64)
    case rename(from: String, to: String)
    case unlink(name: String)
    case makeDirectory
    case say([String])
  }

  let events: [Event]

  init(_ path: String) throws {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    var events: [Event] = []
    var position = 0
    while position < bytes.count {
      func word(_ offset: Int) -> UInt64 {
        bytes[position + offset..<position + offset + 8].reversed().reduce(0) {
          $0 << 8 | UInt64($1)
        }
      }
      let (kind, nameLength) = (word(0) & 0xFFFF_FFFF, Int(word(0) >> 32))
      let (inode, offset, length, extra) = (word(8), Int(word(16)), Int(word(24)), word(32))
      let start = position + 40
      let name = String(decoding: bytes[start..<start + nameLength], as: UTF8.self)
      let data = bytes[start + nameLength..<start + nameLength + length]
      switch kind {
      case 1:
        events.append(.write(inode: inode, offset: offset, bytes: data, isSynced: extra == 1))
      case 2: events.append(.beginSync(extra))
      case 3: events.append(.endSync(extra, inode: inode, name: name))
      case 4: events.append(.resize(inode: inode, length: offset))
      case 5: events.append(.create(name: name, inode: inode))
      case 6:
        let names = name.split(separator: "/")
        events.append(.rename(from: String(names[0]), to: String(names[1])))
      case 7: events.append(.unlink(name: name))
      case 8:
        let text = String(decoding: data, as: UTF8.self)
        events.append(.say(text.split(separator: "\n").map(String.init)))
      case 9: events.append(.makeDirectory)
      default: throw CocoaError(.fileReadCorruptFile)
      }
      position = start + nameLength + length
    }
    self.events = events
  }
}
