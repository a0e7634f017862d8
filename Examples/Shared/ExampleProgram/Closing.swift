/// The last words of a program: how to look at what it stored.
public struct Closing {
  /// As the user called it.
  public var store: String
  /// Lines of the command language of `larder`, `keys @lego.parts --limit 5`.
  public var commands: [String]

  public init(store: String, commands: [String]) {
    self.store = store
    self.commands = commands
  }

  public var text: String {
    (["Look at it:"]
      + commands.map { "  larder \(store.shellWord) -e \($0.shellWord)" })
      .joined(separator: "\n")
  }
}
