import Foundation

extension Bench {
  /// What reaches the disk when entries are overwritten, at one batch size.
  ///
  /// Twice, because neither number is the whole truth: what the process hands to `write`, which leaves out that a log's
  /// few bytes cost a page of the disk, and what the kernel accounts to it, which counts a large page of its cache whole
  /// when a part of it was touched.
  func amplification(batch: Int) throws {
    let order = Orders.random(data, distinct: data.count)
    let commits = batch == 1 ? 50 : 10
    try measure(
      [
        ("bytes written for a byte overwritten, batches of \(grouped(batch))", .factor),
        ("bytes written a commit, batches of \(grouped(batch))", .bytes),
        ("bytes accounted a commit, batches of \(grouped(batch))", .bytes),
      ], rounds: 1
    ) { contender, _ in
      if batch > 1, !contender.kind.hasBatches {
        throw Unsupported("has no transactions: a batch is as many single writes")
      }
      contender.settle()
      guard let before = contender.written else { throw Unsupported("Linux alone tells") }
      for commit in 0..<commits {
        let piece = Orders.piece(of: order, round: commit, count: batch)
        _ = try contender.time { try $0.write(piece, lifetime: .day) }
      }
      contender.settle()
      guard let after = contender.written else { throw Unsupported("Linux alone tells") }
      let handed = Double(after.handed - before.handed) / Double(commits)
      return [
        handed / Double(batch * data.entrySize), handed,
        Double(after.accounted - before.accounted) / Double(commits),
      ]
    }
  }
}

extension Contender {
  /// What the process behind the peer has written.
  var written: (handed: Int, accounted: Int)? {
    ProcessFigures.written(by: peer.server ?? getpid())
  }

  /// Waits until nothing is written any more: stores that sort in the background are not to disturb the next.
  func settle() {
    guard kind.worksInBackground, var last = written else { return }
    for _ in 0..<200 {
      usleep(50_000)
      guard let now = written, now != last else { return }
      last = now
    }
  }
}
