import Larder

#if Redis
  /// An error by which a server names another one, or says that another one takes writes.
  enum Redirection: Equatable {
    /// The slot of the keys is on that server from now on.
    case moved(ServerAddress)
    /// The slot is on its way to that server, which has the keys of this command already.
    case ask(ServerAddress)
    /// This server only follows another one, or waits for the others of its cluster.
    case replica

    /// Nil for other errors, and for one whose address cannot be read.
    init?(_ message: String, from server: ServerAddress) {
      let words = message.split(separator: " ")
      switch words.first {
      case "READONLY", "MASTERDOWN", "CLUSTERDOWN": self = .replica
      case "MOVED", "ASK":
        guard words.count == 3, let colon = words[2].lastIndex(of: ":"),
          let port = Int(words[2][words[2].index(after: colon)...]), (1...65_535).contains(port)
        else { return nil }
        // A server without a name of its own means the one by which it was reached.
        let host = words[2][..<colon]
        let address = ServerAddress(host.isEmpty ? server.host : String(host), port)
        self = words[0] == "ASK" ? .ask(address) : .moved(address)
      default: return nil
      }
    }
  }
#endif
