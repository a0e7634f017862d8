import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Receives the signals that ask the process to end. After `init`, such a signal no longer ends the process by itself.
struct Interruptions {
  /// One element for each signal.
  let signals: AsyncStream<Void>
  private let sources: [any DispatchSourceSignal]

  init(by numbers: [Int32] = [SIGINT, SIGTERM]) {
    let (signals, continuation) = AsyncStream<Void>.makeStream()
    self.signals = signals
    sources = numbers.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { continuation.yield() }
      source.resume()
      return source
    }
  }

  /// Stops receiving signals.
  func cancel() { for source in sources { source.cancel() } }
}
