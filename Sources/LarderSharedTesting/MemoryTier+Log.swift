public import Larder
public import LarderShared
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The log of changes, and the machines that wait for its next record.
extension MemoryTier {
  public func newestRecord() async throws(LarderError) -> LogRecord {
    try await perform(counts: false) { image, now in image.log.last ?? image.advance(now, .nothing)
    }
  }

  public func look(
    at position: Position
  ) async throws(LarderError) -> (head: Position?, record: LogRecord?) {
    try await perform(counts: false) { image, _ in
      (image.head, image.log.last { $0.position == position })
    }
  }

  /// Waits in real time too, so that a clock that stands still does not keep it.
  public func records(
    after position: Position, waiting: Duration
  ) async throws(LarderError) -> [LogRecord] {
    if waiting > .zero { await waitForRecord(after: position, for: waiting) }
    return try await perform(counts: false) { image, _ in
      Array(image.log.drop { $0.position <= position }.prefix(500))
    }
  }

  private func waitForRecord(after position: Position, for time: Duration) async {
    let name = UUID()
    let timer = Task { [self] in
      do { try await Task.sleep(for: time) } catch {
        // The wait ends as well if it is cancelled.
      }
      wake(name)
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if timer.isCancelled || (state.image.head ?? .zero) > position { return true }
          state.waiting[name] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      timer.cancel()
    }
    timer.cancel()
  }

  private func wake(_ name: UUID) {
    state.withLock { $0.waiting.removeValue(forKey: name) }?.resume()
  }

  func wakeReaders() {
    let waiting = state.withLock { state in
      defer { state.waiting = [:] }
      return state.waiting
    }
    for continuation in waiting.values { continuation.resume() }
  }
}
