import Larder
package import ShellLanguage

extension Session {
  /// The text of the prompt: the namespace in use.
  package var promptName: String {
    "\(SafeText(current ?? "larder"))\(isReadOnly ? " (read-only)" : "")"
  }

  /// One line about the store, for the greeting.
  package func summary() throws -> String {
    do throws(LarderError) {
      let namespaces = try store.namespaces()
      let entries = namespaces.reduce(0) { $0 + $1.entries }
      let bytes = namespaces.reduce(0) { $0 + $1.bytes }
      let limits = try store.limits().effective
      let limit = limits.bytes.map { " of \(Wording.size($0))" } ?? ""
      // A new store tells the limit that was chosen for it.
      let disk =
        namespaces.isEmpty
        ? limits.disk.map { ", a file of at most \(Wording.size($0))" } ?? "" : ""
      return "\(SafeText(store.path))   "
        + "\(Wording.count(namespaces.count, "namespace", "namespaces")), "
        + "\(Wording.entries(entries)), \(Wording.size(bytes))\(limit)\(disk)"
    } catch {
      throw ShellError(error)
    }
  }

  /// Takes a namespace into use as `use` does, though it need not be there yet.
  package func use(_ name: String) throws(ShellError) { current = try NamespaceName(name).text }
}
