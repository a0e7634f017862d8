import Foundation
import Synchronization

/// Calls `handle` with each line of a file as it arrives, on a thread of its own, and then calls `end`.
func readLines(
  _ file: FileHandle, _ handle: @escaping @Sendable (String) -> Void,
  end: @escaping @Sendable () -> Void = {}
) {
  Thread.detachNewThread {
    var rest = Data()
    while true {
      let data = file.availableData
      if data.isEmpty { break }
      rest += data
      while let index = rest.firstIndex(of: 10) {
        handle(String(decoding: rest[rest.startIndex..<index], as: UTF8.self))
        rest = Data(rest[rest.index(after: index)...])
      }
    }
    end()
  }
}

/// Writes whole lines to a file from many tasks.
final class LineWriter: Sendable {
  private let file: Mutex<FileHandle>

  init(_ file: FileHandle) { self.file = Mutex(file) }

  func write(_ text: String) {
    // An error means that the reader has ended. Other code that waits for the reader notices the end, so no error is needed.
    file.withLock { try? $0.write(contentsOf: Data((text + "\n").utf8)) }
  }
}
